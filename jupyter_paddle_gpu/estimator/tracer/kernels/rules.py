"""The type of a rule: what is known of one kernel of Paddle's beyond what its program builder says.

An `Operator` is declared once, in its family's file, with its forward kernel and its gradients' kernels. What a rule
leaves out has the value that most kernels have; an operator that needs no rule has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NamedTuple, Protocol

from ..memory.arrays import Array, Shape, State
from ..memory.values import Value
from .promotion import Promotion

Arrays = list[list[Array]]
"""Operands or results: one list for each, empty where it is absent."""
Attributes = dict[str, Any]
Amount = Callable[[Attributes, Arrays, Arrays], int]
"""Bytes or operations, by attributes, operands and results."""
Range = Callable[[Attributes, Arrays, Arrays], tuple[int, int]]
"""The least and the most bytes."""
Meta = tuple[Shape, str]
"""Shape and name of the element type."""
View = Callable[[Array, Shape, Attributes], "Shape | None"]
"""Strides, in elements, of a view of that shape over an array; None where its layout forces a copy."""


class Place(NamedTuple):
    """Which of a kernel's results is meant: its number, its position in a list of tensors, what the builder says."""

    result: int
    position: int
    meta: Meta


Result = Callable[[Attributes, Arrays, Place], "Meta | None"]
Shared = Callable[[Attributes, Arrays, Place], "Array | None"]
Counted = Callable[[Value, Callable[[Any], int]], int]
"""What a function counts in a value that is computed for real."""
Rows = Callable[[list[Array], Counted], "int | None"]
Refuses = Callable[[Attributes, Arrays, Callable[[Array], Any]], "Exception | None"]
"""What is raised for operands; the last argument gives an array's numbers where they are known, else None."""


class Number(NamedTuple):
    """An attribute that a call may give as a tensor, by the types of `ops.yaml`.

    Attributes:
        kind: `int` or `float` of one (Scalar), `list` of several (IntArray), `tuple` of those in a list (std::vector).
        name, in_row: its keyword; whether one number in a row is taken for several: else numpy is asked for a number.
        is_alone: whether that is asked of one number as well (a C++ float, no Scalar).
    """

    kind: type
    name: str = ""
    in_row: bool = False
    is_alone: bool = False


SCALAR, AXES, LISTED_AXES = Number(int, "axis"), Number(list, "axis"), Number(tuple, "axis")


class Statistics(NamedTuple):
    """The type of the operand at a place; beside low precision statistics and scales may be in another."""

    place: int


Tensors = dict[str, Any]  # operands by name, lists of tensors among them; None for one that is absent
Wants = tuple[bool, ...]  # which results are asked for
Composite = Callable[[Attributes, Tensors, Wants], list[Any]]


