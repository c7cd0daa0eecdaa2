"""The model under test, behind one small interface."""
