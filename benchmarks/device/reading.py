"""Asks an NVIDIA card what it takes: `python reading.py QUESTIONS RESULT` on a machine with a driver, cuBLAS and cuDNN.

Imports nothing of this project but `card.py` beside it, so that both can be copied to a machine that has no Paddle;
cuBLAS and cuDNN are those of `pip install nvidia-cublas nvidia-cudnn-cu13` or of the system. `QUESTIONS` is written by
`kernels.py`. Every part runs in a process of its own, since a context cannot be taken back. Sizes in bytes.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from card import MIB, Card, Library, RefusedError, allocate, context, ints, pages

CONVOLUTION_LIMIT = 512 * MIB
"""`kDefaultConvWorkspaceSizeLimitMB` of Paddle's `cudnn_workspace_helper.h`."""
MOST_ALGORITHMS = 8
TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 9}
"""`cudnnDataType_t`."""
CELLS = {"RNN_RELU": 0, "RNN_TANH": 1, "LSTM": 2, "GRU": 3}
"""`cudnnRNNMode_t`."""
Handle = ctypes.c_void_p


class Perf(ctypes.Structure):
    """`cudnnConvolutionFwdAlgoPerf_t` and its two like ones."""

    _fields_ = (
        ("algo", ctypes.c_int),
        ("status", ctypes.c_int),
        ("time", ctypes.c_float),
        ("memory", ctypes.c_size_t),
        ("determinism", ctypes.c_int),
        ("math_type", ctypes.c_int),
        ("reserved", ctypes.c_int * 3),
    )


