"""What Paddle's own program builder says of an operator call, read into templates."""
