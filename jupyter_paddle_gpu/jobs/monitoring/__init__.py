"""How running jobs are: what engines say of them, what they use, how they ended, what they left."""
