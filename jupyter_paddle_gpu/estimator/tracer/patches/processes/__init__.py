"""Processes and threads that a program starts."""
