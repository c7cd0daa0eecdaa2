"""Carries a case through a conversation with the subject."""
