"""The one-minute calibration on a person's own device."""
