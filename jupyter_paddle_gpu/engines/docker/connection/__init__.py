"""Talking to a daemon: the connection, credentials, long calls, and what its failures mean."""