def contexts() -> list[dict[str, Any]]:
    """What a process takes as it comes to train: context, handles, first kernels of each library."""
    card = Card()
    steps: list[dict[str, Any]] = []
    before = card.used()

    def note(name: str) -> None:
        steps.append({"step": name, "process": card.mine(), "card": card.used() - before})

    driver = context()
    note("context")
    address = ctypes.c_uint64()
    driver("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(256 * MIB))
    driver("cuMemFree_v2", address)
    note("256 MiB taken and given back")
    runtime = Library("libcudart.so.13*", "libcudart.so.12*", "libcudart.so")
    runtime("cudaFree", None)
    note("CUDA runtime")
    blas = Library("libcublas.so.13*", "libcublas.so.12*", "libcublas.so")
    handle = Handle()
    blas("cublasCreate_v2", ctypes.byref(handle))
    note("cuBLAS handle")
    first, second, third = (allocate(driver, 64 * MIB) for _ in range(3))
    note("three tensors of 64 MiB")
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    for kind, name in ((0, "float32"), (2, "float16"), (14, "bfloat16")):
        blas(
            "cublasGemmEx", handle, 0, 0, 2048, 2048, 2048, ctypes.byref(one),
            first, kind, 2048, second, kind, 2048, ctypes.byref(zero), third, kind, 2048, 68, 99,
        )  # fmt: skip
        driver("cuCtxSynchronize")
        note(f"product in {name}")
    dnn = Library("libcudnn.so.9*", "libcudnn.so.8*", "libcudnn.so")
    cudnn = Handle()
    dnn("cudnnCreate", ctypes.byref(cudnn))
    note("cuDNN handle")
    for kind in ("float32", "float16"):
        for way in ("forward", "data", "filter"):
            question = {
                "way": way, "dtype": kind, "x": [32, 64, 56, 56], "y": [32, 64, 56, 56], "weight": [64, 64, 3, 3],
                "pads": [1, 1], "strides": [1, 1], "dilations": [1, 1], "groups": 1, "same": False,
            }  # fmt: skip
            asked = Convolution(dnn, question)
            asked.run(cudnn, driver, first, second, third)
            driver("cuCtxSynchronize")
            note(f"convolution {kind} {way}")
    return steps


class Convolution:
    """A question with its descriptors."""

    CALLS: ClassVar = {
        "forward": ("Forward", "xwcy"),
        "data": ("BackwardData", "wycx"),
        "filter": ("BackwardFilter", "xycw"),
    }

    def __init__(self, dnn: Library, question: dict[str, Any]) -> None:
        self._dnn = dnn
        kind = TYPES[question["dtype"]]
        rank = len(question["weight"]) - 2
        pads = question["pads"]
        x = list(question["x"])
        if question["same"] or len(pads) == 2 * rank:
            pads = self._even(question, rank, x)
        self._call, self._order = self.CALLS[question["way"]]
        self._made: dict[str, Handle] = {}
        for name, shape in (("x", x), ("y", question["y"])):
            self._made[name] = self._new("Tensor")
            dnn("cudnnSetTensorNdDescriptorEx", self._made[name], 0, kind, len(shape), ints(shape))
        self._made["w"] = self._new("Filter")
        weight = question["weight"]
        dnn("cudnnSetFilterNdDescriptor", self._made["w"], kind, 0, len(weight), ints(weight))
        self._made["c"] = self._new("Convolution")
        dnn(
            "cudnnSetConvolutionNdDescriptor", self._made["c"], rank,
            ints(pads), ints(question["strides"]), ints(question["dilations"]), 1, 0,
        )  # fmt: skip
        dnn("cudnnSetConvolutionGroupCount", self._made["c"], question["groups"])
        self._math(0 if question["dtype"] == "float32" else 1)
        self._half = question["dtype"] != "float32"

    @staticmethod
    def _even(question: dict[str, Any], rank: int, x: list[int]) -> list[int]:
        """Paddle pads by itself what is not the same on both sides; cuDNN gets the rest."""
        pads = question["pads"]
        pairs = list(zip(pads[::2], pads[1::2], strict=True)) if len(pads) == 2 * rank else [(p, p) for p in pads]
        if question["same"]:
            pairs = []
            for at in range(rank):
                size, stride, wide = x[2 + at], question["strides"][at], question["weight"][2 + at]
                both = max((-(-size // stride) - 1) * stride + wide - size, 0)
                pairs.append((both // 2, both - both // 2))
        for at, (first, last) in enumerate(pairs):
            x[2 + at] += abs(first - last)
        return [min(pair) for pair in pairs]

    def _new(self, name: str) -> Handle:
        made = Handle()
        self._dnn(f"cudnnCreate{name}Descriptor", ctypes.byref(made))
        return made

    def _math(self, kind: int) -> None:
        self._dnn("cudnnSetConvolutionMathType", self._made["c"], kind)

    def _descriptors(self) -> list[Handle]:
        return [self._made[letter] for letter in self._order]

    def algorithms(self, handle: Handle) -> list[Perf]:
        """Those of the heuristics, best first."""
        count, found = ctypes.c_int(), (Perf * MOST_ALGORITHMS)()
        self._dnn(
            f"cudnnGetConvolution{self._call}Algorithm_v7", handle, *self._descriptors(), MOST_ALGORITHMS,
            ctypes.byref(count), found,
        )  # fmt: skip
        return list(found[: count.value])

    def workspace(self, handle: Handle, algo: int) -> int:
        """Of this algorithm."""
        size = ctypes.c_size_t()
        self._dnn(
            f"cudnnGetConvolution{self._call}WorkspaceSize", handle, *self._descriptors(), algo, ctypes.byref(size)
        )
        return size.value

    def chosen(self, handle: Handle) -> tuple[int, int, list[dict[str, Any]]]:
        """(algorithm, workspace, all of them) as `SearchAlgorithm::FindAlgoHeuristic` of Paddle's `conv_cudnn_v7.h`
        chooses: the first; where it wants more than the limit, the first that wants less."""
        found = self.algorithms(handle)
        told = [{"algo": one.algo, "status": one.status, "memory": one.memory, "math": one.math_type} for one in found]
        best = found[0]
        self._math(1 if self._half and best.math_type == 1 else 0)
        size = self.workspace(handle, best.algo)
        if size > CONVOLUTION_LIMIT:
            best = next((one for one in found if not one.status and one.memory <= CONVOLUTION_LIMIT), best)
            self._math(1 if self._half and best.math_type == 1 else 0)
            size = self.workspace(handle, best.algo)
        return best.algo, size, told

    def run(self, handle: Handle, driver: Library, x: Any, w: Any, y: Any) -> None:
        """Once, on whatever lies there."""
        algo, size, _ = self.chosen(handle)
        room = allocate(driver, max(size, 256))
        data = {"x": x, "w": w, "y": y}
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        first, second, _, result = self._order
        self._dnn(
            f"cudnnConvolution{self._call}", handle, ctypes.byref(one), self._made[first], data[first],
            self._made[second], data[second], self._made["c"], algo, room, ctypes.c_size_t(size), ctypes.byref(zero),
            self._made[result], data[result],
        )  # fmt: skip
        driver("cuCtxSynchronize")
        driver("cuMemFree_v2", ctypes.c_uint64(room.value))

    def close(self) -> None:
        """Give the descriptors back."""
        for letter, name in (("x", "Tensor"), ("y", "Tensor"), ("w", "Filter"), ("c", "Convolution")):
            self._dnn(f"cudnnDestroy{name}Descriptor", self._made[letter])


class Recurrences:
    """Temporary space and reserve of recurrent kernels."""

    def __init__(self, dnn: Library, handle: Handle, driver: Library) -> None:
        self._dnn, self._handle = dnn, handle
        size = ctypes.c_size_t()
        dnn("cudnnDropoutGetStatesSize", handle, ctypes.byref(size))
        self.states = size.value
        self._dropout = Handle()
        dnn("cudnnCreateDropoutDescriptor", ctypes.byref(self._dropout))
        room = allocate(driver, self.states)
        dnn("cudnnSetDropoutDescriptor", self._dropout, handle, ctypes.c_float(0), room, ctypes.c_size_t(self.states),
            ctypes.c_ulonglong(1))  # fmt: skip

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """{work, reserve} in training."""
        dnn, kind = self._dnn, TYPES[question["dtype"]]
        steps, batch, width = question["x"]
        ways = 2 if question["both_ways"] else 1
        cells, data = Handle(), Handle()
        dnn("cudnnCreateRNNDescriptor", ctypes.byref(cells))
        dnn(
            "cudnnSetRNNDescriptor_v8", cells, 0, CELLS[question["mode"]], 2, ways - 1, 0, kind, 0,
            0 if question["dtype"] == "float32" else 1, width, question["hidden"], question["hidden"],
            question["layers"], self._dropout, 0,
        )  # fmt: skip
        dnn("cudnnCreateRNNDataDescriptor", ctypes.byref(data))
        fill = ctypes.c_float(0)
        dnn("cudnnSetRNNDataDescriptor", data, kind, 1, steps, batch, width, ints([steps] * batch), ctypes.byref(fill))
        work, reserve = ctypes.c_size_t(), ctypes.c_size_t()
        dnn("cudnnGetRNNTempSpaceSizes", self._handle, cells, 1, data, ctypes.byref(work), ctypes.byref(reserve))
        weights = ctypes.c_size_t()
        dnn("cudnnGetRNNWeightSpaceSize", self._handle, cells, ctypes.byref(weights))
        return {"work": work.value, "reserve": reserve.value, "weights": weights.value}


def recurrences() -> list[dict[str, Any]]:
    """A grid of cells, from which a rule can be read."""
    grid = []
    for mode in CELLS:
        for steps, batch, width, hidden, layers, both in (
            (10, 4, 8, 16, 1, False), (20, 4, 8, 16, 1, False), (10, 8, 8, 16, 1, False), (10, 4, 16, 16, 1, False),
            (10, 4, 8, 32, 1, False), (10, 4, 8, 16, 2, False), (10, 4, 8, 16, 3, False), (10, 4, 8, 16, 1, True),
            (10, 4, 8, 16, 2, True), (100, 64, 256, 256, 1, False), (100, 64, 256, 256, 2, False),
            (100, 64, 256, 256, 2, True), (200, 64, 256, 512, 2, True), (50, 32, 300, 128, 1, False),
            (50, 32, 300, 128, 3, True), (35, 20, 650, 650, 2, False), (35, 20, 1500, 1500, 2, False),
            (400, 16, 80, 320, 5, True), (100, 128, 256, 512, 2, False), (1, 64, 256, 512, 1, False),
        ):  # fmt: skip
            shape = {"x": [steps, batch, width], "hidden": hidden, "layers": layers, "both_ways": both}
            grid += [{"kind": "recurrence", "mode": mode, "dtype": dtype, **shape} for dtype in ("float32", "float16")]
    return grid


def normalisations(dnn: Library, handle: Handle) -> list[dict[str, Any]]:
    """Reserve and workspaces of a batch normalisation in training."""
    rows = []
    for dtype in ("float32", "float16", "bfloat16"):
        for layout in (0, 1):
            for shape in (
                [32, 64, 112, 112],
                [32, 256, 56, 56],
                [128, 2048, 7, 7],
                [8, 64, 16, 56, 56],
                [64, 128, 1, 1],
            ):
                for mode, persistent in ((1, False), (2, True)):
                    x, params = Handle(), Handle()
                    dnn("cudnnCreateTensorDescriptor", ctypes.byref(x))
                    dnn("cudnnCreateTensorDescriptor", ctypes.byref(params))
                    row = {"dtype": dtype, "channels_last": bool(layout), "shape": shape, "persistent": persistent}
                    try:
                        dnn("cudnnSetTensorNdDescriptorEx", x, layout, TYPES[dtype], len(shape), ints(shape))
                        dnn("cudnnDeriveBNTensorDescriptor", params, x, mode)
                        size = ctypes.c_size_t()
                        dnn("cudnnGetBatchNormalizationTrainingExReserveSpaceSize", handle, mode, 0, None, x,
                            ctypes.byref(size))  # fmt: skip
                        row["reserve"] = size.value
                        dnn("cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize", handle, mode, 0, x, None, x,
                            params, None, ctypes.byref(size))  # fmt: skip
                        row["forward"] = size.value
                        dnn("cudnnGetBatchNormalizationBackwardExWorkspaceSize", handle, mode, 0, x, None, x, None, x,
                            params, None, ctypes.byref(size))  # fmt: skip
                        row["backward"] = size.value
                    except RefusedError as problem:
                        row["refused"] = str(problem)
                    rows.append(row)
    return rows


def asked(cells: Recurrences, question: dict[str, Any]) -> dict[str, Any]:
    """The answer, or why there is none."""
    try:
        return cells.ask(question)
    except RefusedError as problem:
        return {"refused": str(problem)}


def answers(path: str) -> dict[str, Any]:
    """Of cuDNN to all questions; those behind the time limit are left out and counted."""
    driver = context()
    dnn = Library("libcudnn.so.9*", "libcudnn.so.8*", "libcudnn.so")
    handle = Handle()
    dnn("cudnnCreate", ctypes.byref(handle))
    dnn.loaded.cudnnGetVersion.restype = ctypes.c_size_t
    dnn.loaded.cudnnGetCudartVersion.restype = ctypes.c_size_t
    cells = Recurrences(dnn, handle, driver)
    ends = time.monotonic() + float(os.environ.get("MOST_SECONDS", "240"))
    found: list[dict[str, Any] | None] = []
    for question in json.loads(Path(path).read_text())["questions"]:
        if time.monotonic() > ends:
            found.append(None)
            continue
        try:
            if question["kind"] == "recurrence":
                found.append(cells.ask(question))
                continue
            kernel = Convolution(dnn, question)
            algo, size, told = kernel.chosen(handle)
            kernel.close()
            found.append({"algo": algo, "workspace": size, "algorithms": told})
        except RefusedError as problem:
            found.append({"refused": str(problem)})
    grid = [{**question, **asked(cells, question)} for question in recurrences()]
    return {
        "cudnn": dnn.loaded.cudnnGetVersion(),
        "cudart": dnn.loaded.cudnnGetCudartVersion(),
        "answers": found,
        "dropout_states": cells.states,
        "recurrences": grid,
        "normalisations": normalisations(dnn, handle),
    }


PARTS: dict[str, Callable[[str], Any]] = {
    "card": lambda _: Card().told(),
    "contexts": lambda _: contexts(),
    "contexts_eager": lambda _: contexts(),
    "pages": lambda _: pages(),
    "cudnn": answers,
}


def main(questions: str, result: str) -> None:
    """Run each part in a process of its own and keep what it says, or why it did not."""
    found: dict[str, Any] = {}
    for part in PARTS:
        started = time.monotonic()
        environment = {**os.environ, "CUDA_MODULE_LOADING": "EAGER" if part.endswith("_eager") else "LAZY"}
        command = [sys.executable, __file__, "--part", part, questions]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        found[part] = json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr[-2000:]}
        sys.stderr.write(
            f"{part}: {time.monotonic() - started:.1f} s, status {done.returncode}\n{done.stderr[-600:]}\n"
        )
        Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    if sys.argv[1] == "--part":
        sys.stdout.write(json.dumps(PARTS[sys.argv[2]](sys.argv[3])))
    else:
        main(sys.argv[1], sys.argv[2])
