"""Static graphs: programs that Paddle itself has built, run operator by operator without data, as its executor does."""
