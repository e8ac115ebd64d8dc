"""Makers' command-line tools: what each is asked, and what its answer means. One module a tool."""
