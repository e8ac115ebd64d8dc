"""What is said of static graphs: that one trains, and what of one is not followed."""

from __future__ import annotations

from ..domain.messages import Message

GRAPHS = (
    Message(
        code="static_graph",
        text="Cell {cell}, line {line} does something with a static graph (paddle.enable_static()) that is not "
        "followed, so there is no training step to show.",
        hint="Runs of an executor are followed where the program is one operator after the other; conditions, loops "
        "and mixed precision in it, and programs of the old kind (FLAGS_enable_pir_api=0) are "
        "not. In dynamic mode the training has a figure. It can be submitted all the same.",
    ),
    Message(
        code="static_graph_beside",
        text="Cell {cell}, line {line} belongs to a static graph, which is not followed: the figure is for the "
        "training in dynamic mode.",
        hint="What an executor allocates for the graph comes on top while both are alive.",
    ),
    Message(
        code="compiled",
        text="paddle.jit.to_static compiles a layer: the figure has all of its new gradients beside the old ones, as "
        "its backward pass is one program (full_graph=True).",
        hint="Compiled in parts, which is the default, the five networks that were measured take up to 5 % less.",
    ),
    Message(
        code="cinn",
        text="FLAGS_use_cinn is set: CINN makes kernels of its own for what is compiled. The figure does not follow "
        "them, and is that of Paddle's.",
        hint="A run with FLAGS_use_cinn=0 is the one that is estimated.",
    ),
    Message(
        code="auto_parallel_program",
        text="Automatic parallelism over {devices} devices: the figure is that of process {rank}, by the program that "
        "Paddle itself makes for it.",
        hint="What the other processes hold is not worked out; with stages they hold other layers.",
    ),
    Message(
        code="auto_parallel_types",
        text="Automatic parallelism in {dtype} has no figure here: on a CPU Paddle builds no such program, float64 "
        "beside it is not told apart, and a scaler of gradients of two types ends Paddle.",
        hint="In float32 the training has a figure, which is larger; gradients are of one type with master gradients.",
    ),
    Message(code="static_not_followed", text="The operator {op} of the static graph is not followed."),
    Message(
        code="static_graph_on_gpu",
        text="A static graph trains here: the figure is that of Paddle's executor, which lets each tensor go behind "
        "its last reader and keeps no gradients from step to step.",
    ),
    Message(
        code="static_graph_on_cpu",
        text="A static graph trains here: the figure is that of Paddle's executor with one operator after the other.",
        hint="On a CPU its threads run several at once and let memory go a moment later: most real steps of twelve "
        "programs took from 19 % less to 11 % more, single ones more than that.",
    ),
)
"""Sentences of the notes by code."""
