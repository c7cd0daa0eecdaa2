"""A fact taken apart, and what a text says of it."""
