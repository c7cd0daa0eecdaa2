"""Amounts, how often, and dates in a text."""
