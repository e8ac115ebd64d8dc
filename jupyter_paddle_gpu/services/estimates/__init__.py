"""Estimates for faces: made, kept, and of what a job's copy will be."""
