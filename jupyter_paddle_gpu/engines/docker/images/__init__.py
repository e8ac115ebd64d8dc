"""The image a job starts from: chosen, fetched, and built upon."""
