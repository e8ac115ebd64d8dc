"""What saved outputs say of a notebook's data."""

from jupyter_paddle_gpu.notebook.printed import printed_in


def test_shapes_are_read_and_those_of_one_dimension_beside_another():
    texts = [
        "(100, 12, 7) (100,)\n",
        "[4, 12, 7] [4]\n",
        "paddle.Size([8, 3]) paddle.Size([8])\n",
        "[3] of 9\n",
        "rows: (6, 4), labels: (6,)\n",
    ]
    cells = [{"outputs": [{"output_type": "stream", "text": text}]} for text in texts]
    assert printed_in(cells).shapes == ((100, 12, 7), (100,), (4, 12, 7), (4,), (8, 3), (8,), (6, 4), (6,))
