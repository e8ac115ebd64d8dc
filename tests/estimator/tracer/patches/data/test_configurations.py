"""A configuration by `configparser` whose file is not on this machine is data that is not here, and no fault."""

from __future__ import annotations

import pytest

_TRAINS = """
batch = int(config["train"]["batch_size"])
rate = config.getfloat("train", "rate")
rows = paddle.rand([512, 13])
loader = paddle.io.DataLoader(paddle.io.TensorDataset([rows, rows]), batch_size=batch)
net = paddle.nn.Linear(13, 13)
optimizer = paddle.optimizer.Adam(rate, parameters=net.parameters())
for x, y in loader:
    paddle.nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
_HEAD = "import configparser\nimport paddle\nconfig = configparser.ConfigParser()\n"
_READ = f"{_HEAD}config.read('none.ini')\n"
_WIDTH, _KIND, _SGD = "config.getint('train', 'width'", "config.get('train', 'optimizer'", "'sgd'"
_OF_SECTION = "section.getint('width', 48)"
_CHECKED = "try:\n    config['train']\nexcept KeyError:\n    print('defaults')\n"
_BY_HAND = """
net = paddle.nn.Linear(13, {width})
if {kind} == "adam":
    optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())
elif {kind} == "sgd":
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(5):
    net(paddle.rand([16, 13])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SOURCES = {
    "absent": f"{_HEAD}config.read('settings.ini'){_TRAINS}",
    "given": f"{_HEAD}config.read('none.ini')\nconfig['train'] = dict(batch_size='16', rate='0.1'){_TRAINS}",
    "never read": f"{_HEAD}{_TRAINS}",
    "fallback": f"{_READ}{_BY_HAND.format(width=_WIDTH + ', fallback=48)', kind=_KIND + ', fallback=' + _SGD + ')')}",
    "as written": f"{_HEAD}{_BY_HAND.format(width='48', kind=_SGD)}",
    "bare": f"{_READ}{_BY_HAND.format(width=_WIDTH + ')', kind=_KIND + ')')}",
    "in a section": f"{_READ}section = config['train']{_BY_HAND.format(width=_OF_SECTION, kind=_SGD)}",
    "checked": f"{_READ}{_CHECKED}{_BY_HAND.format(width='48', kind=_SGD)}",
}
SOURCES["told"] = SOURCES["bare"]
SOURCES["answered"] = SOURCES["absent"]
TOLD = {"config_train_width": 48, "config_train_optimizer": "sgd"}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES, {"told": {"answers": TOLD}, "answered": {"answers": {"batch": 16}}})


@pytest.mark.paddle
def test_what_stands_in_a_file_that_is_not_here_is_asked_for(traced):
    """By its own name: a loader whose batch size stands there has all the rest here."""
    found = traced["absent"]
    assert found["status"] == "needs_input"
    assert [(one["name"], one["kind"]) for one in found["questions"]] == [("batch", "value")]
    assert (traced["answered"]["status"], traced["answered"]["batch_size"]) == ("ok", 16)


@pytest.mark.paddle
def test_what_the_program_says_itself_is_taken(traced):
    assert (traced["given"]["status"], traced["given"]["batch_size"]) == ("ok", 16)


@pytest.mark.paddle
def test_a_section_that_no_file_was_to_hold_is_a_fault(traced):
    assert traced["never read"]["status"] == "would_stop"


@pytest.mark.paddle
def test_a_program_with_fallbacks_runs_as_python_runs_it(traced):
    found = traced["fallback"]
    assert (found["status"], found["peak"]) == ("ok", traced["as written"]["peak"])
    assert found["notes"] == ["settings_fallback"]


@pytest.mark.paddle
def test_what_has_no_fallback_is_asked_by_name_with_a_suggestion(traced):
    asked = {one["name"]: (one["suggestion"], one["params"]["file"]) for one in traced["bare"]["questions"]}
    assert asked["config_train_width"][0] is not None
    assert {file for _, file in asked.values()} == {"none.ini"}


@pytest.mark.paddle
def test_what_a_section_would_do_without_is_its_suggestion(traced):
    (asked,) = traced["in a section"]["questions"]
    assert (asked["name"], asked["suggestion"]) == ("section_width", 48)


@pytest.mark.paddle
def test_a_program_that_looks_whether_a_section_is_there_goes_its_own_way(traced):
    assert (traced["checked"]["status"], traced["checked"]["peak"]) == ("ok", traced["as written"]["peak"])


@pytest.mark.paddle
def test_answers_for_what_a_file_says_are_the_estimates_alone(traced):
    found = traced["told"]
    assert (found["status"], found["peak"]) == ("ok", traced["as written"]["peak"])
    note = found["params"][found["notes"].index("data_absent")]
    assert (note["wanted"], note["answered"]) == ("none.ini", 1)
