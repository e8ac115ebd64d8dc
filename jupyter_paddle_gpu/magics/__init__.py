"""`%paddle_gpu …`: the same commands in a cell, on the open notebook or on live objects of the kernel."""
