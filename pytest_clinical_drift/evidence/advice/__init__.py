"""What a reply tells the patient to do: orders, how they oppose each other, and what must not be ordered."""
