"""Container images: what a daemon knows of them, and how they are named."""
