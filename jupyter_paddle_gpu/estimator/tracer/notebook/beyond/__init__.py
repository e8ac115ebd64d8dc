"""What a program does beside its steady step."""
