"""Shapes that kernels alone look at, which the program builder takes: each beside what Paddle itself says, by the same
words at the same line."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.refusing import Answers, answers_of_lines, without_hint

pytestmark = pytest.mark.paddle

ENDS = (
    "z = paddle.nn.Embedding(10, 6)(paddle.to_tensor([[1, -1, 2]] * 4)) + x",
    "z = paddle.nn.Embedding(10, 6, padding_idx=2)(paddle.full([4, 3], -1, 'int64')) + x",
    "z = paddle.nn.Linear(6, 3, weight_attr=paddle.nn.initializer.Assign(np.ones([3, 6])))(x)",
    "z = paddle.vision.ops.roi_align(x.unsqueeze(0), paddle.rand([2, 4]), paddle.to_tensor([1, 1], 'int32'), 2)",
    "z = x.mean() + paddle.linalg.eigvals(paddle.rand([3, 3]).astype('float16')).abs().mean()",
    "z = x.mean() + paddle.linalg.svd(paddle.rand([3, 3]).astype('float16'))[0].abs().mean()",
    "z = x.mean() + paddle.linalg.inv(paddle.rand([3, 3]).astype('float16')).abs().mean()",
    "i = paddle.to_tensor([1, 2], stop_gradient=False); (i * i).sum().backward()",
    "i = paddle.to_tensor([1, 2], stop_gradient=False); paddle.concat([i, i]).sum().backward()",
    "paddle.metric.accuracy(x[:, 0], paddle.ones([4, 1]))",
    "paddle.amp.auto_cast(custom_white_list=['relu'], custom_black_list=['relu']).__enter__()",
    "paddle.nn.Sequential([paddle.nn.Linear(6, 6), paddle.nn.ReLU()]).parameters()",
    "z = F.ctc_loss(x, paddle.ones([3, 2], 'float16'), paddle.full([3], 4, 'int64'), paddle.full([3], 2, 'int64'))",
    "z = paddle.matmul(x.unsqueeze(1), paddle.rand([2, 3, 6, 2]))",
    "z = paddle.matmul(x, paddle.rand([3, 1, 2, 6, 2]))",
    "z = paddle.matmul(x, paddle.rand([3, 6, 2]))", "z = x @ paddle.rand([2, 6, 2])",
    "z = paddle.scatter(x, paddle.to_tensor([0, 1]), paddle.rand([2, 3, 5]))",
    "z = paddle.scatter(x, paddle.to_tensor([0, 1]), paddle.rand([2, 3, 5]), overwrite=False)",
    "z = paddle.nn.Sequential(paddle.nn.Conv1D(6, 2, 1))(x[0, 0])",
    "z = paddle.linalg.det(x)", "z = paddle.linalg.slogdet(x)",
    "z = paddle.linalg.solve(x[:, :, :3], paddle.rand([4, 2, 1]))",
    "z = F.grid_sample(x.unsqueeze(0), paddle.rand([2, 5, 5, 2]))",
    "z = paddle.incubate.segment_sum(x, paddle.to_tensor([0, 0, 1]))",
    "z = paddle.geometric.segment_mean(x, paddle.to_tensor([1, 0, 0, 0]))",
    "z = paddle.geometric.send_ue_recv(x[0], x[0].detach(), paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 0]))",
    "z = paddle.geometric.send_ue_recv(x[0].detach(), x[0], paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 0]))",
    "z = paddle.geometric.send_uv(x[0], x[0].detach(), paddle.to_tensor([0, 1]), paddle.to_tensor([1, 2]))",
    "z = paddle.meshgrid(x, x)[0]", "z = paddle.unfold(x, 1, 9, 1)", "z = F.temporal_shift(x.unsqueeze(1), 3)",
    "z = F.fractional_max_pool2d(x.unsqueeze(0), 9)",
    "z = x * ((x > 0) & (paddle.rand([4, 2, 6]) > 0)).astype('float32')",
    "z = x * paddle.logical_or(x > 0, paddle.rand([5]) > 0).astype('float32')",
    "z[:, 0:2] = paddle.rand([4, 3, 6])", "z[:, 0] = paddle.rand([4, 5])", "z[..., 0] = paddle.rand([3, 4])",
    "z[0] = np.ones([2, 6], 'float32')", "z[::2] = paddle.rand([4, 3, 6])", "z[:, None, 0] = paddle.rand([4, 2, 6])",
    "z[0, 0, 0] = paddle.rand([2])", "z[1:3, :, 2:4] = x[0:2, :, 0:3]", "z[paddle.to_tensor(1)] = paddle.rand([4, 6])",
    "z[paddle.to_tensor([0, 1])] = paddle.rand([3, 3, 6])", "z[[0, 1]] = paddle.rand([3, 3, 6])",
    "z[paddle.to_tensor([0, 1]), paddle.to_tensor([1, 2])] = paddle.rand([3, 6])",
    "z[0] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]",
    "z = paddle.text.viterbi_decode(x, paddle.rand([5, 5]), paddle.to_tensor([3, 3, 2, 1]))[0] + x.mean()",
    "z = paddle.text.viterbi_decode(x, paddle.rand([6, 6]), paddle.to_tensor([3, 3, 2]))[0] + x.mean()",
    "z = paddle.text.viterbi_decode(x, paddle.rand([6, 6]), paddle.to_tensor([3, 3, 2, 1], 'int32'))[0] + x.mean()",
    "z = paddle.slice_scatter(x, paddle.rand([3, 3, 6]), axes=[0], starts=[0], ends=[4], strides=[2])",
    "z = paddle.slice_scatter(x, paddle.rand([4, 3, 6]), axes=[3], starts=[0], ends=[4], strides=[2])",
    "z = paddle.slice_scatter(x, paddle.rand([2, 3, 6]), axes=[0], starts=[0], ends=[4], strides=[0])",
    "z = paddle.as_strided(x, [3, 3], [1, 1], -4)",
    "z = paddle.scatter(x, paddle.to_tensor([0, 1]), paddle.ones([2, 3, 6], 'int64'))",
    "z = paddle.scatter(x, paddle.to_tensor([0.0, 1.0]), paddle.ones([2, 3, 6]))",
    "z = paddle.scatter(x, paddle.to_tensor([0, 9]), paddle.ones([2, 3, 6]), overwrite=False)",
    "z = paddle.scatter_nd_add(x, paddle.to_tensor([[0, 9]]), paddle.ones([1, 6]))",
    "z = paddle.scatter_nd(paddle.to_tensor([[1.0]]), x[:1], [3, 3, 6])",
    "z = paddle.gather_nd(x, paddle.to_tensor([[1, 1], [8, 9], [2, 7]]))",
    "z = x.mean() + paddle.shard_index(paddle.to_tensor([[1]]), 20, 2, 2, -1).astype('float32')",
    "z = x[..., 7, :]", "z[0, paddle.to_tensor(9)] = 0.0", "linear.weight[9] = 0.0", "z[0, 7] += 1.0",
    "z = x - [1.0]", "z = None * x", "z = x & None", "z = None | x", "z = x > None", "z = x * [1.0]",
    "z = x + (paddle.ones([2], 'int64') << paddle.ones([2], 'int32')).astype('float32')",
    "z = x + (paddle.ones([6]) & paddle.ones([6], 'int64')).astype('float32')",
    "z = paddle.ones([6, 6], 'int64') @ (x[0, 0] * 1j)",
    "z = x.item(0, 9, 1) * x", "z = x.item(0, 9) * x", "z = x.numpy().item(99) * x",
    "linear.weight.set_value(np.ones([6, 5], 'float32'))", "linear.weight.set_value(np.ones([6, 6]))",
    "z = paddle.topk(None, 2)[0]", "z = linear(None)", "z = F.linear(x, None)", "z = F.linear(x, linear.weight, 'a')",
    "z = paddle.nn.GLU(axis=1)(x)", "z = paddle.chunk(x, 4, axis=2)[0]", "z = paddle.split(x, 2, axis=5)[0]",
    "z = paddle.split(x, 0, axis=2)[0]",
    "z = paddle.to_tensor([['nan', 0.3]], dtype='float32') + x.mean()", "z = paddle.to_tensor('a', dtype='foo')",
    "z = F.pad(x.unsqueeze(0), [0, 7, 0, 9], mode='reflect')",
    "z = F.pad(x, [6, 0], mode='reflect', data_format='NCL')",
    "z = paddle.nn.ReflectionPad2D([0, 0, 0, 4])(x.unsqueeze(0))",
    "z = F.pad(x.unsqueeze(0), [0, 5, 0, 4], mode='reflect', data_format='NHWC')",
    "z = paddle.vision.ops.roi_pool(x.unsqueeze(0), paddle.rand([2, 4]), paddle.to_tensor([2], 'int64'), 2)",
    "z = paddle.vision.ops.roi_pool(x.unsqueeze(0), paddle.rand([2, 4]), paddle.to_tensor([1, 1], 'int32'), 2)",
    "z = paddle.vision.ops.psroi_pool(x.unsqueeze(0), paddle.rand([2, 4]), paddle.to_tensor([2]), 1)",
    "z = F.rnnt_loss(paddle.rand([4, 3, 3, 6]) * x.mean(), paddle.ones([8]).int(), *[paddle.ones([4], 'int32')] * 2)",
    "z = F.rnnt_loss(paddle.rand([4, 3, 3, 6]) * x.mean(), paddle.ones([4, 2]), *[paddle.ones([4], 'int32')] * 2)",
)  # fmt: skip
RUNS = (
    "z = paddle.nn.Sequential([paddle.nn.Linear(6, 6), paddle.nn.ReLU()])(x)",
    "z = paddle.nn.Embedding(10, 6, sparse=True)(paddle.full([4, 3], -1, 'int64')) + x",
    "e = paddle.nn.Embedding(10, 6); e.weight.stop_gradient = True; z = e(paddle.full([4, 3], -1, 'int64')) + x",
    "z = paddle.nn.Linear(6, 3, paddle.nn.initializer.Assign(np.ones([6, 4])), False)(x) @ paddle.rand([4, 1])",
    "i = paddle.to_tensor([[1, 2], [3, 4]], stop_gradient=False); j = i @ i",
    "i = paddle.to_tensor([1, 2], stop_gradient=False); z = x + paddle.grad((i * 3).sum(), i)[0].max()",
    "i = paddle.to_tensor([0, 1, 2, 3], stop_gradient=False); z = x[i] + F.cross_entropy(x[:, 0], i) + i.max()",
    "print(x.mean().numpy().round(2), float(x.detach().mean().numpy().round(2)), x.numpy().round(1).shape)",
    "paddle.amp.auto_cast(enable=False, custom_white_list=['relu'], custom_black_list=['tanh']).__enter__()",
    "paddle.metric.accuracy(x[:, 0], paddle.ones([4, 1], 'int32'))",
    "z = paddle.matmul(x, paddle.rand([1, 6, 2]))", "z = paddle.matmul(x[0], paddle.rand([2, 1, 6, 2]))",
    "z = x @ paddle.rand([4, 6, 2])", "z = paddle.matmul(x, paddle.rand([6]))",
    "z = paddle.scatter(x, paddle.to_tensor([0, 1]), paddle.rand([2, 3, 6]))", "z = paddle.linalg.det(x[:, :, :3])",
    "z = F.grid_sample(x.unsqueeze(0), paddle.rand([1, 5, 5, 2]))", "z = paddle.unfold(x, 1, 3, 1)",
    "z = paddle.geometric.send_ue_recv(x[0], x[0], paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 0]))",
    "z = paddle.geometric.send_uv(x[0], x[0], paddle.to_tensor([0, 1]), paddle.to_tensor([1, 2]))",
    "z = paddle.geometric.segment_max(x, paddle.to_tensor([0, 0, 0, 2]))", "z = F.temporal_shift(x.unsqueeze(1), 2)",
    "z = F.fractional_max_pool2d(x.unsqueeze(0), 2)", "z[:, 0:2] = paddle.rand([2, 6])",
    "z[:, 0] = paddle.rand([4, 1])",
    "z[:, 0:2] = paddle.rand([1, 4, 2, 6])", "z[0:0] = paddle.rand([0, 3, 6])", "z[...] = paddle.rand([3, 6])",
    "z[:, None, 0] = paddle.rand([4, 1, 6])", "z[-1] = np.ones([3, 6], 'float32')", "z[0, 0, 0] = paddle.rand([1])",
    "z[paddle.to_tensor([0, 1])] = paddle.rand([1, 3, 6])", "z[paddle.to_tensor([[0, 1]])] = paddle.rand([1, 2, 3, 6])",
    "z[paddle.to_tensor([0, 1]), paddle.to_tensor([1, 2])] = paddle.rand([6])", "z[paddle.to_tensor(1)] = x[0]",
    "z = x.mean() + paddle.text.viterbi_decode(x, paddle.rand([6, 6]), paddle.to_tensor([3, 3, 2, 1]))[0]",
    "z = paddle.slice_scatter(x, paddle.rand([2, 1, 6]), axes=[0], starts=[-4], ends=[4], strides=[2])",
    "z = x @ paddle.rand([6, 2]).astype('float64')", "z = x @ paddle.ones([6, 2], 'int64')", "z = x @ np.ones([6, 2])",
    "z = x.mean() + (paddle.ones([2, 6], 'int64') @ paddle.rand([6, 3])).astype('float32')", "z = (x * 2j).abs()",
    "z = (1j + x.astype('float64')).abs().astype('float32')",
    "z = x + (paddle.ones([6], 'int64') << 2).astype('float32')",
    "z = F.pad(x.unsqueeze(0), [0, 5, 0, 2], mode='reflect')", "z = paddle.nn.ReflectionPad1D(5)(x)",
    "z = paddle.vision.ops.roi_pool(x.unsqueeze(0), paddle.rand([2, 4]), paddle.to_tensor([2], 'int32'), 2)",
    "free = paddle.create_parameter([6], 'float32'); paddle.assign(paddle.ones([6]), free); z = x + free",
    "free = paddle.create_parameter([6, 4], 'float32'); paddle.assign(paddle.ones([6, 2]), free); z = x @ free",
    "w = paddle.zeros([3, 3]); paddle.assign(np.ones([3, 2], 'int64'), w); z = x + w[:, 1].sum()",
)  # fmt: skip


@pytest.fixture(scope="module")
def answers() -> Answers:
    return answers_of_lines((*ENDS, *RUNS))


@pytest.mark.parametrize("line", ENDS)
def test_it_ends_by_the_same_words(answers: Answers, line: str) -> None:
    real, traced = answers[line]
    assert real["ended"] == "refused"
    assert without_hint(traced) == without_hint(real)


@pytest.mark.parametrize("line", RUNS)
def test_what_runs_runs(answers: Answers, line: str) -> None:
    assert [one["ended"] for one in answers[line]] == ["ran", "ran"]
