"""What a text says about a patient, with the words that say it."""
