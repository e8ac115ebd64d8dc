"""What one of several processes holds that share layers or have them one behind the other, against real processes."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.measuring import steady
from tests.estimator.tracer.patches.distributed.test_sharding import run_processes

pytestmark = pytest.mark.paddle

HEAD = """
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.distributed import fleet
from paddle.distributed.fleet import meta_parallel
strategy = fleet.DistributedStrategy()
degrees = {{"mp_degree": {shared}, "pp_degree": {stages}, "sharding_degree": {sharding}}}
strategy.hybrid_configs = {{"dp_degree": 1, **degrees}}
strategy.pipeline_configs = {{"accumulate_steps": {batches}, "micro_batch_size": 8}}
fleet.init(is_collective=True, strategy=strategy)
groups = fleet.get_hybrid_communicate_group()
{model}
optimizer = paddle.optimizer.Adam(1e-5, parameters=layers.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
model = fleet.distributed_model(layers)
optimizer = fleet.distributed_optimizer(optimizer)
"""
SHARED = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = meta_parallel.VocabParallelEmbedding(1000, 256)
        self.up = meta_parallel.ColumnParallelLinear(256, 1024, has_bias=True, gather_output=False)
        self.down = meta_parallel.RowParallelLinear(1024, 256, has_bias=True, input_is_parallel=True)
        self.norm = nn.LayerNorm(256)
        self.head = meta_parallel.ColumnParallelLinear(256, 1000, has_bias=True, gather_output={gathers})
    def forward(self, x):
        h = self.words(x)
        h = self.norm(h + self.down(F.gelu(self.up(h))))
        return self.head(h)
layers = Net()"""
SHARED_STEP = """
x, y = paddle.randint(0, 1000, [4, 128]), paddle.randint(0, 1000, [4, 128, 1])
for step in range(8):
    {loss}(model(x), y).mean().backward()
    optimizer.step()
    optimizer.clear_grad()"""
PIPELINE = """
class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(300, 900), nn.LayerNorm(900), nn.Linear(900, 300)
    def forward(self, h):
        return h + self.down(F.gelu(self.norm(self.up(h))))
described = [meta_parallel.LayerDesc(nn.Linear, 100, 300)]
described += [meta_parallel.LayerDesc(Block) for _ in range(6)] + [meta_parallel.LayerDesc(nn.Linear, 300, {width})]
layers = meta_parallel.PipelineLayer(
    described, num_stages={stages}, loss_fn=nn.CrossEntropyLoss(), recompute_interval={interval},
    recompute_ctx={{"mp_group": groups.get_model_parallel_group(), "offload": False, "partition": False}})"""
TIED = """
class Words(nn.Layer):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5000, 300)
    @property
    def embedding_weight(self):
        return self.table.weight
    def forward(self, x):
        return self.table(x)
def scores(words, h):
    return paddle.matmul(h, words.embedding_weight, transpose_y=True)
class Loss(nn.Layer):
    def forward(self, scored, y):
        return F.cross_entropy(scored, y).mean()
how = {{"shared_weight_attr": "embedding_weight"}}
described = [meta_parallel.SharedLayerDesc("words", Words, **how)]
described += [meta_parallel.LayerDesc(nn.Linear, 300, 300) for _ in range(6)]
described += [meta_parallel.SharedLayerDesc("words", Words, forward_func=scores, **how)]
layers = meta_parallel.PipelineLayer(described, num_stages={stages}, loss_fn=Loss())"""
TIED_STEP = """
x, y = paddle.randint(0, 5000, [8 * {batches}, 20]), paddle.randint(0, 5000, [8 * {batches}, 20, 1])
for step in range(8):
    model.train_batch([x, y], optimizer)"""
PIPELINE_STEP = """
x, y = paddle.rand([8 * {batches}, 100]), paddle.randint(0, 10, [8 * {batches}, 1])
for step in range(8):
    model.train_batch([x, y], optimizer)"""


def shared(*, gathers: bool = True, loss: str = "F.cross_entropy", sharding: int = 1, size: int = 2) -> str:
    head = HEAD.format(shared=size, stages=1, sharding=sharding, batches=1, model=SHARED.format(gathers=gathers))
    return head + SHARED_STEP.format(loss=loss)


def pipeline(
    *, stages: int = 2, batches: int = 4, interval: int = 0, width: int = 10, parts: int = 1, sharding: int = 1
) -> str:
    model = PIPELINE.format(stages=stages, interval=interval, width=width)
    if parts > 1:
        model = model.replace("range(6)", "range(8)")
        model = model.replace("loss_fn", f"num_virtual_pipeline_stages={parts}, seg_method='layer:Block', loss_fn")
    head = HEAD.format(shared=1, stages=stages, sharding=sharding, batches=batches, model=model)
    return head + PIPELINE_STEP.format(batches=batches)


def tied() -> str:
    head = HEAD.format(shared=1, stages=2, sharding=1, batches=4, model=TIED.format(stages=2))
    return head + TIED_STEP.format(batches=4)


REAL = {
    "shared": shared(),
    "pipeline": pipeline(),
    "pipeline-recomputed": pipeline(interval=1),
    "pipeline-short": pipeline(batches=1),
    "pipeline-wide": pipeline(width=5000),
    "pipeline-tied": tied(),
}
LOSS = "meta_parallel.ParallelCrossEntropy()"
TRACED = {
    "shared-loss": shared(gathers=False, loss=LOSS),
    "shared-sharded": shared(sharding=2),
    "shared-by-four": shared(size=4),
    "three-stages": pipeline(stages=3, batches=6),
    "four-stages": pipeline(stages=4, batches=8),
    "four-stages-short": pipeline(stages=4, batches=2),
    "four-stages-twice": pipeline(stages=4, batches=8, parts=2),
    "two-stages-twice": pipeline(parts=2),
    "pipeline-sharded": pipeline(sharding=2, width=5000).replace("num_stages=2", "topology=groups.topology()"),
}


@pytest.fixture(scope="module")
def measured(run_child, paddle_python):
    parts = [run_processes(paddle_python, {name: source}) for name, source in REAL.items()]
    real = [{name: row for part in parts for name, row in part[rank].items()} for rank in range(2)]
    return real, run_child("trace", {**REAL, **TRACED})


@pytest.mark.parametrize("name", REAL)
def test_the_peak_is_that_of_the_process_that_takes_most(measured, name):
    real, traced = measured
    assert [one[name]["failure"] for one in real] == [None, None]
    assert traced[name]["peak"] == max(steady(one[name]["peaks"]) for one in real)


def test_what_is_said(measured):
    said = {name: (row["distribution"], row["devices"], row["notes"]) for name, row in measured[1].items()}
    assert said["shared"] == said["shared-loss"] == ("tensor_parallel", 2, ["tensor_parallel"])
    assert said["shared-sharded"] == ("tensor_parallel", 4, ["tensor_parallel", "sharded"])
    assert said["pipeline"] == ("pipeline", 2, ["pipeline"])
    of_four = {"devices": 4, "stage": 2, "stages": 4}
    assert measured[1]["four-stages"]["params"] == [{**of_four, "batches": 3}]
    assert measured[1]["four-stages-short"]["params"] == [{**of_four, "batches": 2}]
    assert measured[1]["four-stages-twice"]["params"] == [{**of_four, "stage": 1, "batches": 7}]
    assert measured[1]["pipeline-sharded"]["params"][0] == {"devices": 4, "stage": 2, "stages": 2, "batches": 1}
    last = {"devices": 2, "stage": 2, "stages": 2, "batches": 1}
    assert measured[1]["pipeline-wide"]["params"] == measured[1]["pipeline-tied"]["params"] == [last]


SEVERAL = {
    "shared-by-four": [11_931_628] * 4,
    "three-stages": [10_618_244, 27_807_316, 18_773_612],
    "four-stages": [10_720_836, 19_125_796, 18_933_668, 9_996_036],
}
"""Peaks of as many real processes. They are not run here: more than two connect now and then only."""


@pytest.mark.parametrize("name", SEVERAL)
def test_of_more_than_two_processes_too(measured, name):
    """A stage between the others has one block more than the first, which has a small linear layer, or the last."""
    assert measured[1][name]["peak"] == max(SEVERAL[name])


def test_the_environment_says_that_the_first_process_is_meant(run_child, monkeypatch, measured):
    monkeypatch.setenv("PADDLE_TRAINER_ID", "0")
    real, first = measured[0], run_child("trace", {"pipeline-wide": REAL["pipeline-wide"]})["pipeline-wide"]
    assert first["params"] == [{"devices": 2, "stage": 1, "stages": 2, "batches": 2}]
    assert first["peak"] == steady(real[0]["pipeline-wide"]["peaks"])


def test_the_loss_of_shared_classes_is_written_over(measured):
    """Of 512 rows: no gathered classes (2 x 2,048,000), but half of their probabilities, whose gradient is in them."""
    traced = measured[1]
    assert traced["shared-loss"]["peak"] < traced["shared"]["peak"]


def test_optimizer_state_is_divided_besides(measured):
    held = {name: measured[1][name]["standing"]["optimizer_state"] for name in ("shared", "shared-sharded")}
    assert held["shared-sharded"] < 0.51 * held["shared"]


def test_a_stage_has_as_many_batches_in_flight_as_stages_follow(measured):
    assert measured[1]["four-stages"]["peak"] > measured[1]["four-stages-short"]["peak"]


def test_degrees_that_do_not_go_together_are_refused_in_paddles_words(measured):
    traced = measured[1]["two-stages-twice"]
    assert traced["status"] == "would_stop"
    assert "virtual pipeline must run under pp degree > 2" in traced["stop"]["error"]
