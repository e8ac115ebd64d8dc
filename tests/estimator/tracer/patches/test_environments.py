"""Games that are not here: published spaces stand in, so that nothing is asked."""

from __future__ import annotations

import importlib.util

import pytest

IS_HERE = any(importlib.util.find_spec(name) for name in ("gym", "gymnasium"))
pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(IS_HERE, reason="a game's own module is here, so that nothing stands in for it"),
]

PLAY = """
import paddle, paddle.nn.functional as F
from paddle import nn
{imported}
env = {module}.make('CartPole-v1')
policy = nn.Sequential(nn.Linear(env.observation_space.shape[0], 8), nn.ReLU(), nn.Linear(8, env.action_space.n))
optimizer = paddle.optimizer.Adam(parameters=policy.parameters())
for episode in range(6):
    {reset} = env.reset()
    losses = []
    for step in range(1000):
        chances = F.softmax(policy(paddle.to_tensor(state, dtype='float32')))
        {parts} = env.step(int(paddle.argmax(chances)))
        losses.append(-paddle.log(chances.max()) * float(reward))
        if done:
            break
        state = after
    loss = paddle.stack(losses).sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
HERE = """
import numpy as np
class absent:
    class Space:
        shape, n = (4,), 2
    class Game:
        def __init__(self):
            self.observation_space = self.action_space = absent.Space
        def reset(self):
            self.steps = 0
            return np.zeros(4, 'float32')
        def step(self, action):
            self.steps += 1
            return np.zeros(4, 'float32'), 0.0, self.steps >= 500, {}
    @staticmethod
    def make(name):
        return absent.Game()
"""
SOURCES = {
    "gym": PLAY.format(imported="import gym", module="gym", reset="state", parts="after, reward, done, _"),
    "gymnasium": PLAY.format(
        imported="import gymnasium", module="gymnasium", reset="state, _", parts="after, reward, done, cut, _"
    ),
    "gym-beside": PLAY.format(
        imported="import gym", module="gym", reset="state", parts="after, reward, done, _"
    ).replace("state = env.reset()", "state, count = env.reset(), 0"),
    "here": PLAY.format(imported=HERE, module="absent", reset="state", parts="after, reward, done, _"),
}


def test_a_game_of_published_spaces_takes_what_such_a_game_takes(run_child):
    traced = run_child("trace", SOURCES)
    assert {row["status"] for row in traced.values()} == {"ok"}
    assert len({row["peak"] for row in traced.values()}) == 1
    assert "environment_stand_in" in traced["gym"]["notes"]


REWARDED = """
import gym, paddle
from paddle import nn
env = gym.make('{game}')
critic = nn.Linear(env.observation_space.shape[0], 1)
optimizer = paddle.optimizer.Adam(parameters=critic.parameters())
for episode in range(4):
    state, returns = env.reset(), []
    for step in range(3):
        state, reward, done, _ = env.step(0)
        returns.append(critic(paddle.to_tensor(state)).reshape([1]))
    returns.append(paddle.to_tensor(reward).reshape([1]))
    paddle.concat(returns).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
    if returns[-1].item() > env.spec.reward_threshold:
        break
"""
MIXED = (
    """The data_type of input tensor in list isn't consistent, the first tensor is float32, but 3th tensor is float64"""
)


def test_a_reward_is_a_float_of_pythons_unless_numpy_computes_it(run_child):
    """`step` of CartPole gives 1.0, that of Pendulum what numpy makes of an angle."""
    traced = run_child("trace", {game: REWARDED.format(game=game) for game in ("CartPole-v1", "Pendulum-v1")})
    assert traced["CartPole-v1"]["status"] == "ok"
    assert MIXED in str(traced["Pendulum-v1"])


BY_PIPES = """
import gym, paddle
import numpy as np
from multiprocessing import Pipe, Process
from paddle import nn

def play(remote, game):
    env = gym.make(game)
    remote.send((env.reset(), 0.0))
    while True:
        state, reward, done, _ = env.step(remote.recv())
        remote.send((state, reward))

here, there = Pipe()
Process(target=play, args=(there, '{game}'), daemon=True).start()
state, _ = here.recv()
critic = nn.Linear(len(state), 1)
optimizer = paddle.optimizer.Adam(parameters=critic.parameters())
for step in range(4):
    here.send(0)
    state, reward = here.recv()
    (critic(paddle.to_tensor(state)) - paddle.to_tensor(np.float32(reward))).square().mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_rewards_come_from_other_processes(run_child):
    traced = run_child("trace", {game: BY_PIPES.format(game=game) for game in ("CartPole-v1", "Pendulum-v1")})
    assert {game: row["status"] for game, row in traced.items()} == {"CartPole-v1": "ok", "Pendulum-v1": "ok"}
