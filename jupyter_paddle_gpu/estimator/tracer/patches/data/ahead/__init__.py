"""What batches that come later look like, where their shapes differ and the data is not here."""
