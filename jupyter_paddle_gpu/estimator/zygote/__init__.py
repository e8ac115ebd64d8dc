"""Runs inside the notebook kernel's own interpreter: Paddle imported once, a guarded child forked for each request.

Standard library and Paddle alone; nothing of the rest of the package may be there. Started as
`python <this folder>`; speaks length-prefixed JSON over its standard input and output (see `protocol`).
"""
