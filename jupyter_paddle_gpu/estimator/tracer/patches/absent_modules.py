"""Modules that the kernel's Python lacks: what only watches a training (a log, a plot, a progress bar) is passed by.

The import gives a stand-in. What is called on it for its effect alone does nothing; as soon as the program needs
something of it (a number, an item, a base class, anything made of a tensor or a layer), the module is asked for there.
Imports inside of `try` are left alone: they say themselves what is to be done without the module.
"""

from __future__ import annotations

import ast
import dis
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from types import FrameType
from typing import Any, NoReturn

import paddle

from ..session import Session, current

IMPORTED = "__imported_absent__"
"""The name under which a notebook's cells find `AbsentModules.imported`."""
_PROGRESS = frozenset(("tqdm", "progressbar", "fastprogress"))
"""Modules whose calls give back the items that they are given."""
_WATCHES = frozenset((
    "IPython", "bokeh", "cufflinks", "gdown", "graphviz", "holoviews", "hvplot", "ipywidgets", "loguru",
    "matplotlib", "mlflow", "mpl_toolkits", "neptune", "plotly", "pylab", "rich", "seaborn", "swanlab", "tabulate",
    "tensorboard", "tensorboardX", "termcolor", "torchinfo", "visualdl", "visualdl_logger", "wandb", "wget",
))  # fmt: skip
"""Modules that plot, display, log or download: no training takes a number of them, whatever is done with them."""
_TRAINS = re.compile(r"(?i)train|fit")
_IS_A_TRAINING = re.compile(r"(?i)^(run_|start_|do_)?train(ing|_(model|net|network|loop|all))?$")
"""Names of what trains whatever it is given: no `train_test_split`, no `fit` of a scaler."""
_ARGUMENTS = (ArgumentParser, Namespace)
_FRAMEWORK = frozenset(("paddle", "torch", "tensorflow"))
"""Modules that compute what is trained: nothing of them is passed by."""


class AbsentModuleError(ModuleNotFoundError):
    """The program needs something of a module that is not there."""


