"""Where a step cannot be traced: run it for real at a tiny batch and read the CPU allocator, phase by phase.

One call measures one batch size; the server asks at several and fits each phase apart (`fallback.py`). The first steps
have no gradients and no optimiser state yet, so the third is the one that counts.
"""

from __future__ import annotations

import ast
import os
import types
from typing import Any

from .settling import settle

STEPS = 3
"""Steps that are run; the last is steady: gradients, optimiser state and prefetched batches are there."""


class _Done(BaseException):
    """Enough was measured; a BaseException passes through the notebook's own `except Exception`."""


class _Meter:
    """Peaks of the phases of the step that runs, from Paddle's own counters of host memory (bytes)."""

    def __init__(self, paddle: Any) -> None:
        core = paddle.base.core
        self._peak = core.host_memory_stat_peak_value
        # Paddle 2.6 cannot begin anew: there each phase has the peak of all before it, of the data's making as well.
        self._begin_anew = getattr(core, "host_memory_stat_reset_peak_value", None)
        self.phases: dict[str, int] = {}
        self.steps = 0
        self.sampler_batch: int | None = None
        self.optimizer: Any = None
        self.updating = False

    def mark(self, phase: str) -> None:
        """The phase that ends here had this peak (the larger one where it came more than once in a step), with all
        the batches beside it that its reader may hold: on a busy machine a small step is quicker than its reader."""
        settle()
        self.phases[phase] = max(self.phases.get(phase, 0), self._peak("Allocated", 0))
        if self._begin_anew is not None:
            self._begin_anew("Allocated", 0)

    @property
    def sees_phases(self) -> bool:
        """Whether each phase's own peak can be told."""
        return self._begin_anew is not None

    def end_step(self) -> None:
        """After an optimiser's update."""
        self.mark("update")
        self.steps += 1
        if self.steps == STEPS:
            raise _Done
        self.phases = {}


def measure_notebook(request: dict[str, Any]) -> dict[str, Any]:
    """Run the cells with batches of `request["measured_batch"]` until three steps are done.

    Returns the peaks by phase, the batch size that the notebook itself wanted, whether it could be changed, and the
    bytes of parameters, gradients and optimiser state. Exceptions of user code leave as they are.
    """
    import paddle

    meter = _Meter(paddle)
    wanted = int(request["measured_batch"])
    _hook_batches(paddle, meter, wanted)
    _hook_steps(paddle, meter)
    answers = dict(request.get("answers") or {})
    os.environ.update(request.get("environment") or {})
    for name, value in answers.items():  # variables of the environment are answered by their names too
        os.environ.setdefault(name, str(value))
    if name := request.get("batch_name"):
        answers[name] = wanted
    shell = types.SimpleNamespace(system=lambda line: None)  # of `!{line}`: no commands run here
    names: dict[str, Any] = {"__name__": "__main__", "get_ipython": lambda: shell, **answers}
    try:
        for cell in request["cells"]:
            tree = _Bind(answers).visit(ast.parse(cell["source"], f"cell {cell['index']}"))
            code = compile(ast.fix_missing_locations(tree), f"cell {cell['index']}", "exec", dont_inherit=True)
            exec(code, names)
    except _Done:
        return _report(paddle, meter, changed=bool(name) or meter.sampler_batch is not None)
    return {"steps": meter.steps}


def _report(paddle: Any, meter: _Meter, *, changed: bool) -> dict[str, Any]:
    def size(tensor: Any) -> int:
        return int(tensor.numel()) * int(tensor.element_size()) if tensor._is_initialized() else 0

    parameters = [one for one in (meter.optimizer._parameter_list or []) if not isinstance(one, dict)]
    trained = [one for one in parameters if not one.stop_gradient]
    states = meter.optimizer._accumulators
    return {
        "steps": meter.steps,
        "phases": meter.phases,
        "sees_phases": meter.sees_phases,
        "batch_size": meter.sampler_batch,
        "changed": changed,
        "optimizer": type(meter.optimizer).__name__,
        "parameters": sum(int(one.numel()) for one in parameters),
        "trainable": sum(int(one.numel()) for one in trained),
        "parameter_bytes": sum(map(size, parameters)),
        "gradient_bytes": sum(size(one.grad) for one in trained if one.grad is not None),
        "state_bytes": sum(size(tensor) for kind in states.values() for tensor in kind.values()),
        "paddle_version": paddle.__version__,
    }


def _hook_batches(paddle: Any, meter: _Meter, wanted: int) -> None:
    """Every batch sampler gives batches of the wanted size; the training one's own size is remembered."""
    sampler = paddle.io.BatchSampler
    original, loader = sampler.__init__, paddle.io.DataLoader.__init__

    def sampler_init(self: Any, *positional: Any, **named: Any) -> None:
        original(self, *positional, **named)
        if meter.sampler_batch is None:  # the first is, nearly always, the training set's
            meter.sampler_batch = self.batch_size
        self.batch_size = wanted

    def loader_init(self: Any, *positional: Any, **named: Any) -> None:
        named["num_workers"] = 0  # no processes in a child
        loader(self, *positional, **named)

    sampler.__init__ = sampler_init
    paddle.io.DataLoader.__init__ = loader_init


def _hook_steps(paddle: Any, meter: _Meter) -> None:
    backward = paddle.Tensor.backward

    def measured_backward(self: Any, *positional: Any, **named: Any) -> Any:
        meter.mark("forward")
        result = backward(self, *positional, **named)
        meter.mark("backward")
        return result

    paddle.Tensor.backward = measured_backward
    for kind in vars(paddle.optimizer).values():
        if isinstance(kind, type) and issubclass(kind, paddle.optimizer.Optimizer):
            # A loop by hand calls step(), paddle.Model calls minimize().
            for name in {"step", "minimize"} & vars(kind).keys():
                _hook_update(kind, name, meter)


def _hook_update(kind: Any, name: str, meter: _Meter) -> None:
    original = getattr(kind, name)

    def measured_update(self: Any, *positional: Any, **named: Any) -> Any:
        outermost, meter.updating = not meter.updating, True
        result = original(self, *positional, **named)
        if outermost:
            meter.updating = False
            meter.optimizer = self
            meter.end_step()
        return result

    setattr(kind, name, measured_update)


class _Bind(ast.NodeTransformer):
    """Where the notebook assigns a name that was answered, it gets the answer."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self._answers = answers

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`name = …` with an answered name."""
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id in self._answers:
            node.value = ast.Constant(self._answers[node.targets[0].id])
        return node
