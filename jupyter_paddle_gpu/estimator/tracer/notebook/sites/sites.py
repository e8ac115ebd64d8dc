"""Where the code of a notebook may train, read without running it: how many trainings to look for, and where.

A site is a statement outside of functions that holds a training: a loop with a backward pass, a `fit`, a call of a
function that does one of them. Bare steps outside of any loop are none: they show what a gradient is.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..dead import decided
from ..syntax import children, nodes, parsed
from .holdings import SEVERAL, Holding, Site
from .words import (
    BY_NAME,
    FITS,
    IN_PLACE,
    LOOKED_UP,
    STARTERS,
    ancestors,
    feeds,
    gives_parameters,
    is_for_scripts,
    name_of,
    names_of,
    of_scikit_learn,
    scripts_in,
    takes,
    texts,
)

STEPS = frozenset(("backward", "minimize", "train_batch"))
"""Calls that are a part of one step: trainings where a loop repeats them."""
TRAININGS = frozenset(("fit",))
"""Calls that train on their own."""
OPTIMIZERS = frozenset(
    (
        *("Adam", "AdamW", "SGD", "Momentum", "RMSProp", "Adagrad", "Adadelta", "Adamax", "Lamb", "LBFGS", "NAdam"),
        *("RAdam", "ASGD", "Rprop", "LarsMomentum"),
    )
)
COMMAND = "__command__"
"""The name under which cells call what their commands do; `estimator.sources.commands` writes such calls."""
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_EACH = frozenset(("map", "imap", "starmap", "optimize", "apply"))
"""Calls that call a function which they are given, commonly several times."""
_AHEAD = frozenset(("submit", "apply_async", "run_in_executor", "to_thread"))
"""Calls that have a function which they are given called once, in another thread: `pool.submit(train, 64)`."""
_IMPORTS = (ast.Import, ast.ImportFrom)
_SEPARATE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Sites:
    """The sites of a notebook.

    Args:
        cells: list of {index, source}.
        beside: sources by path of scripts that it runs and of modules whose functions it may call.
    """

    def __init__(self, cells: Iterable[dict[str, Any]], beside: Mapping[str, str] | None = None) -> None:
        cells, beside = list(cells), beside or {}
        trees = [(cell["index"], parsed(cell["source"])) for cell in cells]
        self.beside = {path: parsed(source) for path, source in beside.items()}
        self._functions: dict[str, list[ast.AST]] = {}
        self._methods: set[str] = set()
        self._lines: dict[str, list[str]] = {}
        """Scripts that stand in lines of a shell, or in lists of words, by the name that holds them."""
        self._properties: set[str] = set()
        self._known: dict[str, Holding] = {}
        self._names: dict[str, list[ast.AST | str]] = {}
        """Functions, by name or as what they give, that a name may stand for."""
        self.dear: set[tuple[str, frozenset[str]]] = set()
        """Statements that were run with made-up data for long and told nothing, each with the names that were answered
        then."""
        sources = [*(cell["source"] for cell in cells), *beside.values()]
        self._read(sources)
        everything = [node for source in sources for node in nodes(source)]
        self._texts = {one.value for one in everything if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        self._called_nodes = {id(node.func) for node in everything if isinstance(node, ast.Call)}
        self._bind(everything)
        self._fitted = frozenset(name for source in sources if FITS in source for name in of_scikit_learn(source))
        self.all: list[Site] = []
        self.seen_only: set[int] = set()
        """Cells that were seen to train, where reading them did not tell."""
        self._calling = [cell for cell, tree in trees if any(map(_calls, tree.body))]
        self._ends = {cell: max((node.end_lineno or 1 for node in tree.body), default=1) for cell, tree in trees}
        self._find(trees)

    def _find(self, trees: Iterable[tuple[int, ast.Module]]) -> None:
        """Find the statements of cells that train."""
        imported: set[str] = set()
        for cell, node in ((cell, node) for cell, tree in trees for node in tree.body):
            if isinstance(node, _IMPORTS):  # which run a module once
                files = set(self._modules_of(node)) - imported
                imported |= files
                count = min(sum(self._of_module(file).trainings for file in files), SEVERAL)
            else:
                count = self.held(node).trainings
            if count:
                begin, end = node.lineno, node.end_lineno or node.lineno
                if self.all and (self.all[-1].cell, self.all[-1].end) == (cell, begin):  # `train(8); train(256)`
                    begin, count = self.all[-1].line, self.all.pop().trainings + count
                self.all.append(Site(cell, begin, end, count))

    def _read(self, sources: Iterable[str]) -> None:
        """Find the functions, the classes and the scripts that names stand for."""
        bases: dict[str, list[str]] = {}
        for source in sources:
            for node in nodes(source):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self._functions.setdefault(node.name, []).append(node)
                    if any(name_of(one).endswith("property") for one in node.decorator_list):
                        self._properties.add(node.name)
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    self._lines[node.targets[0].id] = scripts_in(node.value)
                elif isinstance(node, ast.ClassDef):
                    methods = [one for one in node.body if isinstance(one, _SEPARATE[:2])]
                    self._methods |= {one.name for one in methods}
                    # `Experiment(width)` runs its `__init__`.
                    self._functions[node.name] = [one for one in methods if one.name == "__init__"]
                    bases[node.name] = [name_of(one) for one in node.bases]
                    if calls := [one for one in methods if one.name == "__call__"]:
                        self._functions[f"{node.name}.__call__"] = list(calls)
        for kind in bases:
            if inherited := next((one for one in ancestors(kind, bases) if f"{one}.__call__" in self._functions), None):
                self._functions[f"{kind}.__call__"] = self._functions[f"{inherited}.__call__"]

    @property
    def are_several(self) -> bool:
        """Whether the notebook may hold more than one training."""
        return sum(site.trainings for site in self.all) >= SEVERAL

    def seen_in(self, cell: int) -> bool:
        """A cell was seen to train. Whether that is news, and another one behind it may train: then there are several.
        Where reading told of no training at all, every later cell may."""
        known = {site.cell for site in self.all}
        later = [one for one in self._calling if one > cell and not known]
        if cell in known or not (later or max(known, default=-1) > cell):
            return False
        self.seen_only.update((cell, *later))
        new = [Site(one, 1, self._ends.get(one, 1), SEVERAL) for one in (cell, *later)]
        self.all = sorted([*self.all, *new], key=lambda one: (one.cell, one.line))
        return True

    def at(self, cell: int, line: int) -> Site | None:
        """The site to which a line belongs."""
        return next((site for site in self.all if site.cell == cell and site.line <= line <= site.end), None)

    def begun(self, cell: int, line: int) -> Site | None:
        """The same, else the last one of the cell before it, whose thread goes on."""
        before = [site for site in self.all if site.cell == cell and site.line <= line]
        return self.at(cell, line) or (before[-1] if before else None)

    def behind(self, cell: int, line: int, *, is_through: bool = False) -> bool:
        """Whether there is another site behind a line, or, unless that is known to be through, more than one training
        in the line's own."""
        own = self.at(cell, line)
        if own is not None and own.trainings >= SEVERAL and not is_through:
            return True
        return any((site.cell, site.line) > (cell, line) and site is not own for site in self.all)

    def held(self, node: ast.AST) -> Holding:
        """What a statement holds; what it defines is looked at where it is called."""
        if isinstance(node, _SEPARATE):
            return Holding()
        if isinstance(node, _IMPORTS):
            return self._each_module(self._modules_of(node))
        if isinstance(node, _LOOPS):
            body = self._each(node.body).repeated()
            began = self.held(node.test if isinstance(node, ast.While) else node.iter)
            return began | body | self._each(node.orelse)
        if isinstance(node, _COMPREHENSIONS):
            return self._each(children(node)).repeated()
        if isinstance(node, ast.If):
            way = decided(node.test, {})
            arms = (node.test, *(node.body if way is not False else ()), *(node.orelse if way is not True else ()))
            return self._each(arms)
        found = self._called(node) | self._given(node) if isinstance(node, ast.Call) else Holding()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):  # `Trainer(net)()`
            name = f"{name_of(node.func)}.__call__"
            found |= self._of_function(name) if name in self._functions else Holding()
        if isinstance(node, ast.Attribute) and node.attr in self._properties:
            found = self._of_function(node.attr)
        return found | self._each(children(node))

    def _bind(self, everything: Iterable[ast.AST]) -> None:
        """What names stand for that are called later: `go = partial(train, batch=8)`, `for run in runs: run()`."""
        for node in everything:
            if isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            elif isinstance(node, (ast.For, ast.AsyncFor)):
                targets, value = [node.target], node.iter
            else:
                continue
            if meant := self._handed(value):
                names = (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
                self._names.update(dict.fromkeys(names, meant))

    def _handed(self, value: ast.AST) -> list[ast.AST | str]:
        """Functions in an expression that it does not call, and classes of objects in it that can be called."""
        found: list[ast.AST | str] = []
        for one in ast.walk(value):
            if isinstance(one, ast.Lambda):
                found.append(one.body)
            elif isinstance(one, ast.Name) and id(one) in self._called_nodes:
                found += [f"{one.id}.__call__"] * (f"{one.id}.__call__" in self._functions)
            elif isinstance(one, ast.Name):
                found += [one.id] if one.id in self._functions else self._names.get(one.id, [])
        return list(dict.fromkeys(found))  # each once: `x = f(x) + x`, again and again, would double them

    def _meant(self, called: ast.AST) -> list[ast.AST | str]:
        if isinstance(called, ast.Name):
            return self._names.get(called.id, [])
        if name_of(called if isinstance(called, ast.Call) else getattr(called, "value", called)) in LOOKED_UP:
            return self._by_text(called)
        return self._handed(called) if isinstance(called, (ast.Subscript, ast.Call)) else []

    def _by_text(self, called: ast.AST) -> list[ast.AST | str]:
        """Functions that `getattr(lib, name)` and `globals()[name]` may give: the one whose name stands there, else all
        whose names stand anywhere as a text."""
        own = {one.value for one in ast.walk(called) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        return [name for name in self._functions if name in (own or self._texts)]

    def _most_of(self, meant: Iterable[ast.AST | str]) -> Holding:
        found = Holding()
        for one in meant:
            found = _most(found, self._of_function(one) if isinstance(one, str) else self._of_lambda(one))
        return found

    def _of_lambda(self, body: ast.AST) -> Holding:
        key = f"lambda {id(body)}"
        if key not in self._known:
            self._known[key] = Holding()  # one that calls itself adds nothing
            self._known[key] = self.held(body)
        return self._known[key]

    def _given(self, call: ast.Call) -> Holding:
        """What is held by functions that a call is given to call: `map(lambda width: train(width), widths)`."""
        found = Holding()
        for one in self._called_by(call):
            if isinstance(one, ast.Lambda):
                found |= self.held(one.body)
            elif isinstance(one, (ast.Name, ast.Attribute)) and name_of(one) in self._functions:
                found |= self._of_function(name_of(one))
        return found.repeated() if name_of(call.func) in _EACH else found

    def _called_by(self, call: ast.Call) -> Iterator[ast.expr]:
        """What a call is given that is called there: `Thread(target=train)`, `timed(train)` of a function of the code's
        own that calls what it is given."""
        name = name_of(call.func)
        if name in _EACH | _AHEAD:
            yield from call.args
        yield from (one.value for one in call.keywords if one.arg == "target")
        for function in self._functions.get(name, ()):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                called = {name_of(one.func) for one in ast.walk(function) if isinstance(one, ast.Call)}
                own = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
                given = [*zip(own, call.args, strict=False), *((one.arg, one.value) for one in call.keywords)]
                yield from (value for argument, value in given if argument in called)

    def is_idle(self, name: str) -> bool:
        """Whether a function of the code's own holds no part of a training."""
        return name in self._functions and not self._of_function(name).trains

    def trains_in(self, name: str) -> bool:
        """Whether a function of the code's own holds a whole training."""
        return name in self._functions and self._of_function(name).trainings > 0

    def _each(self, nodes: Iterable[ast.AST]) -> Holding:
        found = Holding()
        for node in nodes:
            found |= self.held(node)
        return found

    def _called(self, call: ast.Call) -> Holding:
        name = name_of(call.func)
        if name in STEPS or (name == "run" and feeds(call)):
            return Holding(steps=True)
        if name in OPTIMIZERS or (name in TRAININGS and not self._fitted.isdisjoint(names_of(call.func)[1:])):
            return Holding(makes=name in OPTIMIZERS)
        if name not in self._functions and (meant := self._meant(call.func)):
            return self._most_of(meant)
        if name == COMMAND or (name in STARTERS and self._scripts_of(call)) or name in IN_PLACE | BY_NAME:
            return self._run(call, name)
        own = name in self._functions and any(takes(one, call) for one in self._functions[name])
        made = Holding(makes=gives_parameters(call))  # an optimizer of the code's own, or by another name
        if own and not (self._is_paddles(call) and name not in self._methods):
            return made | self._of_function(name)
        found = made | Holding(trainings=int(self._is_paddles(call)))
        # `def fit(model): model.fit(data)`: what has the name of the code's own function need not be that one.
        return _most(found, self._of_function(name)) if own else found

    def _run(self, call: ast.Call, name: str) -> Holding:
        """What a call runs that stands in a file."""
        if name == COMMAND:
            return self._of_command(call.args)
        if name in BY_NAME:
            files = self._files_of(texts(call))
            return self._each_of(files) if name == "run_module" else self._each_module(files)
        return self._each_of(scripts_in(call) if name in IN_PLACE else self._scripts_of(call))

    @staticmethod
    def _is_paddles(call: ast.Call) -> bool:
        """Whether a call has the name of one of Paddle's trainings. `model.train()` sets a mode; `trainer.train()`
        trains."""
        if not isinstance(call.func, ast.Attribute):
            return False
        name = call.func.attr
        return name in TRAININGS or (name == "train" and "trainer" in name_of(call.func.value).lower())

    def _of_command(self, asked: list[ast.expr]) -> Holding:
        kind, path = (getattr(one, "value", None) for one in (asked[0], asked[3]))
        if kind not in {"python", "module", "launch", "cell", "run"} or not isinstance(path, str):
            return Holding()
        return self._of_script(path)

    def _scripts_of(self, call: ast.Call) -> list[str]:
        names = (one.id for given in call.args for one in ast.walk(given) if isinstance(one, ast.Name))
        named = [self._lines[name] for name in names if name in self._lines]
        return [*scripts_in(call), *(script for scripts in named for script in scripts)]

    def _each_of(self, scripts: Iterable[str]) -> Holding:
        found = Holding()
        for script in scripts:
            found |= self._of_script(script)
        return found

    def _of_script(self, path: str) -> Holding:
        path = os.path.normpath(path)
        for known, tree in self.beside.items():
            if known == path or known.endswith("/" + path):
                key = f"script {known}"
                if key not in self._known:
                    self._known[key] = Holding()  # a script that starts itself adds nothing
                    found = self._each(tree.body)
                    self._known[key] = Holding(False, found.trainings, found.makes)
                return self._known[key]
        return Holding()

    def _modules_of(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        """The files beside the notebook that an import runs."""
        if isinstance(node, ast.Import):
            return self._files_of(alias.name for alias in node.names)
        module = node.module or ""
        return self._files_of([module, *(f"{module}.{alias.name}".lstrip(".") for alias in node.names)])

    def _files_of(self, modules: Iterable[str]) -> list[str]:
        paths = [name.replace(".", "/") + end for name in modules if name for end in (".py", "/__init__.py")]
        return [known for known in self.beside for path in paths if known == path or known.endswith("/" + path)]

    def _each_module(self, files: Iterable[str]) -> Holding:
        found = Holding()
        for file in files:
            found |= self._of_module(file)
        return found

    def _of_module(self, file: str) -> Holding:
        """What a module does as it is imported."""
        key = f"module {file}"
        if key not in self._known:
            self._known[key] = Holding()  # modules that import each other
            body = (one for one in self.beside[file].body if not is_for_scripts(one))
            found = self._each(body)
            self._known[key] = Holding(False, found.trainings, found.makes)
        return self._known[key]

    def _of_function(self, name: str) -> Holding:
        if name not in self._known:
            self._known[name] = Holding()  # a function that calls itself adds nothing
            found = Holding()
            for one in self._functions[name]:
                body = self._each(getattr(one, "body", ()))
                if body.makes and any(
                    isinstance(part, ast.Call) and name_of(part.func) == name for part in ast.walk(one)
                ):
                    body = body.repeated()  # it calls itself, and makes another optimizer then
                found = _most(found, body)  # methods of several classes share a name: the call is of one of them
            self._known[name] = found
        return self._known[name]


def _calls(node: ast.stmt) -> bool:
    """Whether a statement calls anything as it runs."""
    return not isinstance(node, _SEPARATE) and any(isinstance(part, ast.Call) for part in ast.walk(node))


def _most(one: Holding, other: Holding) -> Holding:
    """What a call holds that is of one of two."""
    return Holding(one.steps or other.steps, max(one.trainings, other.trainings), one.makes or other.makes)
