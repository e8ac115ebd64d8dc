"""Everything that is replaced while a trace runs, in one table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from . import (
    attention,
    devices,
    entry_points,
    environment,
    environments,
    executors,
    folders,
    hyperparameters,
    layer_calls,
    numbers,
    optimizers,
    own_optimizers,
    plots,
    static_graphs,
    tensor_methods,
)
from .data import (
    communities,
    compared,
    configurations,
    datasets,
    embeddings,
    files,
    initializers,
    loader,
    own_datasets,
    pictures,
    pretrained,
    texts,
    tokenizers,
)
from .distributed import auto_parallel, data_parallel, divided_layers, process_group, sharding
from .patch import Patch, install
from .processes import (
    child_processes,
    command_lines,
    handed,
    managers,
    open_settings,
    options,
    queues,
    started_programs,
    variables,
)
from .trainers import clips, evaluations, restored_images, text_images, weights


def table() -> Iterator[Patch]:
    """All patches. Operators stand first: the tensor's methods that are operators are replaced as those."""
    yield from entry_points.operators()
    yield from devices.kinds()
    for module in (
        tensor_methods, attention, numbers, entry_points, optimizers, own_optimizers, initializers, layer_calls,
        files, loader, environment, folders, static_graphs, executors,
        process_group, data_parallel, sharding, divided_layers, auto_parallel, devices, child_processes, queues,
        datasets, environments, own_datasets, pretrained, texts, tokenizers, embeddings, communities, weights,
        evaluations, text_images, clips, restored_images, pictures, plots, compared, configurations, hyperparameters,
        started_programs, handed, managers, command_lines, variables, open_settings, options,
    ):  # fmt: skip
        yield from module.patches()


@cache
def installed() -> tuple[str, ...]:
    """Put them into their places, once a process; the result are those that this Paddle has no place for, by name.

    Of modules that a notebook imports later `patch.unplaced` tells.
    """
    return tuple(install(table()))
