"""The outside world of the user's program while it is traced: nothing is downloaded, written or asked of a device."""

from __future__ import annotations

import functools
import inspect
import io
import os
import re
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, cast

import paddle
from paddle.jit.dy2static.function_spec import FunctionSpec

from .. import call_stack
from ..eager import compiled
from ..eager.compiled import Compiled
from ..memory.dtypes import name_of
from ..program.asking import Types
from ..session import Session, current, paused
from ..step.steps import StepWatch
from ..undecided.absent_data import AbsentData
from . import absent_modules
from .awaited import Awaited
from .patch import Patch
from .saved_states import AbsentWeights, SavedStates

if TYPE_CHECKING:
    from ..eager.tensors import Tensors

WEIGHTS = "weights-not-needed:"
"""Begins the stand-in path of pretrained weights, which change no size."""


class DownloadNeeded(BaseException):
    """The program wants data that is not on this machine."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


def _refuse(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> NoReturn:
    raise DownloadNeeded(str(args[0] if args else kwargs.get("url", "")))


def _cached(  # noqa: PLR0917 - Paddle's signature
    session: Session, original: Callable[..., Any], url: str, module_name: str, md5sum: Any, save_name: Any = None
) -> Any:
    """`paddle.dataset.common.download`: a file that is there already is used."""
    folder = os.path.join(paddle.dataset.common.DATA_HOME, module_name)  # noqa: PTH118 - mirrors Paddle's own path
    path = os.path.join(folder, url.split("/")[-1] if save_name is None else save_name)  # noqa: PTH118
    if not os.path.exists(path):  # noqa: PTH110
        raise DownloadNeeded(url)
    return original(url, module_name, md5sum, save_name)


def _weights(session: Session, original: Callable[..., Any], url: str, *args: Any, **kwargs: Any) -> str:
    return WEIGHTS + url


def _fetched(session: Session, original: Callable[..., Any], url: str, *args: Any, **kwargs: Any) -> str:
    """`get_path_from_url`: weights are not needed; data is asked for, and where the program goes on without it, it has
    the path at which it would lie."""
    if str(url).endswith(_PARAMETERS):
        return WEIGHTS + url
    folder = args[0] if args else kwargs.get("root_dir")
    if not session.of(AbsentData).is_lazy or not isinstance(folder, (str, os.PathLike)):
        _refuse(session, original, url)
    name = str(url).split("/")[-1].split("?")[0]
    return os.path.join(folder, _ARCHIVE.sub("", name) if kwargs.get("decompress", True) else name)  # noqa: PTH118


_ARCHIVE = re.compile(r"(\.tar(\.\w+)?|\.tgz|\.zip)$")
"""What Paddle unpacks behind a download."""


_PARAMETERS = (".pdparams", ".pdopt", ".pdema")
"""What names of files end with that hold states of models and optimizers."""


def _load(session: Session, original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> Any:
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else ""
    is_weights = isinstance(name, str) and name.startswith(WEIGHTS)
    is_state = is_weights and name.endswith(_PARAMETERS)
    saved, watch = session.of(SavedStates), session.of(StepWatch)
    is_behind = (watch.beyond.is_on or watch.rest.is_on) and not (name and _is_there(name))
    if saved.holds(path) or (is_behind and saved.holds_alike(path)):
        return saved.load(cast("Tensors", session), path, *args, **kwargs)
    # As Paddle looks for it: what is saved in two files is loaded by the name that both begin with.
    if is_state or (name and not is_weights and not _is_there(name)):
        if not is_state:
            _miss(session, functools.partial(original, path, *args, **kwargs), name)
        session.note("weights_absent")
        return AbsentWeights("" if is_weights else name)
    return {} if is_weights else original(path, *args, **kwargs)


def _miss(session: Session, load: Callable[[], Any], name: str) -> None:
    """Behind an update, a file that nothing of the program writes is one that its author named wrongly: Paddle says so.
    (Before, its weights come from elsewhere, and change no size.)"""
    watch = session.of(StepWatch)
    rest, is_in_round = watch.rest, bool(watch.updates) and not watch.trainings
    if (rest.is_on or is_in_round) and not rest.may_write(name):
        try:
            load()
        except Exception as problem:
            rest.missing = problem
            raise


def _is_there(name: str) -> bool:
    """Whether there is a file that `paddle.load` may take by this name."""
    return any(os.path.exists(name + end) for end in ("", *_PARAMETERS))  # noqa: PTH110


def _model_load(
    session: Session, original: Callable[..., Any], self: Any, path: Any, *args: Any, **kwargs: Any
) -> None:
    """`Model.load`: a model whose weights are not here, or that were saved in this run, keeps its own."""
    if session.of(SavedStates).holds(f"{os.path.splitext(path)[0]}.pdparams"):  # noqa: PTH122 - as Paddle does it
        return
    if _is_there(str(path)) or os.path.exists(f"{path}.pdmodel"):  # noqa: PTH110
        original(self, path, *args, **kwargs)
    else:
        _miss(session, functools.partial(original, self, path, *args, **kwargs), str(path))
        session.note("weights_absent")


def _nothing(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Nothing is done; a call that Python refuses is refused in its words."""
    if inspect.isfunction(original):
        _signature(original)(*args, **kwargs)


