"""A job taken elsewhere: its curves as a table, all that it left as an archive, all of it on one page."""
