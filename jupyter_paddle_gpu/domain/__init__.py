"""Values and rules: what the other rooms talk about. Nothing here reads a file, a clock, a device or a network."""
