"""What a job leaves in its folder: log, events, and the executed notebook."""
