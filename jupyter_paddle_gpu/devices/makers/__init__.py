"""A module for each device maker, and the table of them all (`registry`)."""
