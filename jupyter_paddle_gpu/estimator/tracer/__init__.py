"""Runs in the notebook kernel's own interpreter: standard library, numpy and paddle alone; speaks JSON.

Nothing here imports the rest of `jupyter_paddle_gpu`: the folder is put on that interpreter's path as it is.
"""
