"""Writes `docs/kernels.md` from the declarations of operators; with `--check` it only compares.

`kernels.md.in` is the page with a place for the operators. Needs Paddle, as the tracer does.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
PAGE, TEMPLATE, PLACE = FOLDER.parent / "kernels.md", FOLDER / "kernels.md.in", "@operators@\n"
WIDTH = 120

sys.path.insert(0, str(FOLDER.parents[1] / "jupyter_paddle_gpu" / "estimator"))
rules = importlib.import_module("tracer.kernels.rules")
registry = importlib.import_module("tracer.kernels.registry")


def _documented(function: Any) -> str:
    """The first paragraph of a function's docstring, as a part of a sentence."""
    if not function.__doc__:
        message = f"{function.__module__}.{function.__qualname__} says nothing of what it gives"
        raise ValueError(message)
    text = " ".join(function.__doc__.split("\n\n")[0].split()).rstrip(".")
    is_name = len(text) > 1 and text[1].isupper()
    return text if is_name else text[0].lower() + text[1:]


def _code(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


_STRIDES = {"KEPT": "keeps strided operands as they are", "READ": "reads a strided gradient as it is"}
_SPARSE = {
    "USUAL": "takes a sparse gradient",
    "ROWS": "makes another sparse gradient of one",
    "MERGED": "merges sparse gradients",
    "SCALED": "merges a sparse gradient and scales it into a second tensor",
    "VALUES": "gives a sparse gradient's rows",
    "SAME_TYPE": "leaves a sparse gradient of the same type as it is",
    "EMPTY": "gives a tensor without elements for a sparse gradient",
}
_CHOICE = {
    "CHOOSES": "its result is a choice among as many classes as the shrunk dimension has",
    "COMPARES": "comparing a choice with a number takes an equal share",
    "DIFFERS": "comparing a choice with a number takes all but an equal share",
    "MARKS": "its result marks the choice",
    "JOINS": "its result joins choices",
    "PASSES": "passes a choice on",
    "FILLS": "its result is a number to compare a choice with",
    "ADDS": "at most as many entries are left as a mask has",
    "MASKS": "at most as many entries are left as the smaller mask has",
    "SELECTS": "where it puts one number, at most as many entries are left as the mask has",
    "CHAINS": "masks have as many entries together as each of them",
    "EXCEEDS": "at most as many entries exceed a number as a mask has",
    "BOUNDS": "a number that is not known is at least its lower bound",
}
_AMP = {"FIRST_OPERAND": "`auto_cast` casts its input alone", "NEVER": "`auto_cast` leaves it as it is"}
_ASKED = {
    "EACH_CALL": "is asked of eager mode",
    "FIRST_ENTRY": "is asked of eager mode with the first entry of its first operand",
    "TYPE_OF_ONE": "is asked of eager mode once for each type",
    "TYPES_OF_TWO": "is asked of eager mode once for each pair of types",
    "TYPES_ALONE": "is asked of eager mode for its types alone",
}
_FURTHER = {"NOT_FOLLOWED": "its own gradient is not followed", "REFUSED": "has no gradient of its own"}


def _read_as(place: int, wanted: Any) -> str:
    if wanted == place:
        return f"reads all of operand {place + 1} in one type"
    if isinstance(wanted, rules.Statistics):
        return f"reads operand {place + 1} as what operand {wanted.place + 1} is, or beside it in low precision"
    return f"reads operand {place + 1} as " + (
        f"`{wanted}`" if isinstance(wanted, str) else f"what operand {wanted + 1} is"
    )


def _promotion(value: Any) -> str:
    said = "casts operands of two floating types to the wider one"
    said += ", a tensor without dimensions to the other's" * value.of_tensor
    return said + "; on a GPU float32 takes a second operand of low precision as it is" * value.takes_low


SENTENCES: dict[str, Callable[[Any], str]] = {
    "instead": lambda value: f"instead of it: {_documented(value)}",
    "form": lambda value: f"in a program it gives {_code(value.results)}",
    "attributes": lambda value: f"takes {_code(name for name, _ in value)} by name too",
    "builder_reads": lambda value: "the program builder is given an attribute more than eager mode",
    "view": lambda value: "is a view",
    "result": lambda value: f"results: {_documented(value)}",
    "shares": lambda value: f"shared results: {_documented(value)}",
    "surplus": lambda value: f"beyond its result's shape: {_documented(value)}",
    "rows": lambda value: f"rows: {_documented(value)}",
    "row_each": lambda value: "gives up to a row for each element",
    "value": lambda value: f"its numbers: {_documented(value)}",
    "numbers": lambda value: (
        f"reads numbers of argument {', '.join(str(index + 1) for index in value)} where it is a tensor"
    ),
    "sized_here": lambda value: "",  # said by `result`, or nothing on a CPU
    "keeps_sizes": lambda value: (
        f"is built once for a pattern of sizes{'' if value is True else f' ({_documented(value)})'}"
    ),
    "only_wanted": lambda value: "allocates only results that somebody wants",
    "refused": lambda value: "is refused by Paddle where the first result is not wanted",
    "refused_any": lambda _: "counts so for each result",
    "refused_empty": lambda value: (
        "is refused by Paddle where its first result is not wanted and its first operand has no element"
    ),
    "reads_as": lambda value: "; ".join(_read_as(place, wanted) for place, wanted in value.items()),
    "asked": lambda value: _ASKED[value.name],
    "refuses": lambda value: f"refuses {_documented(value)}",
    "strides": lambda value: _STRIDES[value.name],
    "lays_out": lambda value: f"lays out operand {', '.join(str(index + 1) for index in value)} anew and saves it so",
    "workspace": lambda value: f"transient memory: {_documented(value)}",
    "gpu": lambda value: f"on a GPU: {_documented(value)}",
    "flops": lambda value: f"operations: {_documented(value)}",
    "fills_zeros": lambda value: "absent gradients become zeros first",
    "drops_wanted": lambda value: (
        "on a GPU does not keep an operand that alone wants a gradient, but in builds of Paddle that keep both"
    ),
    "overwrites": lambda value: f"writes result {value[0] + 1} over `{value[1]}`",
    "takes_larger": lambda value: "writes its first result over the incoming gradient also where it is a row of it",
    "rests_on": lambda value: "leaves out results whose gradient of a gradient is absent",
    "awaits_all": lambda value: "waits for the gradients of all operands",
    "gives_rows": lambda value: "",  # said by `result`
    "gives_all": lambda value: "makes a gradient for each member of a list, also where nobody wants it",
    "float32_results": lambda value: f"keeps results {', '.join(str(index + 1) for index in value)} in float32",
    "promotes": _promotion,
    "keeps_types": lambda value: "gives the type that the call says",
    "amp": lambda value: _AMP[value.name],
    "amp_name": lambda value: f"stands in the lists of mixed precision as `{value}`",
    "second": lambda value: f"its own gradient `{value.name}` reads {_code(value.reads)}",
    "further": lambda value: _FURTHER[value.name],
    "composed": lambda value: "eager mode composes it of other operators",
    "recorded": lambda value: "as a gradient it runs as an operator of the program, to be differentiated again",
    "crashes": lambda value: "cannot be differentiated again",
    "sparse": lambda value: _SPARSE[value.name],
    "choice": lambda value: _CHOICE[value.name],
    "draws": lambda value: "draws its numbers anew in each step",
    "is_convolution": lambda value: "is a convolution",
    "loss": lambda value: f"is the loss `{value}`",
    "looks_up": lambda value: "reads rows of its second operand by the numbers of the first",
    "counts_up": lambda value: "gives as many numbers as lie between its first two operands",
    "is_constant": lambda value: "is a constant where another operator takes it as an attribute",
}
"""What a field of a rule says of its kernel."""


def _said(rule: Any) -> str:
    plain, parts = registry.PLAIN, []
    for field in dataclasses.fields(rule):
        value = getattr(rule, field.name)
        if field.name != "name" and value != getattr(plain, field.name):
            parts.append(SENTENCES[field.name](value))
    return "; ".join(filter(None, parts))


def _operator(operator: Any) -> Iterator[str]:
    """One declaration as an item of a list."""
    own = operator.names.split()
    said: dict[str, list[str]] = {}
    for name, rule in operator.kernels().items():
        said.setdefault(_said(rule), []).append(name)
    lines = []
    for text, names in said.items():
        if names == own:
            lines.append(f"{_code(names)}: {text}." if text else f"{_code(names)}.")
        else:
            lines.append(f"{_code(names)}: {text or 'as the program builder says'}.")
    lines.append(f"Source: {operator.source}.")
    for number, line in enumerate(lines):
        mark = "- " if number == 0 else "  "
        yield textwrap.fill(
            line, WIDTH, initial_indent=mark, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )


def page() -> str:
    """The whole page."""
    parts = []
    for family in registry.FAMILIES:
        title = re.split(r"[.:] |\.$", " ".join(family.__doc__.split("\n\n")[0].split()))[0]
        items = "\n".join(line for operator in family.OPERATORS for line in _operator(operator))
        parts.append(f"### {title}\n\n{items}\n")
    return TEMPLATE.read_text(encoding="utf-8").replace(PLACE, "\n".join(parts))


def main() -> int:
    """Write the page, or say whether it is up to date."""
    made = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == made:
        return 0
    sys.stderr.write("docs/kernels.md is not what the declarations say: run `python docs/programs/kernels.py`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
