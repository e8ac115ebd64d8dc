"""Errors that no data mends: those of the program's own constants and names."""
