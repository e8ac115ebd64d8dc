"""A notebook as a file: read, compared, written; a script as one."""