def _saved(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """`paddle.save(...)`: no numbers are written; what is no place to write to, and a layer, which Paddle saves by its
    state alone, are refused by Paddle itself."""
    _nothing(session, original, *args, **kwargs)
    path, thing = (kwargs[name] if name in kwargs else args[at] for name, at in (("path", 1), ("obj", 0)))
    is_file = isinstance(path, (str, os.PathLike))
    if not is_file and not hasattr(path, "write"):
        original(*args, **kwargs)
    if is_file and not os.path.basename(path):  # noqa: PTH119 - as Paddle does it
        _refused(session, functools.partial(original, *args, **kwargs))
    layer = next(_layers(thing), None)
    if layer is not None:
        _refused(session, functools.partial(original, layer, io.BytesIO()))
    if paddle.in_dynamic_mode():
        session.of(SavedStates).save(cast("Tensors", session), thing, path)


def _layers(thing: Any) -> Iterator[paddle.nn.Layer]:
    """The layers in what is saved."""
    if isinstance(thing, paddle.nn.Layer):
        yield thing
    elif type(thing) in {dict, list, tuple}:
        for one in thing.values() if isinstance(thing, dict) else thing:
            yield from _layers(one)


def _refused(session: Session, call: Callable[[], Any]) -> None:
    """Ask Paddle itself, which looks at no numbers before it refuses."""
    try:
        with paused():
            call()
    except (ValueError, TypeError) as problem:
        raise session.refused(problem) from None


def _model_saved(session: Session, original: Callable[..., Any], self: Any, path: Any, training: bool = True) -> None:
    """`Model.save(path)`: states are saved as by `paddle.save`, an export is not made."""
    if training and paddle.in_dynamic_mode():
        original(self, path, training)


@functools.cache
def _signature(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the same name that takes the same arguments and does nothing."""
    places = inspect.signature(function).parameters.values()
    taken = [one.replace(annotation=one.empty, default=one.empty if one.default is one.empty else 0) for one in places]
    names: dict[str, Any] = {}
    exec(f"def {function.__name__}{inspect.Signature(taken)}: pass", names)
    found: Callable[..., Any] = names[function.__name__]
    return found


class Exports:
    """What was exported in this run, by the path that it is loaded by."""

    def __init__(self) -> None:
        self.layers: dict[str, Any] = {}


def _exported(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """`paddle.jit.save(...)`: nothing is written; without the shapes of its inputs Paddle exports no layer that no
    `to_static` stands for, and with those of other inputs none that cannot take them."""
    _nothing(session, original, *args, **kwargs)
    given = dict(zip(("layer", "path", "input_spec"), args, strict=False)) | kwargs
    layer, specs = given["layer"], given.get("input_spec")
    if isinstance(given["path"], (str, os.PathLike)):
        session.of(Exports).layers[os.path.realpath(given["path"])] = layer
    forward = layer.forward if isinstance(layer, paddle.nn.Layer) else None
    if isinstance(forward, Exported) and isinstance(forward.specs, (list, tuple)) and specs is None:
        if paddle.in_dynamic_mode() and session.of(StepWatch).rest.is_on:
            _takes(cast("Tensors", session), layer, forward.specs)
        return
    if not inspect.ismethod(forward) or hasattr(forward, "__wrapped__") or not paddle.in_dynamic_mode():
        return
    if not isinstance(specs, (list, tuple)):
        _refused(session, functools.partial(original, *args, **kwargs))
    else:
        _refused(session, functools.partial(FunctionSpec(forward).unified_args_and_kwargs, tuple(specs), {}))
        if session.of(StepWatch).rest.is_on:
            _takes(cast("Tensors", session), layer, specs)


_BATCHES = (2, 1920)
"""Batches with which an export's inputs are tried that leave theirs open: few, and one that most sizes divide."""


_OF_BATCH = re.compile(rf"ReshapeOp|roadcast|[Cc]oncat|[Ss]tack|[Ee]xpand|(?<!\[)\b{_BATCHES[-1]}\b|\[{_BATCHES[-1]}\]")
"""What Paddle may not say of an open batch, beside which a fixed one stands (`paddle.zeros([2, 16, 64])`)."""


_STATE = "PreState"
"""A state of a recurrent layer has the batch that its inputs have, also where that is open (`RnnInferMeta`)."""


def _takes(runtime: Tensors, layer: Any, specs: Any) -> None:
    """Let a layer refuse the inputs that it is to be exported for, whatever their batch is. No kernel runs: what only
    kernels refuse (other channels, types, labels out of bounds) is exported."""
    shapes = [(list(one.shape), name_of(one.dtype)) for one in specs if isinstance(one, paddle.static.InputSpec)]
    if len(shapes) < len(specs) or any(size in {-1, None} for shape, _ in shapes for size in shape[1:]):
        return  # what it takes at an open size nobody knows
    is_open = any(size in {-1, None} for shape, _ in shapes for size in shape)
    for batch in _BATCHES:
        sizes = [(tuple(batch if size in {-1, None} else size for size in shape), dtype) for shape, dtype in shapes]
        given = [runtime.create("to_tensor", shape, dtype) for shape, dtype in sizes]
        types = runtime.of(Types)
        types.is_exported = True
        try:
            with paddle.no_grad():
                layer(*given)
        except Exception as problem:
            if (lacks := compiled.lacking(problem)) is not None:
                raise runtime.refused(lacks) from None
            may_hang = is_open and _STATE not in str(problem) and _OF_BATCH.search(str(problem))
            if not (runtime.is_refusal(problem) or _is_of_paddle(problem)) or may_hang:
                return
            if batch == _BATCHES[-1]:
                said = re.sub(rf"\b{batch}\b", "-1", str(problem))  # as an export has it
                raise runtime.refused(type(problem)(said)) from None
        else:
            return
        finally:
            types.is_exported = False


_BY_FUNCTIONS = tuple(call_stack.PADDLE + place for place in ("tensor/", "nn/functional/", "nn/layer/"))
"""Paddle's own functions and layers, which look at shapes, arguments and names before an operator does."""


def _is_of_paddle(problem: Exception) -> bool:
    """Whether one of those refuses it, in an export as in a step (`layer_norm` of another width)."""
    frames = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(problem.__traceback__)]
    is_of_kind = isinstance(problem, (ValueError, TypeError, AttributeError, AssertionError))
    return is_of_kind and bool(frames) and frames[-1].startswith(_BY_FUNCTIONS)


def _export_loaded(session: Session, original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> Any:
    """`paddle.jit.load(...)`: what was exported in this run is the layer that it was."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else ""
    held = session.of(Exports).layers.get(os.path.realpath(name)) if name else None
    if held is not None:
        return held
    if isinstance(name, str) and name and not any(map(os.path.exists, (f"{name}.json", f"{name}.pdmodel"))):
        _miss(session, functools.partial(original, path, *args, **kwargs), name)
    return original(path, *args, **kwargs)


class Exported:
    """A layer's `forward` behind `paddle.jit.to_static`: it runs as written, and has the graph of an export, empty.

    Args:
        forward: the layer's own.
        specs: of its inputs, as they were given to `to_static`.
        is_whole: whether all of it has to be one program (`full_graph=True`).
    """

    outputs: tuple[Any, ...] = ()
    inputs: tuple[Any, ...] = ()

    def __init__(self, forward: Callable[..., Any], specs: Any = None, *, is_whole: bool = False) -> None:
        self.specs, self._is_whole = specs, is_whole
        functools.update_wrapper(self, forward)
        self.__signature__ = inspect.signature(forward)
        self._forward = forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The layer's outputs."""
        is_other = isinstance(self.specs, (list, tuple)) and (len(args) < len(self.specs) or bool(kwargs))
        if is_other and (session := current()) is not None:
            spec = FunctionSpec(self._forward, self.specs)
            _refused(session, lambda: spec.args_to_input_spec(*spec.unified_args_and_kwargs(args, dict(kwargs))))
        if self._is_whole and (more := compiled.too_many(self.specs, (*args, *kwargs.values()))) is not None:
            raise more if (session := current()) is None else session.refused(more)
        return self._forward(*args, **kwargs)

    @property
    def main_program(self) -> Any:
        """What a trainer asks for which inputs its export keeps."""
        return paddle.static.Program()


def _undecorated(
    session: Session, original: Callable[..., Any], function: Any = None, *args: Any, **kwargs: Any
) -> Any:
    """`paddle.jit.to_static`, with or without arguments: the program is traced as written, its gradients kept
    together."""
    if function is None:
        return lambda decorated: _undecorated(session, original, decorated)
    is_layer = isinstance(function, paddle.nn.Layer)
    owner = function if is_layer else getattr(function, "__self__", None)
    if isinstance(owner, paddle.nn.Layer):
        session.of(Compiled).add(owner)
    if not is_layer:
        return _compiling(function) if inspect.isfunction(function) else function
    if not isinstance(function.forward, Exported):
        specs = args[0] if args else kwargs.get("input_spec")
        if specs is not None and not isinstance(specs, (list, tuple)):
            _refused(session, functools.partial(FunctionSpec, function.forward, specs))
        function.forward = Exported(function.forward, specs, is_whole=kwargs.get("full_graph") is True)
    return function


def _compiling(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function behind `to_static`: of a method, the layer that it is called with is compiled."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        session = current()
        if session is not None and args and isinstance(args[0], paddle.nn.Layer):
            session.of(Compiled).add(args[0])
        return function(*args, **kwargs)

    return called


def _file(session: Session, original: Callable[..., Any], thing: Any) -> str:
    """`inspect.getfile`: the script's own, not the cell's that it runs as. Hydra looks for its configuration beside."""
    file = str(original(thing))
    return str(getattr(thing, "__globals__", {}).get("__file__", file)) if call_stack.is_cell(file) else file


def _mapped(session: Session, original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> Any:
    """`pyarrow.memory_map`, below Hugging Face's `load_dataset`: its own C opens the file, which may be one that this
    program has written and that only Python's `open` knows the place of."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as is asked for
            return original(f"/proc/self/fd/{file.fileno()}", *args, **kwargs)
    except OSError:
        return original(path, *args, **kwargs)


def patches() -> Iterator[Patch]:
    """What would leave the process: files, downloads, graphs that run elsewhere."""
    yield Patch(Awaited("pyarrow"), "memory_map", _mapped)
    yield from (Patch(owner, name, replacement) for owner, name, replacement in _REPLACED)
    yield from (Patch(Awaited(module), "get_path_from_url", _fetched) for module in _COPIES)
    for name in dir(paddle.vision.models):
        module = getattr(paddle.vision.models, name)
        if hasattr(module, "get_weights_path_from_url"):
            yield Patch(module, "get_weights_path_from_url", _weights)


_COPIES = ("ppgan.utils.download", "paddlenlp.utils.downloader")
"""Modules of trainers with a `get_path_from_url` of their own."""

_REPLACED: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
    (inspect, "getfile", _file), (paddle, "save", _saved), (paddle, "load", _load), (paddle.jit, "save", _exported),
    (paddle.jit, "load", _export_loaded), (paddle.jit, "to_static", _undecorated),
    (paddle.hapi.model.Model, "save", _model_saved),
    (paddle.hapi.model.Model, "load", _model_load), (paddle.utils, "run_check", _nothing),
    (paddle.utils.install_check, "run_check", _nothing),
    (paddle.utils.download, "get_weights_path_from_url", _weights),
    (paddle.utils.download, "get_path_from_url", _fetched), (paddle.utils.download, "_download", _refuse),
    (paddle.dataset.common, "download", _cached), (paddle.hapi.callbacks, "try_import", absent_modules.try_import),
)  # fmt: skip
