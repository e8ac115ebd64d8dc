"""Framework version, driver and architecture to a container image. Pure: what daemons know is handed in."""
