"""Questions that rules leave open, who answers them, and how good the answers are."""
