"""Plugins that tests of several rooms use."""

pytest_plugins = ("pytest_jupyter.jupyter_server",)
