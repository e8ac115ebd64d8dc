"""Programs of newcomers whose files are not here: what they ask for, and what comes of the answers."""

from __future__ import annotations

import pytest

TRAINING = """
for {names} in {loader}:
    loss = nn.functional.{loss}
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
HEAD = """
import paddle
from paddle import nn
"""
NET = """
net = nn.Sequential(nn.Linear(20, {width}), nn.ReLU(), nn.Linear({width}, 5))
opt = paddle.optimizer.{kind}(0.1, parameters=net.parameters())
data = paddle.io.TensorDataset([paddle.randn([64, 20]), paddle.randint(0, 5, [64])])
loader = paddle.io.DataLoader(data, batch_size=8)
"""
LOOP = TRAINING.format(names="x, y", loader="loader", loss="cross_entropy(net(x), y)")
KNOWN = HEAD + NET.format(width=32, kind="Adam") + LOOP
RESUMED = (
    HEAD
    + NET.format(width=32, kind="Adam")
    + """
state = paddle.load("absent/last.pdparams")
net.set_state_dict(state["model"])
opt.set_state_dict(state["opt"])
for epoch in range(state["epoch"] + 1, 20):
"""
    + "\n".join(f"    {line}" for line in LOOP.strip().splitlines())
)
TABLE = (
    HEAD
    + """
import pandas
from sklearn.preprocessing import StandardScaler
rows = pandas.read_csv("absent/rows.csv")
y = rows["count"].values.astype("float32").reshape(-1, 1)
x = rows.drop(columns=["count"]).values.astype("float32")
x = StandardScaler().fit(x).transform(x).astype("float32")
net = nn.Sequential(nn.Linear(x.shape[1], 32), nn.ReLU(), nn.Linear(32, 1))
opt = paddle.optimizer.Adam(parameters=net.parameters())
loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.to_tensor(x), paddle.to_tensor(y)]), batch_size=8)
"""
    + TRAINING.format(names="x, y", loader="loader", loss="mse_loss(net(x), y)")
)
JOINED = (
    HEAD
    + """
import pandas
train, test = pandas.read_csv("absent/train.csv"), pandas.read_csv("absent/test.csv")
features = pandas.concat((train.iloc[:, 1:-1], test.iloc[:, 1:]))
numbers = features.dtypes[features.dtypes != "object"].index
features[numbers] = features[numbers].fillna(0)
features = pandas.get_dummies(features, dummy_na=True)
x = paddle.to_tensor(features[: train.shape[0]].values.astype("float32"))
y = paddle.to_tensor(train.price.values.reshape(-1, 1).astype("float32"))
net = nn.Sequential(nn.Linear(x.shape[1], 1))
opt = paddle.optimizer.Adam(parameters=net.parameters())
loader = paddle.io.DataLoader(paddle.io.TensorDataset([x, y]), batch_size=8)
"""
    + TRAINING.format(names="x, y", loader="loader", loss="mse_loss(net(x), y)")
)


@pytest.fixture(scope="module")
def found(run_child):
    told = {"table told": {"answers": {"x_shape_1": 12, "loader": "float32[8,12] float32[8,1]"}}}
    programs = {"known": KNOWN, "resumed": RESUMED, "table": TABLE, "table told": TABLE, "joined": JOINED}
    return run_child("trace", programs, told)


def test_a_training_that_resumes_at_a_checkpoint_is_seen(found):
    assert (found["resumed"]["status"], found["resumed"]["peak"]) == ("ok", found["known"]["peak"])


def test_a_loader_over_tensors_of_a_table_gives_tensors_once_described(found):
    assert {one["name"] for one in found["table"]["questions"]} == {"x_shape_1", "loader"}
    assert (found["table told"]["status"], found["table told"]["stop"]) == ("ok", None)


def test_what_pandas_looks_for_in_its_tables_is_not_asked(found):
    """`pandas.concat` looks whether each is a table by a name of its own, `_typ`: nobody could answer that."""
    assert [one["name"] for one in found["joined"]["questions"]] == ["x_shape_1", "loader"]
