"""What stays open, asked in words, with answers put in and suggestions tried."""
