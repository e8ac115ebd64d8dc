"""One wrapper for every kind of attribute: it passes on without a trace, and asks the replacement while one runs."""

from __future__ import annotations

import sys
import types

import pytest

patch = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.patches.patch")
session = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.session")
pytestmark = pytest.mark.paddle


class Base:
    @classmethod
    def made(cls, *args):
        return cls.__name__, *args


class Owner(Base):
    size = property(lambda self: self._size, lambda self, value: setattr(self, "_size", value))

    def __new__(cls, *args):
        return object.__new__(cls)

    def __init__(self, size=1):
        self._size = size

    def times(self, factor):
        return self._size * factor


@pytest.fixture
def place():
    """A module with a class of its own kind, and a session that says what it was asked."""
    module = types.ModuleType("paddle_of_this_test")
    module.Owner = type("Owner", (Owner,), {name: vars(Owner)[name] for name in ("size", "times", "__init__")})
    module.Part = type("Part", (), {"__init__": lambda self, number: setattr(self, "number", number), "kind": "part"})
    module.add = lambda first, second=0: first + second
    return module


def doubled(running, original, *args, **kwargs):
    running.note("asked", by=original)
    return original(*args, **kwargs), "replaced"


def test_a_function_and_a_method_are_asked_for_while_a_trace_runs_only(place):
    assert patch.install([patch.Patch(place, "add", doubled), patch.Patch(place.Owner, "times", doubled)]) == []
    owner, running = place.Owner(3), session.Session()

    assert (place.add(1, second=2), owner.times(2)) == (3, 6)
    with session.entered(running):
        assert (place.add(1, second=2), owner.times(2)) == ((3, "replaced"), (6, "replaced"))
        with session.paused():
            assert place.add(1) == 1
    assert "asked" in running.notes
    assert place.add(1) == 1


def test_a_class_method_of_a_base_keeps_its_class(place):
    patch.install([patch.Patch(place.Owner, "made", doubled)])

    assert place.Owner.made(1) == ("Owner", 1)
    with session.entered(session.Session()):
        assert place.Owner.made(1) == (("Owner", 1), "replaced")
    assert Base.made(1) == ("Base", 1)


def test_a_property_is_read_and_written(place):
    written = []
    rows = [patch.Patch(place.Owner, "size", doubled, lambda running, write, self, value: written.append(value))]
    patch.install(rows)
    owner = place.Owner(3)

    owner.size = 4
    assert owner.size == 4
    with session.entered(session.Session()):
        owner.size = 5
        assert owner.size == (4, "replaced")
    assert (owner.size, written) == (4, [5])


def test_a_class_that_is_called_stays_the_class_of_its_objects(place):
    original = place.Part
    patch.install([patch.Patch(place, "Part", lambda running, original, number: original(-number))])
    made = place.Part(1)

    with session.entered(session.Session()):
        assert place.Part(1).number == -1
    assert made.number == 1 and type(made) is original and isinstance(made, place.Part) and place.Part.kind == "part"


def test_a_new_object_may_be_one_of_another_kind(place):
    patch.install([patch.Patch(place.Owner, "__new__", lambda running, original, kind, *args: args)])

    assert place.Owner(3).size == 3
    with session.entered(session.Session()):
        assert place.Owner(3) == (3,)


def test_what_paddle_holds_by_other_names_too_is_replaced_everywhere(place, monkeypatch):
    other = types.ModuleType("paddle_of_this_test.other")
    other.named_otherwise, other.foreign = place.Part, place.Owner
    for module in (place, other):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    patch.install([patch.Patch(place, "Part", doubled, everywhere=True)])

    assert other.named_otherwise is place.Part and other.foreign is place.Owner
    with session.entered(session.Session()):
        assert other.named_otherwise(1)[1] == "replaced"


def test_what_has_no_place_is_told_by_name(place):
    rows = [patch.Patch(*row, doubled) for row in ((place, "gone"), (place.Owner, "gone"), (int, "bit_length"))]

    assert patch.install([*rows, patch.Patch(place, "add", doubled)]) == [
        "paddle_of_this_test.gone", f"{__name__}.Owner.gone", "builtins.int.bit_length",
    ]  # fmt: skip
    with session.entered(session.Session()):
        assert place.add(1) == (1, "replaced")


def test_what_only_some_versions_have_is_not_missed(place, monkeypatch):
    awaited = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.patches.awaited").Awaited(place.__name__)
    monkeypatch.setitem(sys.modules, place.__name__, place)
    monkeypatch.setattr(patch, "_unplaced", [])

    patch.install([patch.Patch(awaited, "sums", doubled, optional=True), patch.Patch(awaited, "products", doubled)])

    assert patch.unplaced() == ("paddle_of_this_test.products",)
