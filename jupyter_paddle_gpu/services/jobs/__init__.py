"""From a submission to a job, and what a finished job teaches."""
