"""`queue`, `queue hold | release | move` and `submit --priority` as they are typed."""

import time

import pytest

UNTIL = "import os, time\nwhile not os.path.exists('gate'): time.sleep(0.02)"


@pytest.fixture
def waiting(cli, notebook, tmp_path):
    """Two jobs behind one that has the only place."""
    submit = ("submit", "--no-estimate", "--json")
    first = cli(*submit, notebook(UNTIL, name="before.ipynb")).json["id"]
    deadline = time.monotonic() + 180
    while cli("jobs", first, "--json").json["state"] != "running":
        assert time.monotonic() < deadline
    jobs = [cli(*submit, notebook("print(1)", name=f"{name}.ipynb")).json["id"] for name in ("one", "two")]
    yield first, *jobs
    for row in cli("jobs", "--json").json["jobs"]:
        if row["id"] != first:
            cli("cancel", row["id"], "--force")
    (tmp_path / "gate").touch()
    cli("logs", first, "--follow")


def order(cli):
    return [row["name"] for row in cli("queue", "--json").json["entries"]]


def test_nothing_waits(cli):
    assert "Nothing waits." in cli("queue").out
    assert cli("queue", "--json").json["entries"] == []


def test_the_order_and_what_changes_it(cli, notebook, waiting):
    first, one, two = waiting
    assert order(cli) == ["one", "two"]
    assert cli("queue", "move", two, "--json").json["id"] == two
    assert order(cli) == ["two", "one"]
    assert cli("queue", "move", two, "--last").status == 0
    assert order(cli) == ["one", "two"]
    assert cli("queue", "move", two, "--before", one.rsplit("-", 1)[-1]).status == 0
    assert order(cli) == ["two", "one"]
    held = cli("queue", "hold", two, "--json").json
    assert (held["held"], held["reason"]["code"]) == (True, "held")
    text = cli("queue").out
    assert "Only your own jobs are in this order." in text
    (line,) = [line for line in text.splitlines() if "two" in line]
    assert "–" in line
    assert cli("queue", "release", two, "--json").json["held"] is False
    urgent = cli("submit", notebook("print(1)", name="urgent.ipynb"), "--priority", "5", "--no-estimate", "--json")
    assert urgent.json["spec"]["priority"] == 5
    assert order(cli)[0] == "urgent"
    for move in ("hold", "release", "move"):
        refused = cli("queue", move, first, "--json")
        assert (refused.status, refused.json["code"]) == (1, "not_waiting")
        assert refused.json["hint"]


def test_what_is_no_place(cli, waiting):
    _, one, two = waiting
    both = cli("queue", "move", one, "--before", two, "--last")
    assert both.status == 2
    assert "two places" in both.err
    unknown = cli("queue", "hold", "nope")
    assert unknown.status == 1
    assert "nope" in unknown.err
