"""Entities of a text for the extended set, and statements that nobody told."""
