"""Types and small things that every layer uses."""
