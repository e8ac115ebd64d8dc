"""Lists of data that is not here, while samples are made up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.paddle


@pytest.fixture
def items(monkeypatch):
    """A list whose items are alike, of a thousand in what is made up, and how many of them were made."""
    from jupyter_paddle_gpu.estimator.tracer.undecided import rows, variants

    made, fresh = [], rows._fresh
    monkeypatch.setattr(variants, "present", lambda: SimpleNamespace(length=1000))
    monkeypatch.setattr(rows, "_fresh", lambda item: made.append(item) or fresh(item))
    return rows.UnseenList(7), made


def test_no_more_items_are_made_than_are_taken(items):
    """`np.random.shuffle(rows)` takes two a turn: with all of them made each time a second became minutes."""
    taken, made = items
    assert (taken[999], taken[-1], taken[10:14]) == (7, 7, [7] * 4)
    assert len(made) == 6


def test_an_item_behind_the_last_is_none(items):
    with pytest.raises(IndexError):
        items[0][1000]
