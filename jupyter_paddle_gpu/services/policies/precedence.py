"""Of several policy files each may tighten what those before it fix, and loosen none of it.

Works on what the files say, section by section: a field that an earlier file does not name is free. How a field gets
tighter stands in tables, here and in the row of each engine; a field without a rule keeps the first value it was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...domain.containers.images import PADDLE_IMAGES
from ...domain.containers.references import parse_pattern
from ...domain.strictness import Tighten, both, either, least, least_of_each, least_of_users, meet, together
from ...engines.engine_type import EngineType

Raw = Mapping[str, Any]
"""A policy file: sections of fields, and fields that stand above all sections."""


def _covers(text: str, other: str) -> bool:
    return parse_pattern(other).covers(parse_pattern(text))


def images(fixed: list[str], wanted: list[str]) -> list[str]:
    """Patterns of the images that both lists allow, those of Paddle's own that are wanted besides."""
    own = [text for text in wanted if any(_covers(text, pattern) for pattern in PADDLE_IMAGES)]
    return meet([*fixed, *own], wanted, _covers)


def high_end(fixed: str, wanted: str) -> str:
    """`plan_for`: the high end of an estimate where either asks for it."""
    return "high" if "high" in (fixed, wanted) else wanted


def exclusive(fixed: str, wanted: str) -> str:
    """`sharing`: a card for oneself where either asks for it."""
    return "exclusive" if "exclusive" in (fixed, wanted) else wanted


def either_way(fixed: Any, wanted: Any) -> Any:
    """`usual`: each person's own choice."""
    return wanted


def joined(fixed: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """`receivers`: those of both; a name belongs to whoever fixed it."""
    return {**wanted, **fixed}


TIGHTER: Mapping[str, Tighten] = {
    "matching.memory_threshold": least,
    "matching.plan_for": high_end,
    "matching.excluded": together,
    "matching.allow_mixed_precision": both,
    "matching.price_ceiling": least,
    "matching.power_ceiling": least,
    "matching.heat_ceiling": least,
    "matching.sharing": exclusive,
    "matching.home_grown_first": either,
    "scheduler.timeout": least,
    "scheduler.quotas": least_of_users,
    "scheduler.quiet_hours": together,
    "jobs.cpu_slots": least_of_each,
    "images.allowed": images,
    "notices.receivers": joined,
    "notices.usual": either_way,
}
"""Field -> how it gets tighter."""


def tightened(fixed: Raw, later: Raw, types: Mapping[str, EngineType[Any]]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What holds where `fixed` comes first, and which fields of the later file would have loosened it and do not count.

    Both must be whole and right by themselves.
    """
    rules, implied = _rules(types)
    first, then = _flat(fixed), _flat(later)
    then_within = _within_images(first, then)
    for name, others in implied.items():
        first = {**others, **first} if name in first else first
    held, overruled = dict(first), []
    for name, wanted in then.items():
        if name not in first:
            held[name] = then_within[name]
        else:
            tighten = rules.get(name)
            held[name] = tighten(first[name], wanted) if tighten else first[name]
        if not _holds(held[name], wanted):
            overruled.append(name)
    return _nested(held), tuple(overruled)


def _holds(held: Any, wanted: Any) -> bool:
    """Whether all that was wanted is there; that there is more besides takes nothing away from a mapping."""
    if isinstance(held, dict) and isinstance(wanted, dict):
        return all(held.get(key) == value for key, value in wanted.items())
    return bool(held == wanted)


def _rules(types: Mapping[str, EngineType[Any]]) -> tuple[dict[str, Tighten], dict[str, dict[str, Any]]]:
    """Field -> how it gets tighter, and field -> what fixing it fixes as well where nothing is said of that."""
    rules, implied = dict(TIGHTER), {}
    for section, kind in types.items():
        rules.update({f"{section}.{field}": rule for field, rule in kind.tighter.items()})
        for field, others in kind.implied.items():
            implied[f"{section}.{field}"] = {f"{section}.{other}": value for other, value in others.items()}
    return rules, implied


def _within_images(first: Raw, then: Raw) -> dict[str, Any]:
    """The later fields where the first ones say which images are allowed: a mirror or a preferred image is one as well,
    so that those which nothing allows are left out."""
    if "images.allowed" not in first:
        return dict(then)
    mirrors = [name for name in first.get("images.registries", ()) if "/" in name]
    fixed = [*first["images.allowed"], *mirrors, *filter(None, [first.get("images.preferred")])]
    out = dict(then)

    def allowed(name: str) -> bool:
        return any(_covers(name, pattern) for pattern in (*fixed, *PADDLE_IMAGES))

    if registries := then.get("images.registries"):
        out["images.registries"] = [name for name in registries if "/" not in name or allowed(name)]
    if preferred := then.get("images.preferred"):
        out["images.preferred"] = preferred if allowed(preferred) else ""
    return out


def _flat(raw: Raw) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for section, fields in raw.items():
        if isinstance(fields, Mapping):
            out.update({f"{section}.{field}": value for field, value in fields.items()})
        else:
            out[section] = fields
    return out


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in flat.items():
        section, dot, field = name.partition(".")
        if dot:
            out.setdefault(section, {})[field] = value
        else:
            out[section] = value
    return out
