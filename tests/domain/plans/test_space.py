"""Lists and ranges as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.plans.space import Dimension, at_random, grid, parse, size


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("0.1,0.01", (0.1, 0.01)),
        (" 0.1 , 0.01 ", (0.1, 0.01)),
        ("32:128:x2", (32, 64, 128)),
        ("32:100:x2", (32, 64)),
        ("16:64:16", (16, 32, 48, 64)),
        ("1:4", (1, 2, 3, 4)),
        ("0.1:0.3:0.1", (0.1, 0.2, 0.3)),
        ("0.001:0.1:log3", (0.001, 0.01, 0.1)),
        ("1e-3:1e-1:log3", (0.001, 0.01, 0.1)),
        ("adam, sgd", ("adam", "sgd")),
        ("'a:b', c", ("a:b", "c")),
        ("true, false", (True, False)),
        ("none, 3", (None, 3)),
        ("64", (64,)),
        ("8, 8, 8.0, True", (8, 8.0, True)),
        ([1, 2.5, "x"], (1, 2.5, "x")),
    ],
)
def test_what_is_typed_is_a_list_of_values(typed, values):
    found = parse("name", typed).values
    assert found == values
    assert [type(one) for one in found] == [type(one) for one in values]


@pytest.mark.parametrize(("typed", "log"), [("0.1:0.5", False), ("0.001:0.1:log", True)])
def test_a_range_without_steps_is_open(typed, log):
    one = parse("lr", typed)
    assert one.is_open
    assert one.log is log
    with pytest.raises(PaddleGpuError, match="grid") as refusal:
        list(grid([one]))
    assert refusal.value.code == "sweep_open"


@pytest.mark.parametrize(
    "typed", ["", "1,,2", "4:1", "1:10:0", "1:10:x1", "0:10:x2", "0:1:log", "a:b", "1:1e9:1", "1:2:log1", [], "1:nan"]
)
def test_what_makes_no_sense_is_refused_with_the_next_step(typed):
    with pytest.raises(PaddleGpuError) as refusal:
        parse("lr", typed)
    assert refusal.value.code == "sweep_values"
    assert "32:128:x2" in refusal.value.message.render_hint()


def test_a_grid_goes_through_all_the_last_name_first():
    dimensions = [parse("lr", "0.1,0.01"), parse("batch", "32:64:x2")]
    assert list(grid(dimensions)) == [
        {"lr": 0.1, "batch": 32},
        {"lr": 0.1, "batch": 64},
        {"lr": 0.01, "batch": 32},
        {"lr": 0.01, "batch": 64},
    ]
    assert size(dimensions) == 4


@given(seed=st.integers(), trials=st.integers(1, 30))
def test_a_random_search_is_the_same_for_a_seed_within_its_bounds_and_never_twice(seed, trials):
    dimensions = [parse("lr", "0.001:0.1:log"), parse("batch", "32,64"), parse("drop", "0:1:0.5")]
    found = at_random(dimensions, trials, seed)
    assert found == at_random(dimensions, trials, seed)
    assert len(found) == trials == len({tuple(one.values()) for one in found})
    assert all(0.001 <= one["lr"] <= 0.1 and one["batch"] in (32, 64) and one["drop"] in (0, 0.5, 1) for one in found)


def test_a_random_search_ends_where_there_is_no_more():
    assert len(at_random([parse("a", "1,2"), parse("b", "1,2")], 50, 0)) == 4


@given(st.floats(0, 1))
def test_a_value_of_an_open_range_lies_within(share):
    for one in (Dimension(name="a", low=1e-5, high=3e-1, log=True), Dimension(name="b", low=-2.0, high=7.0)):
        assert one.low <= one.at(share) <= one.high
