"""The golden record: what a tree does on fixed material, kept to be compared with what a changed tree does."""
