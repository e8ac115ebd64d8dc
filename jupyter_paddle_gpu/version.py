"""The one place where the version stands; `package.json` repeats it for npm."""

__version__ = "0.1.0"
