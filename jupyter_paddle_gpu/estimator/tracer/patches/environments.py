"""Games of Gym and Gymnasium when neither is on this machine: their spaces are published, and no step needs more.

`gym.make("CartPole-v1")` gives an environment whose observations are of unknown content and whose episodes are as long
as they may be. Everything else of the module is passed by as of any other one that is not here.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import call_stack
from ..session import Session, current
from ..undecided.absent_data import AbsentData
from ..undecided.needs import Need, NeededError
from ..undecided.running_code import place
from ..undecided.unknowns import UnknownFloat, UnknownReal, unknown
from .absent_modules import AbsentModule, stands_for
from .patch import Patch


@dataclass(frozen=True)
class Game:
    """What is published of an environment.

    Attributes:
        name: without its version.
        observation: shape and type of one; () where it is a number below `states`.
        actions: how many there are to choose from, or the shape of one.
        steps: the longest episode; by version where they differ.
        counted: whether numpy computes a reward, which is then one of numpy's numbers and no float of Python's: a
            tensor that is made of it is float64.
    """

    name: str
    observation: tuple[int, ...]
    actions: int | tuple[int, ...]
    steps: int
    dtype: str = "float32"
    states: int = 0
    counted: bool = False


_TABLE = (
    Game("CartPole-v0", (4,), 2, 200),
    Game("CartPole", (4,), 2, 500),
    Game("MountainCar", (2,), 3, 200),
    Game("MountainCarContinuous", (2,), (1,), 999),
    Game("Acrobot", (6,), 3, 500),
    Game("Pendulum", (3,), (1,), 200, counted=True),
    Game("LunarLander", (8,), 4, 1000, counted=True),
    Game("LunarLanderContinuous", (8,), (2,), 1000, counted=True),
    Game("BipedalWalker", (24,), (4,), 1600, counted=True),
    Game("CarRacing", (96, 96, 3), (3,), 1000, "uint8"),
    Game("FrozenLake", (), 4, 100, "int64", 16),
    Game("CliffWalking", (), 4, 200, "int64", 48),
    Game("Taxi", (), 6, 200, "int64", 500),
    Game("Pong", (210, 160, 3), 6, 1000, "uint8"),
    Game("Breakout", (210, 160, 3), 4, 1000, "uint8"),
    Game("SpaceInvaders", (210, 160, 3), 6, 1000, "uint8"),
    Game("Qbert", (210, 160, 3), 6, 1000, "uint8"),
    Game("Seaquest", (210, 160, 3), 18, 1000, "uint8"),
    Game("BeamRider", (210, 160, 3), 9, 1000, "uint8"),
    Game("Enduro", (210, 160, 3), 9, 1000, "uint8"),
    Game("MsPacman", (210, 160, 3), 9, 1000, "uint8"),
    Game("HalfCheetah", (17,), (6,), 1000, "float64"),
    Game("Hopper", (11,), (3,), 1000, "float64"),
    Game("Walker2d", (17,), (6,), 1000, "float64"),
    Game("Swimmer", (8,), (2,), 1000, "float64"),
    Game("Ant-v2", (111,), (8,), 1000, "float64"),
    Game("Ant-v3", (111,), (8,), 1000, "float64"),
    Game("Ant-v4", (27,), (8,), 1000, "float64"),
    Game("Ant", (105,), (8,), 1000, "float64"),
    Game("Humanoid-v5", (348,), (17,), 1000, "float64"),
    Game("Humanoid", (376,), (17,), 1000, "float64"),
    Game("Reacher-v5", (10,), (2,), 50, "float64"),
    Game("Reacher", (11,), (2,), 50, "float64"),
    Game("InvertedPendulum", (4,), (1,), 1000, "float64"),
    Game("InvertedDoublePendulum-v5", (9,), (1,), 1000, "float64"),
    Game("InvertedDoublePendulum", (11,), (1,), 1000, "float64"),
)
"""Source: gymnasium 1.0, its registry (steps) and its classes (spaces, those of MuJoCo among them, and what `step`
makes a reward of), and the environments that ale-py 0.12 makes (the Ataris). Episodes of Atari and of CliffWalking end
with the game; so many steps stand for one."""
GAMES = {game.name: game for game in _TABLE}


class Space:
    """The observations or the actions of an environment."""

    def __init__(self, shape: tuple[int, ...], dtype: str, choices: int = 0) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        if choices:
            self.n = choices
        least, most = (0, 255) if dtype == "uint8" else (-1, 1)
        self.low, self.high = np.full(shape, least, dtype), np.full(shape, most, dtype)

    def sample(self) -> Any:
        """One of them: nobody knows which."""
        return unknown(np.zeros(self.shape, self.dtype)) if self.shape else 0

    def seed(self, *_: Any) -> None:
        """Nothing is drawn."""

    def contains(self, _: Any) -> bool:
        """Whatever is given is taken to be one."""
        return True


class Environment:
    """One that is not here."""

    def __init__(self, game: Game, module: str) -> None:
        self._game, self._module, self._passed = game, module, 0
        self.observation_space = Space(game.observation, game.dtype, game.states)
        choices = game.actions if isinstance(game.actions, int) else 0
        shape = game.actions if isinstance(game.actions, tuple) else ()
        self.action_space = Space(shape, "int64" if choices else "float32", choices)
        self._max_episode_steps = game.steps
        self.reward_range, self.spec = (-1.0, 1.0), self
        self.max_episode_steps, self.reward_threshold = game.steps, UnknownFloat(0.0)

    @property
    def unwrapped(self) -> Environment:
        """The same: there is no wrapper."""
        return self

    def reset(self, **_: Any) -> Any:
        """The first observation; with what is known besides where the program takes that."""
        self._passed = 0
        seen = self.observation_space.sample()
        return (seen, {}) if _taken("reset", 2 if self._module == "gymnasium" else 1) == 2 else seen

    def step(self, _: Any) -> tuple[Any, ...]:
        """Observation, reward and whether the episode is over; in four parts as Gym has it, or five."""
        self._passed += 1
        over = self._passed >= self._game.steps
        taken = _taken("step", 5 if self._module == "gymnasium" else 4)
        ends = (over, False) if taken == 5 else (over,)
        is_counted = self._game.counted or self._game.dtype == "float64"
        reward = UnknownReal(0.0) if is_counted else UnknownFloat(0.0)
        return (self.observation_space.sample(), reward, *ends, {})

    def __getattr__(self, name: str) -> Any:
        """What only shows or prepares: `render`, `seed`, `close`."""
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


def _taken(method: str, usual: int) -> int:
    """How many parts the running statement of the program takes apart into what it is given by a method."""
    frame = call_stack.caller()
    if frame is None:
        return usual
    try:
        nodes = ast.walk(ast.parse("".join(linecache.getlines(frame.f_code.co_filename))))
    except SyntaxError:
        return usual
    for node in nodes:
        if isinstance(node, ast.Assign) and node.lineno <= frame.f_lineno <= (node.end_lineno or 0):
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):  # `state, done = env.reset(), False`
                pairs = zip(target.elts, value.elts, strict=False)
                given = [one for one, part in pairs if getattr(getattr(part, "func", None), "attr", "") == method]
                target = given[0] if given else value.elts[0]
            return len(target.elts) if isinstance(target, ast.Tuple) else usual
    return usual


OBSERVATION, ACTIONS = "observation_size", "action_size"
"""The names by which the numbers of a game are asked that is not in the table."""
UNLISTED = 1000
"""The longest episode of such a one."""
_RAM = 128
"""Bytes of the memory of an Atari, which games of the name `...-ram-v0` show."""
_SHAPED = re.compile(r"action_space\s*\.\s*(shape|low|high)")


def _described(session: Session, name: str) -> Game:
    """A game that is not in the table, as it was described.

    Raises:
        NeededError: nobody has said yet how large it is.
    """
    data = session.of(AbsentData)
    is_ram = "-ram" in name
    seen, actions = data.answers.get(OBSERVATION, _RAM if is_ram else None), data.answers.get(ACTIONS)
    for asked, answer in ((OBSERVATION, seen), (ACTIONS, actions)):
        if not isinstance(answer, int):
            raise NeededError(data.need(Need(asked, "value", "number_unseen", *place())))
    is_shaped = _SHAPED.search(data.code) is not None and "action_space.n" not in data.code
    shape = (actions,) if is_shaped else actions
    return Game(name, (seen,), shape, UNLISTED, "uint8" if is_ram else "float32")  # type: ignore[arg-type]


@stands_for("gym", "gymnasium")
class Games(AbsentModule):
    """The module: it makes environments, and is passed by otherwise."""

    def make(self, name: Any, *_: Any, **__: Any) -> Any:
        """An environment by its name."""
        known = re.sub(r"^ALE/", "", str(name))
        game = GAMES.get(known) or GAMES.get(re.sub(r"(NoFrameskip|Deterministic)?-v\d+$", "", known))
        session = current()
        if session is None:
            return AbsentModule(self._module)
        if game is None:
            game = _described(session, str(name))
        session.note("environment_stand_in", name=str(name), module=self._module, steps=game.steps)
        return Environment(game, self._module)


def patches() -> Iterator[Patch]:
    """None: the module is not there to be replaced."""
    return iter(())
