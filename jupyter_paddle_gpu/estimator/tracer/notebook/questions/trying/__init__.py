"""What trials of suggestions tell."""