class AbsentModule:
    """A module that is not there, or something of it.

    It holds the module's name, its own, the items that a progress bar goes through, and whether it was made of what is
    trained.
    """

    def __init__(self, module: str, items: Any = None, *, name: str = "", is_made_of_model: bool = False) -> None:
        self.__dict__.update(_module=module, _items=items, _name=name, _is_made_of_model=is_made_of_model)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            if name != "__version__":
                raise AttributeError(name)
        elif self._is_made_of_model:
            self._need()
        return AbsentModule(self._module, name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        return None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Nothing happens; a progress bar keeps what it goes through."""
        if self._is_made_of_model:
            self._need()
        if self._module.partition(".")[0] in _PROGRESS:
            return AbsentModule(self._module, _items(args, kwargs))
        given = [*args, *kwargs.values()]
        if (session := current()) is not None:
            absent = session.of(AbsentModules)
            absent.trains = absent.trains or _may_train(self._name, given)
            absent.has_arguments = absent.has_arguments or any(isinstance(one, _ARGUMENTS) for one in given)
        return AbsentModule(self._module, is_made_of_model=_is_of_model(given))

    def __iter__(self) -> Iterator[Any]:
        if self._items is None:
            self._need()
        return iter(self._items)

    def __len__(self) -> int:
        if self._items is None:
            self._need()
        return len(self._items)

    def __enter__(self) -> Any:
        if self._module.partition(".")[0] not in _PROGRESS:
            self._need()
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __repr__(self) -> str:
        return f"<{self._module}, which is not here>"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __hash__(self) -> int:
        return id(self)

    def _need(self, *_: Any, **__: Any) -> NoReturn:
        if (session := current()) is not None:
            session.of(AbsentModules).wanted.add(self._module.partition(".")[0])
        message = f"No module named {self._module!r}"
        raise AbsentModuleError(message, name=self._module)


_VALUES = (
    "__bool__ __int__ __float__ __index__ __getitem__ __setitem__ __delitem__ __contains__ __next__ __array__ __eq__ "
    "__ne__ __lt__ __le__ __gt__ __ge__ __neg__ __abs__ __mro_entries__ __instancecheck__ __subclasscheck__ __await__ "
    "__round__ __fspath__ "
    + " ".join(
        f"__{side}{name}__"
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or")
        for side in ("", "r", "i")
    )
).split()
for _name in _VALUES:
    setattr(AbsentModule, _name, AbsentModule._need)


class Watching(AbsentModule):
    """A module that only shows, logs or downloads, or something of it: all that is done with it is done for nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Nothing happens."""
        return self

    def __iter__(self) -> Iterator[Any]:
        """As many parts as are taken (`figure, axes = subplots()`), else none."""
        return iter([self] * taken_apart(sys._getframe(1)))

    def __len__(self) -> int:
        return 0

    def __enter__(self) -> Any:
        return self

    def _itself(self, *_: Any, **__: Any) -> Any:
        return self

    def _number(self, *_: Any, **__: Any) -> int:
        return 0

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return self is other

    def __setitem__(self, *_: Any) -> None:
        return None

    __delitem__ = __setitem__
    __hash__ = AbsentModule.__hash__
    __int__ = __float__ = __index__ = __round__ = _number
    __getitem__ = __next__ = __neg__ = __abs__ = _itself


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or"):
    for _side in ("", "r", "i"):
        setattr(Watching, f"__{_side}{_name}__", Watching._itself)


def missing(problem: BaseException) -> str | None:
    """The module that an import lacked, also where a library says so in its own words (`paddle.utils.try_import`), or
    stumbles over what stands for it (`inspect` raises a `TypeError` from it)."""
    for one in (problem, problem.__cause__, problem.__context__):
        is_it = isinstance(one, ModuleNotFoundError if isinstance(problem, ImportError) else AbsentModuleError)
        if is_it and isinstance(one, ModuleNotFoundError) and not isinstance(one, PackageNotFoundError) and one.name:
            return one.name
    return None


def may_hold_a_model(module: str) -> bool:
    """Whether a module does more than to watch, as far as its name tells."""
    return module.partition(".")[0] not in _WATCHES | _PROGRESS


def is_gone(problem: BaseException) -> bool:
    """Whether an import names a part that an installed package does not have (`paddle.fluid`, `sklearn.externals`)."""
    top, _, part = (getattr(problem, "name", None) or "").partition(".")
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    is_installed = file.startswith((sys.prefix, sys.base_prefix))
    return isinstance(problem, ModuleNotFoundError) and bool(part) and is_installed


def taken_apart(frame: FrameType) -> int:
    """How many parts the running statement takes something apart into; 0 where it goes through all of them."""
    code = frame.f_code.co_code
    unpacks = dis.opmap["UNPACK_SEQUENCE"]
    return code[frame.f_lasti + 1] if 0 <= frame.f_lasti < len(code) - 1 and code[frame.f_lasti] == unpacks else 0


def _items(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a progress bar goes through: what it was given, or as many numbers (`trange`, `total=`)."""
    given = args[0] if args else kwargs.get("iterable", kwargs.get("total"))
    return range(given) if isinstance(given, int) else given


def _is_of_model(values: Any) -> bool:
    """Whether what is trained, or a part of it, is among these."""
    kinds = (paddle.Tensor, paddle.nn.Layer, paddle.optimizer.Optimizer, paddle.Model)
    if isinstance(values, dict):
        values = values.values()
    return any(_is_of_model(one) if isinstance(one, (list, tuple, dict)) else isinstance(one, kinds) for one in values)


def _may_train(name: str, given: list[Any]) -> bool:
    """Whether a call may hold the training itself: it is given an optimizer, or a model by the name of one that trains,
    or its name says that it is one."""
    has_optimizer = any(isinstance(one, paddle.optimizer.Optimizer) for one in given)
    is_one = _IS_A_TRAINING.match(name) is not None
    return has_optimizer or is_one or (_TRAINS.search(name) is not None and _is_of_model(given))


_KNOWN: dict[str, type[AbsentModule]] = {}
"""What stands for a module of which more is known."""


def stands_for(*modules: str) -> Callable[[type[AbsentModule]], type[AbsentModule]]:
    """Have a class stand for modules."""

    def known(kind: type[AbsentModule]) -> type[AbsentModule]:
        _KNOWN.update(dict.fromkeys(modules, kind))
        return kind

    return known


class AbsentModules:
    """What a trace went without.

    Attributes:
        modules: cell and line of the first import of each; None where Paddle imports it.
        parts: of each what was imported of it (`models.unet` of `models`): of a program's own, its files.
        is_starred: whether names of one of them were imported that nobody can list.
        trains: whether one of them was handed what it may have trained.
        has_arguments: whether one of them was handed those of a command line, or their parser, to which it may add.
        wanted: those of which a number or a part of one was taken.
    """

    def __init__(self) -> None:
        self.trains = self.has_arguments = False
        self.wanted: set[str] = set()
        self.modules: dict[str, tuple[int, int] | None] = {}
        self.parts: dict[str, dict[str, None]] = {}
        self.is_starred = False

    def needed(self) -> dict[str, tuple[int, int] | None]:
        """Those that the training may need; all where none of them is known to do more than to watch."""
        return {name: place for name, place in self.modules.items() if name not in _WATCHES | _PROGRESS} or self.modules

    def imported(
        self, cell: int, error: ModuleNotFoundError, module: str, line: int, *, is_star: bool = False
    ) -> AbsentModule:
        """What an import that failed gives; raises again where it is not the module itself that is missing.

        Args:
            cell, line: where it is imported.
            is_star: whether names of it are imported that nobody can list (`from m import *`).
        """
        top = module.partition(".")[0]
        is_another = error.name is None or error.name.partition(".")[0] != top
        # A package that is here and asks for the version that it was never installed with is not absent.
        if is_another or top in _FRAMEWORK or is_gone(error) or isinstance(error, PackageNotFoundError):
            raise error
        self.modules.setdefault(top, (cell, line))
        self.parts.setdefault(top, {})[module] = None
        self.is_starred = self.is_starred or is_star
        return _KNOWN.get(top, Watching if top in _WATCHES else AbsentModule)(top)


def try_import(session: Session, original: Callable[..., Any], module_name: str, *args: Any, **kwargs: Any) -> Any:
    """`paddle.utils.try_import` of the callbacks that keep a log (VisualDL, wandb)."""
    try:
        return original(module_name, *args, **kwargs)
    except ImportError:
        session.of(AbsentModules).modules.setdefault(module_name, None)
        return Watching(module_name)


class Imports(ast.NodeTransformer):
    """Lets the imports of a notebook's cells give a stand-in where a module is not there."""

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """The program's own way to live without a module."""
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        """`with suppress(ImportError)` is one as well."""
        return (
            node if any("suppress" in ast.dump(item.context_expr) for item in node.items) else self.generic_visit(node)
        )

    def visit_Import(self, node: ast.Import) -> Any:
        """`import m`, `import m.n as o`."""
        return [
            _guarded(ast.Import([one]), one.name, {one.asname or one.name.partition(".")[0]: ""}, node)
            for one in node.names
        ]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """`from m import n`; names that `*` binds are not known."""
        if node.level or not node.module or node.module == "__future__":
            return node
        bound = {one.asname or one.name: f".{one.name}" for one in node.names if one.name != "*"}
        return _guarded(node, node.module, bound, node)


def _guarded(importing: ast.stmt, module: str, bound: dict[str, str], place: ast.stmt) -> ast.Try:
    """The import with what its names are bound to where it fails."""
    star = "" if bound else ", is_star=True"
    lines = [f"__absent__ = {IMPORTED}(__absent__, {module!r}, {place.lineno}{star})"]
    lines += [f"{name} = __absent__{rest}" for name, rest in bound.items()]
    handler = ast.ExceptHandler(
        ast.Name("ModuleNotFoundError", ast.Load()), "__absent__", ast.parse("\n".join(lines)).body
    )
    guarded = ast.Try([ast.copy_location(importing, place)], [handler], [], [])
    for inner in ast.walk(guarded):
        ast.copy_location(inner, place)
    return guarded
