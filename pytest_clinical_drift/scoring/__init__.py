"""A transcript and its evidence become an assessment."""
