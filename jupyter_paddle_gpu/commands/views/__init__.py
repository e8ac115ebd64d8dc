"""Answers for people who type, each drawn as text and as HTML."""
