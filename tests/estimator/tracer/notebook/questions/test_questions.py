"""For which assignments an answer is asked: what a person can type."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("rows = np.load('absent.npy').shape[0]", "rows"),
        ("size = json.load(open('absent.json'))['size']", "size"),
        ("classes = count_lines('absent.txt')", "classes"),
        ("total = sum(1 for _ in open('absent.txt'))", "total"),
        ("half = len(os.listdir('absent')) // 2", "half"),
        ("pixels = np.load('absent.npy') / 255", ""),
        ("column = pd.read_csv('absent.csv')['y']", ""),
        ("first = words('absent.txt')[:10]", ""),
        ("files = os.listdir('absent')", ""),
        ("files = [name for name in os.listdir('absent')]", ""),
        ("frame = pd.read_csv('absent.csv')", ""),
        ("train_data = Folder('absent')", ""),
        ("loader = paddle.io.DataLoader(Folder('absent'), batch_size=4)", ""),
        ("batch = next(iter(open('absent.txt')))", ""),
        ("features, labels = read('absent.txt')", ""),
    ],
)
def test_only_for_numbers_and_entries_an_answer_is_asked(statement, name):
    questions = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.wording")
    source = f"import os\n{statement}"
    assert questions.assigned_at(source, 2, [source]) == name


LAYER = "class Net(paddle.nn.Layer):\n    pass\nnet = Net(2)\n"


@pytest.mark.parametrize(
    ("source", "trains"),
    [
        (LAYER + "net.train()\nprint(net(x))", False),
        (LAYER + "net.train()\nnet.eval()\nloss.backward()", True),
        (LAYER + "net.train(True)", True),
        (LAYER + "solver.train()", True),
        ("from absent import Net\nnet = Net(2)\nnet.train()", True),
    ],
)
def test_a_layer_of_the_code_s_own_is_set_to_a_mode(source, trains):
    """What shows a layer at work is no training of which anything could be asked."""
    questions = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.wording")
    sites = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.sites")
    assert questions.trains([source], sites.Sites([{"index": 0, "source": source}])) is trains
