"""The next values that Optuna would try. Loaded only where a sweep asks for it; nothing of it is kept: a study is made
anew of the trials in the sweep's row, so that whoever goes on after a crash knows as much."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from ...domain.errors import PaddleGpuError
from ...domain.notebooks import FactValue
from ...domain.plans.space import Dimension, at_random
from ...domain.plans.sweeps import Sweep, SweepReport

if TYPE_CHECKING:
    import optuna

ASKS = 20
"""How often Optuna is asked before something that was never tried is taken by chance."""


def check_installed() -> None:
    """Raise `PaddleGpuError` (`optuna_missing`, 409) where there is no Optuna."""
    if importlib.util.find_spec("optuna") is None:
        raise PaddleGpuError(
            "optuna_missing",
            "Optuna is not installed here.",
            hint="Run `pip install optuna` in the environment that submits, or search by `grid` or `random`.",
            status=409,
        )


def suggested(sweep: Sweep, report: SweepReport) -> dict[str, FactValue]:
    """Values for the next trial, by those that have ended and those that still run.

    What was tried is not tried again while there is something else. A trial that runs counts as a bad one until it
    tells (`constant_liar`), so that trials side by side differ.
    """
    check_installed()
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    # A seed for each trial: one for the study would draw the same values again in each process that goes on.
    sampler = optuna.samplers.TPESampler(seed=sweep.seed + len(sweep.trials), constant_liar=True)
    direction = "minimize" if report.direction == "min" else "maximize"
    study = optuna.create_study(sampler=sampler, direction=direction)
    shapes = {one.name: _distribution(one) for one in sweep.dimensions}
    for row in report.trials:
        ended = row.state == "succeeded" and row.value is not None
        going = row.state in ("planned", "queued", "preparing", "running", "stopping")
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.COMPLETE
                if ended
                else optuna.trial.TrialState.RUNNING
                if going
                else optuna.trial.TrialState.FAIL,
                value=row.value if ended else None,
                params={one.name: _coded(one, row.values[one.name]) for one in sweep.dimensions},
                distributions=shapes,
            )
        )
    tried = [row.values for row in report.trials]
    for _ in range(ASKS):
        asked = study.ask(shapes)
        values = {one.name: _decoded(one, asked.params[one.name]) for one in sweep.dimensions}
        if values not in tried:
            return values
        study.tell(asked, state=optuna.trial.TrialState.FAIL)
    every = at_random(sweep.dimensions, len(tried) + 1, sweep.seed + len(tried))
    return next((one for one in every if one not in tried), values)


def _distribution(dimension: Dimension) -> optuna.distributions.BaseDistribution:
    from optuna import distributions

    if dimension.is_open:
        return distributions.FloatDistribution(dimension.low, dimension.high, log=dimension.log)
    places = len(dimension.values) - 1
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in dimension.values):
        return distributions.IntDistribution(0, places)  # numbers have an order, which the sampler learns by
    return distributions.CategoricalDistribution(list(range(places + 1)))


def _coded(dimension: Dimension, value: FactValue) -> Any:
    return value if dimension.is_open else dimension.values.index(value)


def _decoded(dimension: Dimension, code: Any) -> FactValue:
    return dimension.near(float(code)) if dimension.is_open else dimension.values[int(code)]
