"""Where Paddle, Python and the world outside are replaced while a trace runs."""
