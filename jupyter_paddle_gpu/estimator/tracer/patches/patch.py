"""How something of Paddle's, Python's or numpy's is stood for while a trace runs: one row, one wrapper.

A patch stays once it is there; without a running trace what it stands for does what it always did.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial, wraps
from types import ModuleType
from typing import Any

from paddle.base import core

from ..call_stack import was_entered
from ..session import Session, current
from .awaited import Awaited, when_imported

Replacement = Callable[..., Any]
"""`replacement(session, original, *args, **kwargs)`; a method's `self` is the first of the arguments."""


@dataclass(frozen=True)
class Patch:
    """What stands for `owner.name` while a trace runs.

    Attributes:
        owner: a module or a class, or one that is awaited.
        name: one of its attributes: a function, a method, a class method, a property, or a class that is called.
        replacement: see `Replacement`; of a property what reads it.
        write: what writes a property; None leaves that to the original.
        everywhere: whether it is replaced wherever Paddle's modules and its tensor class hold it, by whatever name.
        optional: of an awaited owner: only some versions have it, and others need no replacement.
    """

    owner: Any
    name: str
    replacement: Replacement
    write: Replacement | None = None
    everywhere: bool = False
    optional: bool = False

    def __str__(self) -> str:
        if isinstance(self.owner, Awaited):
            return f"{self.owner}.{self.name}"
        module = getattr(self.owner, "__module__", None)
        owner = getattr(self.owner, "__qualname__", getattr(self.owner, "__name__", repr(self.owner)))
        return ".".join(part for part in (module if isinstance(self.owner, type) else None, owner, self.name) if part)


_unplaced: list[str] = []


def unplaced() -> tuple[str, ...]:
    """What the awaited modules that were imported by now have no place for, by name."""
    return tuple(_unplaced)


def install(patches: Iterable[Patch]) -> list[str]:
    """Put the patches into their places; those that this Paddle has no place for are the result, by name.

    Those of awaited modules follow when a module is imported; `unplaced` has the names of the ones without a place.
    """
    awaited: dict[str, list[Patch]] = {}
    present: list[Patch] = []
    for patch in patches:
        if isinstance(patch.owner, Awaited):
            awaited.setdefault(patch.owner.module, []).append(patch)
        else:
            present.append(patch)
    for module, rows in awaited.items():
        when_imported(module, partial(_install_awaited, rows))
    return _install(present)


def _install_awaited(patches: Iterable[Patch]) -> None:
    """Put the patches of a module into it, which is there now."""
    for patch in patches:
        owner = patch.owner.found()
        if (owner is None or _install([replace(patch, owner=owner)])) and not patch.optional:
            _unplaced.append(str(patch))


def _install(patches: Iterable[Patch]) -> list[str]:
    missing: list[str] = []
    shared: dict[int, tuple[Any, Any]] = {}
    alone: list[Patch] = []
    for patch in patches:
        present = getattr(patch.owner, patch.name, None)
        if present is None and patch.name not in dir(patch.owner):
            missing.append(str(patch))
        elif patch.everywhere:
            held = shared.get(id(present), (present, present))[1]  # what another patch stands for already
            shared[id(present)] = (present, _wrapped(patch, held))
        else:
            alone.append(patch)
    for owner in (*modules(), core.eager.Tensor) if shared else ():
        for name, value in list(vars(owner).items()):
            if id(value) in shared:  # of an object that `shared` holds: no other one has that number
                setattr(owner, name, shared[id(value)][1])
    return missing + [str(patch) for patch in alone if not _put(patch)]


def _put(patch: Patch) -> bool:
    """Whether there is a place for it: not every class of C takes attributes."""
    try:
        setattr(patch.owner, patch.name, _wrapped(patch, getattr(patch.owner, patch.name)))
    except (AttributeError, TypeError):
        return False
    return True


def modules() -> list[ModuleType]:
    """Loaded modules of Python of Paddle and of what stands beside it."""
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("paddle") and "libpaddle" not in name and isinstance(module, ModuleType)
    ]


def _wrapped(patch: Patch, present: Any) -> Any:
    """What takes the place of an attribute, by what the attribute is."""
    own = vars(patch.owner).get(patch.name) if isinstance(patch.owner, type) else None
    if patch.name == "__new__":
        return _function(patch, lambda kind, *args, **kwargs: present(kind))
    if isinstance(own, property) or type(own).__name__ == "getset_descriptor":
        return _property(patch, own)
    if isinstance(present, type):
        return _Class(present.__name__, (), {"original": present, "patch": patch, "__doc__": present.__doc__})
    if isinstance(own, staticmethod):
        return staticmethod(_function(patch, present))
    owner = getattr(present, "__self__", None)
    if isinstance(owner, type):  # a class method, perhaps of a base: the class is the first argument
        method = next(vars(base)[patch.name] for base in patch.owner.__mro__ if patch.name in vars(base))

        @wraps(getattr(method, "__func__", method))
        def unbound(kind: Any, *args: Any, **kwargs: Any) -> Any:
            return method.__get__(None, kind)(*args, **kwargs)

        return classmethod(_function(patch, unbound))
    return _function(patch, present)


def _function(patch: Patch, original: Any) -> Any:
    replacement = patch.replacement

    def function(*args: Any, **kwargs: Any) -> Any:
        session = current()
        if session is None:
            return original(*args, **kwargs)
        try:
            return replacement(session, original, *args, **kwargs)
        except TypeError as problem:
            if was_entered(problem):
                raise
        return misfit(session, original, args, kwargs)

    function.__name__, function.__doc__ = getattr(original, "__name__", patch.name), getattr(original, "__doc__", None)
    if patch.name == "__init__":  # programs choose the arguments of a class by its signature
        function.__wrapped__ = original  # type: ignore[attr-defined]
    return function


def misfit(session: Session, original: Any, args: Any, kwargs: Any) -> Any:
    """A call that the replacement does not take is the original's, which takes it or says in its own words why not."""
    try:
        return original(*args, **kwargs)
    except TypeError as problem:
        raise problem if was_entered(problem) else session.refused(problem) from None


def _property(patch: Patch, original: Any) -> property:
    def get(self: Any) -> Any:
        session = current()
        read = original.__get__
        return read(self, type(self)) if session is None else patch.replacement(session, read, self)

    def put(self: Any, value: Any) -> None:
        session = current()
        if session is None or patch.write is None:
            original.__set__(self, value)
        else:
            patch.write(session, original.__set__, self, value)

    return property(get, put)


class _Class(type):
    """A class of which objects are made by the replacement while a trace runs."""

    original: type
    patch: Patch

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        session = current()
        if session is None:
            return cls.original(*args, **kwargs)
        try:
            return cls.patch.replacement(session, cls.original, *args, **kwargs)
        except TypeError as problem:
            if was_entered(problem):
                raise
        return misfit(session, cls.original, args, kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.original)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.original, name)
