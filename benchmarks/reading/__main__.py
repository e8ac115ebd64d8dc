"""`python -m benchmarks.reading FOLDER...`."""

from .estimates import main

if __name__ == "__main__":
    main()