class Traced(Protocol):
    """The session, as far as an operator needs it that is expressed through others."""

    target: str
    differentiates_twice: bool

    def state(self, tensor: Any) -> State:
        """What is known of a tensor."""

    def create(self, name: str, shape: Shape, dtype: str, value: Value | None = None, kind: str | None = None) -> Any:
        """A fresh tensor, made by an operation of its own."""

    def call(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """An operator call, `function` being Paddle's own."""

    def cast(self, name: str, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """The operands as mixed precision gives them to an operator."""

    def run(
        self, name: str, metas: Sequence[Meta], reads: Sequence[Any], *, flops: int, gpu: tuple[int, int]
    ) -> list[Any]:
        """Fresh tensors, made by one operation of which Paddle's program builder says nothing.

        Args:
            metas: of the results.
            reads: its operands, which are laid out before.
            gpu: the least and the most bytes that its kernel takes while it runs.
        """

    def refused(self, problem: Exception) -> Exception:
        """To be raised: what Paddle itself raises."""


class Strides(Enum):
    """What becomes of an operand that is not contiguous."""

    LAID_OUT = auto()
    """It is laid out anew before the operator runs, and the copy is what is saved."""
    KEPT = auto()
    """It stays as it is and is copied for the kernel's time; gradient kernels do so anyway."""
    READ = auto()
    """It is read as it is: nothing is copied."""


class Amp(Enum):
    """What `auto_cast` does with an operator."""

    BY_LIST = auto()
    FIRST_OPERAND = auto()
    """Casts the input alone, not scale and bias."""
    NEVER = auto()


class Sparse(Enum):
    """What a kernel makes of a sparse gradient (SelectedRows)."""

    USUAL = auto()
    """It takes one, as an optimizer does."""
    ROWS = auto()
    """Row by row: another one with the same rows."""
    MERGED = auto()
    """Each row once; beside dense ones it goes the usual way."""
    SCALED = auto()
    """Merged, then scaled into a second tensor."""
    VALUES = auto()
    """Its rows as a tensor."""
    SAME_TYPE = auto()
    """Itself, as long as the type stays."""
    EMPTY = auto()
    """A tensor without elements, in Paddle 3.3.1."""


class Choice(Enum):
    """How the choice of some among n classes goes through an operator (`dependent_shapes.py`, `marks.py`)."""

    CHOOSES = auto()
    COMPARES = auto()
    DIFFERS = auto()
    MARKS = auto()
    JOINS = auto()
    PASSES = auto()
    FILLS = auto()
    ADDS = auto()
    MASKS = auto()
    SELECTS = auto()
    CHAINS = auto()
    EXCEEDS = auto()
    BOUNDS = auto()


class Asked(Enum):
    """When eager mode is asked whether it takes a call, with tensors that have no memory (`program/asking.py`): kernels
    that were called so, right and wrong, and that end with an exception when they first look at a number."""

    IF_REFUSED = auto()
    """Where the program builder, which checks all (`slice`), refuses it, or the kernel fills or updates before."""
    EACH_CALL = auto()
    """For each combination of shapes, types and attributes."""
    FIRST_ENTRY = auto()
    """So too, with the first operand's first entry alone: the kernel fills a result of all before it looks at a number
    (seconds and gigabytes of a large batch), and no check hangs on how many there are."""
    TYPE_OF_ONE = auto()
    """Called with one tensor, once for each type: of the rest the builder says as much. Else as `EACH_CALL`."""
    TYPES_OF_TWO = auto()
    """Called with two tensors, once for each pair of types."""
    TYPES_ALONE = auto()
    """Where the builder refuses it, for types alone, with one number each: its threads would end the process."""


NO_RESULT = "(InvalidArgument) Required tensor shall not be nullptr, but received nullptr."
"""What a kernel says that fills a result which nobody wants (`device_context.cc`)."""
WITHOUT_MEMORY = "called with tensors that have no memory"  # what is known of many: no more than when they are `Asked`


class Further(Enum):
    """Whether a gradient kernel can be differentiated again."""

    AS_BUILT = auto()
    """Where the program builder or `second` says so."""
    NOT_FOLLOWED = auto()
    """Eager mode can, and neither the program builder nor a rule says how."""
    REFUSED = auto()
    """Eager mode has no further gradient (messages of libpaddle.so, 3.3.1)."""


class Second(NamedTuple):
    """The gradient of a gradient kernel as eager mode has it, where the program builder has none.

    Attributes:
        name: of that kernel.
        reads: operands that it reads.
        gets: names of what it gets for the first kernel's results. An operand that has the name of such a result is
            called `..._forward`.
        asks: operands that it has results for.
        shapes: operands of which only the shape is read.
    """

    name: str
    reads: tuple[str, ...]
    gets: tuple[str, ...]
    asks: tuple[str, ...]
    shapes: tuple[str, ...] = ()


def per_element(count: int) -> Amount:
    """So many operations for each element of the larger one of first operand and first result."""

    def rule(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
        sizes = [array.numel for group in (*operands[:1], *results[:1]) for array in group]
        return count * max(sizes, default=0)

    rule.__doc__ = f"{count} an element."
    return rule


one_each = per_element(1)


def nothing(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """None."""
    return 0


def no_range(attrs: Attributes, operands: Arrays, results: Arrays) -> tuple[int, int]:
    """None."""
    return 0, 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What is known of one kernel, a forward operator's or a gradient's."""

    name: str = ""
    """Of a gradient's kernel whose name is not the operator's with `_grad`, `_double_grad` or `_triple_grad`."""

    # Calls
    instead: Callable[..., Any] | None = None
    """What eager mode does in its place: `instead(session, original, *args, **kwargs)`."""
    form: Any = None
    """How a program has it where only a GPU has a kernel (`told.Form`)."""
    attributes: tuple[tuple[str, Any], ...] = ()
    """In their order, with defaults: libraries still call it by the old interface, with names and values."""
    builder_reads: tuple[Any, ...] = ()
    """Attributes that the program builder takes behind those of eager mode; it crashes where they are not given."""
    numbers: Mapping[int, Number] = field(default_factory=dict)
    """Attributes that may be tensors, by place: eager mode reads those, the builder leaves what hangs on them open."""

    # Results
    result: Result | None = None
    """Shape and type of a result where they are others than the program builder says; None keeps those."""
    shares: Shared | None = None
    """A result that holds an operand's memory, or no memory; None where it is allocated."""
    surplus: Amount | None = None
    """Bytes of the first result beyond its shape."""
    view: View | None = None
    """The first operand's memory (a gradient kernel's incoming gradient's) with these strides."""
    sized_here: bool = False
    """Results of open shape hold nothing on a CPU or are sized by `result`: their shape hangs on no data."""
    rows: Rows | None = None
    """How many rows a result of open shape has, counted in an operand whose numbers are known."""
    row_each: bool = False
    """A result of open shape has up to a row for each element, however long a row is."""
    value: Callable[[list[Array]], Value | None] | None = None
    """Numbers of the result that are known though an operand's are not."""
    keeps_sizes: bool | Callable[[Any, list[Meta]], frozenset[tuple[int, int]] | None] = False
    """Sizes of its results are its operands' own, compared with each other and with one alone (`program/patterns`)."""
    only_wanted: bool = False
    """Results that nobody wants are not allocated, though the program builder shows them."""
    refused: str = ""
    """What Paddle says where the first result is not wanted: it refuses the step."""
    refused_any: bool = False  # the same of each result
    refused_empty: str = ""  # the same, where the first operand has no element besides

    # Operands
    strides: Strides = Strides.LAID_OUT
    lays_out: tuple[int, ...] = ()
    """Operands that are laid out anew and saved so, though the others are kept (not by `x[index]`)."""
    fills_zeros: bool = False
    """Absent gradients become zeros first (`ops_to_fill_zero_for_empty_grads` of eager_gen.py)."""
    drops_wanted: bool = False
    """Of two operands one that alone wants a gradient is not kept for it, but in builds that do (`keeps_factors`)."""
    overwrites: tuple[int, str] = (0, "out_grad")
    """The result that is written over an operand nothing else holds, where the gradient has an in-place twin."""
    takes_larger: bool = False
    """The first result takes the incoming gradient's memory also where it is a row of it."""
    rests_on: Mapping[int, str] = field(default_factory=dict)
    """Results that are not computed where an operand is absent."""
    awaits_all: bool = False
    """Gradients of all operands are waited for, those without a result too."""
    gives_rows: bool = False
    """With `sparse` set, the result is a sparse gradient of one row an index."""
    gives_all: bool = False
    """Its gradient is made for each member of its list, to which none flows as well (else see `Gradient.beside`)."""

    # Costs
    flops: Amount = one_each
    workspace: Amount = nothing
    """Transient bytes of the CPU kernel, beside copies of strided operands."""
    gpu: Range = no_range
    """Range of the GPU kernel's transient bytes."""

    # Types
    float32_results: tuple[int, ...] = ()
    """Results that stay in float32 when operands are in low precision."""
    promotes: Promotion | None = None
    """Operands of two floating types are cast to one before it runs, and the cast is what is saved."""
    keeps_types: bool = False
    """The result's type is what the call says."""
    amp: Amp = Amp.BY_LIST
    amp_name: str = ""
    """The name under which the lists of mixed precision know it (phi::TransToFluidOpName)."""

    # Gradients of gradients
    second: Second | None = None
    further: Further = Further.AS_BUILT
    composed: Composite | None = None
    """The kernel is one in name only: eager mode composes it of operators (composite_double_backward_api.h)."""
    recorded: Composite | None = None
    """As which operators a gradient kernel runs where it is to be differentiated again; `composed` ones do anyway."""
    crashes: bool = False
    """The program builder ends with a signal when asked for its gradient; eager mode refuses it too."""

    # What the program means by it
    sparse: Sparse | None = None
    """What it makes of a sparse gradient; None: Paddle has no such kernel."""
    choice: Choice | None = None
    draws: bool = False
    """Its numbers are drawn anew whenever the program comes to it."""
    is_convolution: bool = False
    loss: str = ""
    """The loss that it is, as users know it."""
    looks_up: bool = False
    """The first operand's numbers are rows of the second."""
    counts_up: bool = False
    """Its result's length is the difference of its first two operands."""
    is_constant: bool = False
    """In a program that the builder made, a constant that another operator takes as an attribute."""

    # What it refuses
    reads_as: Mapping[int, int | str | Statistics] = field(default_factory=dict)
    """Operands that must have a type, by name, or another operand's, by its place; only the kernel looks at it."""
    refuses: Refuses | None = None
    """What the kernel says of operands that it does not take, where nobody looks before it runs."""
    asked: Asked = Asked.IF_REFUSED

    def view_over(self, source: Array, meta: Meta, attrs: Attributes) -> Array | None:
        """The view of that shape and type that the kernel makes of an array, None where it allocates a result."""
        if self.view is None or source.storage is None:
            return None
        shape, dtype = meta
        strides = self.view(source, shape, attrs)
        return None if strides is None else source.view(shape, strides, dtype)


_ORDERS = ("_grad", "_double_grad", "_triple_grad")


@dataclass(frozen=True, slots=True)
class Operator:
    """One declaration: operators of which the same is known, their gradients' kernels, and how it is known.

    Attributes:
        names: of the operators, with blanks between. In-place ones (`masked_fill_`) have the others' gradients.
        source: files of Paddle's, or how it was measured.
        forward, gradient, second, third: rules of the kernels, by order.
    """

    names: str
    source: str
    forward: Rule | None = None
    gradient: Rule | None = None
    second: Rule | None = None
    third: Rule | None = None

    def kernels(self) -> dict[str, Rule]:
        """The rules by the names of the kernels."""
        found: dict[str, Rule] = {}
        for name in self.names.split():
            if self.forward is not None:
                found[name] = self.forward
            for order, rule in zip(_ORDERS, (self.gradient, self.second, self.third), strict=True):
                if rule is not None:
                    found[rule.name or name.rstrip("_") + order] = rule
        return found
