"""The kernel's interpreter, and our worker in it."""
