"""The policy files: read, checked as a whole, later ones tightening earlier ones."""
