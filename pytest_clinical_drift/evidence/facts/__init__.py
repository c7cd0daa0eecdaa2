"""What a fact requires, and what a document says about it, kind by kind."""
