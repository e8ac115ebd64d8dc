"""The posterior is that of the textbook, its ranges hold what they say, and it rests on the data sheet without jobs."""

from __future__ import annotations

import random
from math import exp, log, sqrt

import numpy as np
import pytest

from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.domain.decisions import Need
from jupyter_paddle_gpu.domain.devices import Accelerator
from jupyter_paddle_gpu.matching.learned.model import (
    CARD,
    MODEL,
    NINETY,
    NOISE,
    PAIR,
    SPREADS,
    Row,
    StepModel,
    features,
    row_of,
    signature,
)
from jupyter_paddle_gpu.matching.roofline import bounds

CARDS = ("Tesla T4", "NVIDIA A100-SXM4-80GB", "NVIDIA GeForce RTX 3090", "Tesla V100-SXM2-16GB")


def card(name: str) -> Accelerator:
    found = find(name)
    assert found is not None
    return found


def need(flops: float, moved: float, *, products: float = 0.9, operations: int = 300, amp: str | None = None) -> Need:
    return Need(
        low=1,
        high=1,
        flops=int(flops),
        bytes_moved=int(moved),
        matrix_flops=int(products * flops),
        operations=operations,
        batch=32,
        amp=amp,  # type: ignore[arg-type]
    )


def sheet(step: Need, on: Accelerator) -> float | None:
    """Arithmetic's and memory's least time, one after the other."""
    return bounds(step, on).in_turn


def drawn(draw: random.Random, models: int, jobs: int) -> list[tuple[Need, Accelerator, float]]:
    """Jobs of a place that is as the prior says."""
    weights = [draw.gauss(0, spread) for spread in SPREADS]
    own = {name: draw.gauss(0, CARD) for name in CARDS}
    needs = [
        need(
            10 ** draw.uniform(10, 13), 10 ** draw.uniform(8, 11), products=draw.random(), amp=draw.choice([None, "O1"])
        )
        for _ in range(models)
    ]
    of_model = [draw.gauss(0, MODEL) for _ in needs]
    pairs: dict[tuple[int, str], float] = {}
    found = []
    for _ in range(jobs):
        at, name = draw.randrange(models), draw.choice(CARDS)
        pair = pairs.setdefault((at, name), draw.gauss(0, PAIR))
        x, least = features(needs[at], card(name)), sheet(needs[at], card(name))
        assert x is not None and least is not None
        much = sum(w * value for w, value in zip(weights, x, strict=True)) + own[name] + of_model[at] + pair
        found.append((needs[at], card(name), least * exp(much + draw.gauss(0, NOISE))))
    return found


def fitted(jobs: list[tuple[Need, Accelerator, float]]) -> StepModel:
    return StepModel([row for job in jobs if (row := row_of(*job)) is not None])


def test_without_jobs_it_is_what_the_data_sheet_says_with_a_wide_range() -> None:
    model, step = StepModel([]), need(1e12, 1e9)
    for name in CARDS:
        found = model.expect(step, card(name))
        assert found is not None and found.likely == pytest.approx(sheet(step, card(name)))
        assert found.low < found.likely / 4 and found.high > found.likely * 4


def test_the_posterior_is_that_of_linear_algebra() -> None:
    jobs = drawn(random.Random(1), 6, 40)
    model = fitted(jobs)
    rows = model.rows
    asked = Row(features(jobs[0][0], card("Tesla T4")) or (), "T4", signature(jobs[0][0]), 0.0)
    x = np.array([row.x for row in rows]) * np.array(SPREADS)
    same_card = np.array([[a.card == b.card for b in rows] for a in rows], float)
    same_model = np.array([[a.model == b.model for b in rows] for a in rows], float)
    matrix = x @ x.T + CARD**2 * same_card + MODEL**2 * same_model + PAIR**2 * same_card * same_model
    matrix += NOISE**2 * np.eye(len(rows))
    cards, models = (
        np.array([getattr(row, of) == getattr(asked, of) for row in rows], float) for of in ("card", "model")
    )
    between = x @ (np.array(asked.x) * np.array(SPREADS)) + CARD**2 * cards + MODEL**2 * models
    between += PAIR**2 * cards * models
    mean = between @ np.linalg.solve(matrix, [row.y for row in rows])
    own = sum((s * v) ** 2 for s, v in zip(SPREADS, asked.x, strict=True)) + CARD**2 + MODEL**2 + PAIR**2
    variance = own - between @ np.linalg.solve(matrix, between)
    found = model.expect(jobs[0][0], card("Tesla T4"), name="T4")
    least = sheet(jobs[0][0], card("Tesla T4"))
    assert found is not None and least is not None
    assert log(found.likely / least) == pytest.approx(mean)
    assert found.spread == pytest.approx(sqrt(variance) * model.scale)
    assert log(found.high / found.likely) == pytest.approx(NINETY * sqrt(variance + NOISE**2) * model.scale)


def test_its_ninety_percent_hold_nine_of_ten_and_it_comes_nearer_than_the_data_sheet() -> None:
    inside = total = 0
    errors, before = 0.0, 0.0
    for seed in range(6):
        jobs = drawn(random.Random(seed), 12, 90)
        model = fitted(jobs[:60])
        for step, on, seconds in jobs[60:]:
            found = model.expect(step, on)
            least = sheet(step, on)
            assert found is not None and least is not None
            inside, total = inside + (found.low <= seconds <= found.high), total + 1
            errors, before = errors + abs(log(found.likely / seconds)), before + abs(log(least / seconds))
    assert 0.84 <= inside / total <= 0.98
    assert errors < before / 3


def test_what_does_not_behave_as_the_prior_says_widens_the_range() -> None:
    draw = random.Random(3)
    jobs = [(step, on, seconds * exp(draw.gauss(0, 0.6))) for step, on, seconds in drawn(draw, 3, 60)]
    assert fitted(jobs).scale > 2
    assert fitted(drawn(random.Random(4), 8, 80)).scale < 1.5


def test_a_card_that_is_slower_than_its_sheet_is_read_off() -> None:
    jobs = []
    for at in range(24):
        step = need(1e12 * (1 + at % 6), 1e9)
        for name in CARDS[:3]:
            slow = 3.0 if name == "Tesla T4" else 1.5
            jobs.append((step, card(name), slow * (sheet(step, card(name)) or 0)))
    effects = {one.name: one for one in fitted(jobs).effects()}
    slowest, other = effects[card("Tesla T4").name], effects[card(CARDS[1]).name]
    assert slowest.factor > 1.2 > 1 > other.factor and slowest.jobs == 24
    assert slowest.low < slowest.factor < slowest.high


def test_steps_that_do_the_same_work_are_one_model() -> None:
    one = need(1e12, 1e9)
    assert signature(one) == signature(need(1e12, 1e9, operations=5)) != signature(need(1e12, 1e9, amp="O1"))
