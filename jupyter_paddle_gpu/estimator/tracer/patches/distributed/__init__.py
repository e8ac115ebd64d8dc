"""Training on several devices: processes, their group, sharding."""
