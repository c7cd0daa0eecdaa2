"""Turns results into something people and machines read; computes nothing."""
