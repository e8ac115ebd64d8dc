"""Which images a Dockerfile takes from, however it is written; what the builder could read otherwise is refused."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.engines.docker.images.dockerfile import images_of

PLAIN = [
    ("ARG BASE_IMAGE\nFROM $BASE_IMAGE\nRUN pip install x\n", ()),
    ("FROM ${BASE_IMAGE}\n# COPY --from=evil /a /b\n", ()),
    ("FROM scratch\n", ()),
    ("\ufeffFROM a:1\r\nRUN true\r\n", ("a:1",)),
    ("from --platform=linux/amd64 a:1 as Build\nFROM build\nCOPY --from=build /a /b\nCOPY --from=0 /a /b\n", ("a:1",)),
    ("FROM a:1\nCOPY --chown=1:1 --from=b:2 /x /y\n", ("a:1", "b:2")),
    ("FROM \\\n  # why\n\n  a:1\n", ("a:1",)),
    ("FROM a:1\nRUN apt-get update \\\n    # tools\n    && apt-get install git\nCOPY --from=b:2 / /\n", ("a:1", "b:2")),
    ("FROM a:1\nONBUILD COPY --from=b:2 / /\n", ("a:1", "b:2")),
    ("FROM a:1\nRUN --mount=type=bind,from=b:2,target=/x true\n", ("a:1", "b:2")),
    ("FROM a:1\nCOPY\t--from=b:2 / /\nCOPY\v--from=c:3 / /\n", ("a:1", "b:2", "c:3")),
    ("FROM a:1\nRUN echo --from=b:2\n", ("a:1",)),
    ("FROM a:1\nFROM 0\n", ("a:1", "0")),
    ("FROM a:1 AS b\nCOPY --from=B / /\nCOPY --from=7 / /\n", ("a:1", "7")),
]
UNCLEAR = [
    "", "RUN true\n", "FROM\n", "FROM a b c\n", "FROM a AS r.example/x\nFROM r.example/x\n", "FROM $X\n",
    "FROM a\nCOPY --from=$X / /\n", "# escape=`\nFROM a\n", "# syntax=evil/frontend\nFROM a\n",
    'FROM a\nCOPY --fr"om"=evil / /\n', "FROM a\nCOPY --fr\\om=evil / /\n",
    "FROM a\nRUN <<E\nCOPY x\nE\n", "FROM a\nRUN true \\\\\nCOPY --from=evil / /\n",
    "FROM a\nRUN x \\\n\nCOPY --from=evil / /\n",
    "FROM a\nRUN x \\\n  # y\nCO\\\nPY --from=evil / /\n", "FROM a\nRUN x \\\n FROM scratch AS evil\nFROM evil\n",
]  # fmt: skip


@pytest.mark.parametrize(("text", "images"), PLAIN)
def test_every_image_is_found(text, images):
    assert images_of(text) == images


@pytest.mark.parametrize("text", UNCLEAR)
def test_what_could_be_read_in_two_ways_is_refused_or_found(text):
    try:
        found = images_of(text)
    except PaddleGpuError as error:
        assert error.code == "dockerfile_base"
    else:
        assert any("evil" in image for image in found)
