"""What lies in a job's folder, read from any line on and checked before any of it is believed."""
