"""What is known of Paddle's operators: a rule each, in one file a family.

`rules` has the type, `registry` the one table that everything else asks.
"""
