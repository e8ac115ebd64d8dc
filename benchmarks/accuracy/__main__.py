"""`python -m benchmarks.accuracy`: the table, and its JSON."""

from .run import main

if __name__ == "__main__":
    main()
