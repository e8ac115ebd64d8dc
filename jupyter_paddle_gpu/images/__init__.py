"""From framework version, driver and architecture to a container image, with the reasons."""
