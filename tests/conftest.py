"""Plugins that tests of several rooms use, and how Hypothesis finds its examples."""

from hypothesis import HealthCheck, settings

pytest_plugins = ("pytest_jupyter.jupyter_server",)

# A busy machine is no fault: neither an example nor making it has a time. The examples are those of every other run, so
# that a change is judged by what it does and not by what chance brings up beside it.
settings.register_profile(
    "tests", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None
)
settings.load_profile("tests")
