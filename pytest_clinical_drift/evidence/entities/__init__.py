"""Entities of a summary: the extended set, and what stands in no source."""
