"""Programs with something behind their training: what they are made of, and those that run to their end."""

HEAD = """
import paddle, copy
import numpy as np
import paddle.nn.functional as F
class Rows(paddle.io.Dataset):
    def __init__(self, n): self.x, self.y = np.random.rand(n, 6).astype("float32"), np.zeros([n, 1], "int64")
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i], self.y[i]
train = paddle.io.DataLoader(Rows(70), batch_size=16)
test = paddle.io.DataLoader(Rows(44), batch_size=16)
net = paddle.nn.Linear(6, 3)
opt = paddle.optimizer.Adam(parameters=net.parameters())
"""
STEP = "        F.cross_entropy(net(x), y).backward(); opt.step(); opt.clear_grad()\n"
EPOCHS = "for epoch in range(4):\n    for x, y in train:\n" + STEP
STEP_OF_TURN = "    net(paddle.rand([8, 6])).mean().backward(); opt.step(); opt.clear_grad()\n"
COUNTED = (
    "for epoch in range(4):\n    kept = []\n    for i in range(40):\n"
    "        x, y = paddle.rand([8, 6]), paddle.zeros([8, 1], 'int64')\n" + STEP
)
FIT = (
    "class Report(paddle.callbacks.Callback):\n    def on_train_batch_end(self, step, logs=None):\n"
    "        self.last = logs['loss']\n    def on_epoch_end(self, epoch, logs=None):\n        print({said})\n"
    "model = paddle.Model(net)\nmodel.prepare(opt, paddle.nn.CrossEntropyLoss())\n"
    "model.fit(train, test, epochs=3, verbose=0, callbacks=[Report()])\n"
)
ONE = (
    "kept = []\nfor i in range(40):\n    loss = net(paddle.rand([8, 6])).mean()\n    loss.backward()\n    opt.step()\n"
    "    opt.clear_grad()\n    kept.append(loss.numpy())\n"
)
FIT_ALONE = "def fit():\n" + "".join(f"    {line}\n" for line in ONE.splitlines())
CELL = "#---\n"
"""Where a notebook's next cell begins."""
FITTED = (
    "model = paddle.Model(net)\nmodel.prepare(opt, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())\n"
    "model.fit(train, epochs=3, verbose=0)\n"
)
OTHER = (
    "other = paddle.nn.Linear(6, 30)\nlast = paddle.optimizer.SGD(0.1, parameters=other.parameters())\n"
    "for i in range(40):\n    other(paddle.rand([8, 6])).mean().backward()\n    last.step()\n    last.clear_grad()\n"
)
TURNS = "turn = 0\nwhile {condition}:\n" + STEP_OF_TURN + "    turn += 1\n"
LATE = ONE + "    if i == 39: late, found = loss, {'net': net}\n"
SAVED = (
    "said = {}\n"
    + ONE
    + "    if i == 39: said['step'] = i\n"
    + CELL
    + "paddle.save(said, 'said.pkl')\nback = paddle.load('said.pkl')\n"
    + CELL
    + "print(back['step'], paddle.load('said.pkl')['step'])\n"
)
GATHERED = ONE + CELL + "paddle.save(kept, 'kept.pkl')\nback = paddle.load('kept.pkl')\nprint(back[39])\n"
BETWEEN = {
    "a name of a late round": LATE + CELL + "print(late.item())\n",
    "what a late round has found": "found = None\n" + LATE + CELL + "print(found['net'])\n",
    "a model of a late round": "model = None\n" + ONE + "    if i == 39: model = net\nmodel(paddle.rand([4, 6]))\n",
    "shapes by rounds": ONE
    + CELL
    + "paddle.ones([i + 1]).reshape([40])\npaddle.concat([paddle.ones([2, 3])] * len(kept)).reshape([80, 3])\n",
}
"""What comes between two trainings, of which the first is left before its last rounds."""
CHOICE = "best, kept, found = 9.0, None, []\n" + EPOCHS + "    now = net(x).mean().item()\n    if now < best:\n"
RUNS = {
    "shapes of what is gathered": ONE.replace("loss.numpy()", "net(paddle.rand([2, 6]))")
    + CELL
    + "every = paddle.concat(kept)\nassert every.shape == [80, 3]\nassert every.shape[0] == 80\n"
    + "assert list(kept[0].shape) == [2, 3]\nprint(every.shape[-2])\n",
    "what a late round has saved": SAVED,
    "what all rounds have saved": GATHERED,
    "what a choice binds": CHOICE
    + "        best, kept = now, copy.deepcopy(net.state_dict())\n"
    + CELL
    + "print(kept['weight'].shape)\nnet.set_state_dict(kept)\n",
    "what a choice binds in few epochs": "best = 0\n"
    + EPOCHS.replace("range(4)", "range(2)")
    + "    right = int((net(x).argmax(1, keepdim=True) == y).sum()) + 1\n    if right > best:\n"
    + "        best, kept = right, copy.deepcopy(net.state_dict())\nprint(kept['weight'].shape)\n",
    "what is bound at once and changed": "kept, found = [], {'loss': []}\n"
    + EPOCHS
    + "    found['loss'].append(1)\n"
    + CELL
    + "found.update(rate=1)\nprint(found['rate'])\n",
    "what is behind fit": FITTED
    + "print(model.evaluate(test, verbose=0)['acc'])\nmodel.predict_batch([paddle.rand([4, 6])])\n",
    "what a choice gathers": CHOICE
    + "        found.append(x)\n    found.append(x)\n    best = -9.0 if epoch > 1 else 9.0\n"
    + CELL
    + "print(paddle.stack(found[:1]).shape, len(found))\n",
    "ways that both fail in fewer rounds": "found = []\n"
    + EPOCHS
    + "    if net(x).mean() < 9: found += [1] * (epoch + 1)\n"
    "    else: found += [2] * (epoch + 1)\n" + CELL + "print(found[9], paddle.ones([len(found)]).reshape([10]))\n",
    "what two trainings have kept": ONE
    + CELL
    + OTHER
    + "    kept.append(i)\nassert len(kept) == 80\nother(paddle.rand([4, 6])), paddle.ones([i + 1]).reshape([40])\n",
    "a loop on a condition": TURNS.format(condition="turn < 40")
    + "assert turn == 40\nprint(list(range(41))[turn], paddle.ones([turn]).reshape([40]))\n",
    "a loop that only a return ends": "def go():\n    turn = 0\n    while True:\n    "
    + STEP_OF_TURN
    + "        turn += 1\n        if turn == 40: return net\ngo()(paddle.rand([4, 6]))\n",
    "a loop that a return ends": "def go():\n    for turn in range(90):\n    "
    + STEP_OF_TURN
    + "        if turn == 40: return net\ngo()(paddle.rand([4, 6]))\n",
    "a loop with an end of its own": TURNS.format(condition="turn < 40")
    + "else:\n    done = paddle.ones([4])\nprint(done.shape, turn)\n",
    "files that later rounds save": ONE
    + "    if i == 39: paddle.save(net.state_dict(), 'last.pdparams')\n"
    + "    if i > 30: paddle.save(net.state_dict(), f'at_{i}.pdparams')\n"
    + "    if i > 30: paddle.save(net.state_dict(), 'as/{}'.format(i) + '.pdparams')\n"
    + CELL
    + "net.set_state_dict(paddle.load('last.pdparams'))\nnet.set_state_dict(paddle.load('at_35.pdparams'))\n"
    "net.set_state_dict(paddle.load('as/39.pdparams'))\n",
    "files that fit saves": FITTED.replace("verbose=0", "verbose=0, save_dir='out'")
    + CELL
    + "model.load('out/final')\nmodel.load('out/2')\nnet.set_state_dict(paddle.load('out/final.pdparams'))\n",
    "a batch of what a model predicts": FITTED
    + CELL
    + "found = model.predict(test, verbose=0)\nprint(found[0][2], model.predict(test, verbose=0)[0][2])\n"
    "print(model.evaluate(test, verbose=0)['loss'], len(net.parameters()[1]))\n",
    "rows of all that a model predicts": FITTED
    + CELL
    + "found = model.predict(test, stack_outputs=True, verbose=0)[0]\nprint(found[43].argmax(), found.shape[0])\n"
    "print(model.evaluate(test, verbose=0)['acc'], (found.argmax(1) == test.dataset.y[:, 0]).mean())\n",
    "rows of an evaluation": ONE
    + CELL
    + "rows = np.concatenate([net(x).numpy() for x, y in test])\nprint(rows[43], np.array(kept)[39])\n",
    "exports of known shapes": ONE
    + CELL
    + "spec = [paddle.static.InputSpec([None, 6], 'float32')]\npaddle.jit.save(net, 'out/net', spec)\n"
    "paddle.jit.save(paddle.jit.to_static(net, input_spec=spec), 'out/net')\n",
    "next cells": ONE
    + CELL
    + "paddle.ones([len(kept)]).reshape([40]), kept[39]\n"
    + CELL
    + "with paddle.no_grad():\n    print(net(paddle.rand([5, 6])).argmax(-1).numpy().tolist())\n",
    "a next cell that takes long": ONE + CELL + "n = 0\nfor i in range(10**9): n += i\n" + CELL + "unbound_here()\n",
    "what the only loop has kept": ONE
    + "assert len(kept) == 40\nprint(kept[39], np.array(kept).reshape(40, 1)[:, 0])\n"
    "paddle.to_tensor(kept).reshape([40]), paddle.concat([paddle.ones([2, 3])] * len(kept)).reshape([80, 3])\n",
    "of another type in a late round": "best, kept = 0, 9.0\n"
    + ONE.replace("kept", "losses")
    + "    if i == 39: best, kept = {'step': i}, losses\nprint(best['step'], kept.index(losses[3]))\n",
    "bound in the last round": ONE + "    if i == 39:\n        last = loss\nprint(last.numpy())\n",
    "left by its own condition": ONE + "    if i == 20: break\nelse:\n    unknown()\nprint(np.stack(kept)[20])\n",
    "a callback": FIT.format(said="self.last, self.model.evaluate(test, verbose=0)"),
    "nothing": EPOCHS,
    "the best is kept": "best = 0\n" + EPOCHS + "    with paddle.no_grad():\n"
    "        right = sum(int((net(x).argmax(1, keepdim=True) == y).sum()) for x, y in test)\n"
    "    if right > best:\n        best, state = right, copy.deepcopy(net.state_dict())\n"
    "net.set_state_dict(state)\n",
    "as many as rounds": COUNTED.replace(STEP, STEP + "        if i % 10 == 9: kept.append(float(net(x).sum()))\n")
    + "    print(kept[3], paddle.to_tensor(kept).reshape([4]))\n    paddle.ones([i + 1]).reshape([40])\n",
    "names for the last rounds": COUNTED.replace(STEP, STEP + "        kept.append(i)\n")
    + "    a, b, c, d, e = kept[-5:]\n",
    "stacked": COUNTED.replace(STEP, STEP + "        if i > 5: kept.append(net(x).detach())\n")
    + "    paddle.stack(kept).reshape([34, 8, 3])\n",
    "bound in a late round": COUNTED.replace(STEP, STEP + "        if i == 39: last = i\n") + "    print(last)\n",
    "sizes of all tests": EPOCHS + "    found = []\n    for x, y in test:\n        found.append(net(x).numpy())\n"
    "    F.cross_entropy(paddle.to_tensor(np.concatenate(found)), paddle.to_tensor(test.dataset.y))\n",
    "a metric": "m = paddle.metric.Accuracy()\n" + EPOCHS + "    m.reset()\n    for x, y in test:\n"
    "        m.update(m.compute(net(x), y))\n    print(m.accumulate())\n",
    "a last batch that is taken": "h = paddle.zeros([16, 6])\n"
    + EPOCHS.replace("in train:\n", "in train:\n        x = x + h[:x.shape[0]]\n"),
    "a key of a late round": "history = {'loss': []}\n"
    + ONE
    + "    if i == 39: history['last'] = loss.item()\n"
    + CELL
    + "print(history['last'])\n",
    "keys from elsewhere": "history = {'loss': []}\n"
    + ONE
    + "    if i == 39: history.update(last=1)\n"
    + CELL
    + "print(history['last'])\n",
    "a list that grows": "names = ['a', 'b']\n"
    + ONE
    + "    if i > 30: names.append(i)\n"
    + CELL
    + "for i in range(5):\n    print(names[i])\n",
    "caught": EPOCHS + "    try:\n        net(paddle.rand([3, 7]))\n    except Exception as e:\n        print(e)\n",
    "a count": "step = 0\n"
    + EPOCHS.replace(STEP, STEP + "        step += 1\n")
    + "    assert step % 5 == 0\n    paddle.ones([step]).reshape([epoch + 1, 5])\n",
}
