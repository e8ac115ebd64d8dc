"""What a job is, how it ends, and what it uses: values and rules."""
