"""What is to be run later or several times: sweeps and schedules. Values and rules."""
