"""What arrays and batches may look like, each by one kind of evidence."""
