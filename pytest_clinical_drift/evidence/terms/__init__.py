"""The vocabulary files, and the terms of one document."""
