"""Reading and writing by masks, lists and tensors of places, as attention masks, token dropping and experts do."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import numpy as np
import paddle
import paddle.nn.functional as F
paddle.seed(0)
w = paddle.create_parameter([1600, 100], 'float32')
n = paddle.arange(1600) % 90 + 5
i, even = paddle.arange(40), paddle.arange(0, 1600, 2)
few = paddle.arange(100)[None, :] < paddle.full([1600, 1], 10, dtype='int64')
most = paddle.arange(100)[None, :] < paddle.full([1600, 1], 80, dtype='int64')
sixty, cube = paddle.arange(100) < 60, paddle.arange(160000).reshape([16, 100, 100]) % 3 == 0
pairs = sixty[None, :].expand([16, 100])
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w])
for step in range(6):
    X = w * 1
    Y = paddle.zeros([1600, 100])
    mask = paddle.arange(100, dtype='float32')[None, :] < n[:, None].astype('float32')
    {line}
    loss = F.softmax({result}).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
WRITES = {
    "number-by-mask": ("X[~mask] = -1e6", "X"),
    "number-by-mask-3d": ("Z = X.reshape([16, 100, 100]); Z[Z > 0.5] = 0.0", "Z"),
    "number-by-rows": ("X[n > 50] = 0", "X"),
    "number-by-rows-of-a-part": ("X[n > 50, :50] = 0", "X"),
    "number-by-places": ("X[i] = 0", "X"),
    "number-by-list": ("X[[1, 5, 7]] = 0.5", "X"),
    "number-by-pairs": ("X[i, i] = 0.0", "X"),
    "number-by-columns": ("X[:, i] = 0.0", "X"),
    "number-by-masks": ("[X.__setitem__(X > 0.1 * i, 0.0) for i in range(8)]", "X"),
    "number-into-data": ("Z = paddle.randint(0, 9, [1600, 100]); Z[Z == 0] = -100", "X * Z.astype('float32')"),
    "tensor-of-one-by-mask": ("X[~mask] = paddle.to_tensor(-1e6)", "X"),
    "learned-one-by-mask": ("X[~mask] = X.mean()", "X"),
    "rows": ("X[i] = paddle.ones([40, 100])", "X"),
    "pairs": ("X[i, i] = paddle.ones([40])", "X"),
    "pairs-of-ranges": ("X[range(40), range(40)] = paddle.ones([40])", "X"),
    "learned-rows": ("Y[even] = F.relu(X[even] * 2)", "Y"),
    "learned-rows-by-list": ("k = list(range(0, 1600, 2)); Y[k] = F.relu(X[k] * 2)", "Y"),
    "learned-rows-by-mask": ("k = n > 50; Y[k] = F.relu(X[k] * 2)", "Y"),
    "learned-pairs": ("Y[i, i] = F.relu(X.sum() * i.astype('float32'))", "Y"),
    "learned-columns": ("Y[:, i] = X[:, i] * 2", "Y"),
    "learned-token": ("t = X.mean(0); Y = X * 2; Y[n > 50] = t", "Y"),
    "learned-by-mask": ("Y[few] = X.sum() * paddle.ones([16000])", "Y"),
    "choice-by-mask": ("Y[few] = X[few] * 2", "Y"),
    "many-by-mask": ("X[most] = paddle.ones([128000])", "X"),
    "many-learned-by-mask": ("Y[most] = X.sum() * paddle.ones([128000])", "Y"),
    "many-chosen-by-mask": ("Y[most] = X[most] * 2", "Y"),
    "all-by-mask": ("Y[X.detach() == X.detach()] = X.reshape([-1]) * 2", "Y"),
    "rows-by-pairs-of-axes": ("Z = X.reshape([16, 100, 100]); Z[pairs] = paddle.ones([960, 100])", "Z"),
    "many-of-a-cube": ("Z = X.reshape([16, 100, 100]); Z[cube] = paddle.ones([53334])", "Z"),
    "columns-by-mask": ("Y[:, sixty] = X[:, :60] * 2", "Y"),
    "up-to-a-tensor": ("h = paddle.shape(X)[0] // 2; X[:h] = 0.0; X[h:h + 10] = Y[:10]", "X"),
    "put-number": ("X = paddle.index_put(X, (mask,), paddle.ones([1]))", "X"),
    "put-learned-number": ("X = paddle.index_put(X, (mask,), X.mean().reshape([1]))", "X"),
    "put-numbers": ("X = paddle.index_put(X, (mask,), X[mask] * 2)", "X"),
    "put-rows": ("X = paddle.index_put(X, (n > 50,), X[0])", "X"),
    "put-pairs-of-axes": ("Z = paddle.index_put(X.reshape([16, 100, 100]), (pairs,), paddle.ones([100]))", "Z"),
    "put-cube": ("Z = paddle.index_put(X.reshape([16, 100, 100]), (cube,), paddle.ones([1]))", "Z"),
    "put-in-place": ("Y = X * 1; Y.index_put_((mask,), paddle.ones([1]))", "Y"),
}
READS = {
    "pairs-of-numpy": ("a = np.arange(40)", "X[a, a] * 2"),
    "columns": ("pass", "X[:, i] * 2"),
    "columns-by-list": ("pass", "X[:, [1, 5, 7]] * 2"),
    "last-axis": ("pass", "X.reshape([16, 100, 100])[:, :, i] * 2"),
    "middle-axis": ("pass", "X.reshape([16, 100, 100])[:, i] * 2"),
    "last-token": ("pass", "X.reshape([16, 100, 100])[paddle.arange(16), n[:16]] * 2"),
    "mask": ("pass", "X[mask] * 2"),
    "columns-by-mask": ("pass", "X[:, sixty] * 2"),
    "last-axis-by-mask": ("pass", "X.reshape([16, 100, 100])[..., sixty] * 2"),
    "mask-and-a-new-axis": ("pass", "X[most, None] * 2"),
    "mask-behind-a-number": ("pass", "X.reshape([2, 800, 100])[1, most[:800]] * 2"),
    "mask-before-a-number": ("pass", "X.reshape([800, 100, 2])[most[:800], 1] * 2"),
    "up-to-a-tensor": ("h = paddle.shape(X)[1] // 2", "X[:, :h] * 2 + X[:, h:h + h] * 3"),
    "pairs-of-axes-and-a-part": ("pass", "X.reshape([16, 100, 100])[pairs, :50] * 2"),
}
CASES = {**WRITES, **{f"read-{name}": case for name, case in READS.items()}}
SOURCES = {name: SCRIPT.format(line=line, result=result) for name, (line, result) in CASES.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_a_step_takes_what_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == peaks[-1], traced["questions"]
