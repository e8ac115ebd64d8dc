"""`python -m jupyter_paddle_gpu …` is `jupyter paddle-gpu …`."""

from .cli import main

if __name__ == "__main__":
    main()
