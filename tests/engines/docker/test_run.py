"""A notebook runs in a container, as the person, with what it was given and nothing else."""

from __future__ import annotations

import json


def test_a_notebook_runs_and_what_it_leaves_is_there(bench):
    job, folder = bench.job("print('hello from inside')\nopen('made.txt', 'w').write('x')")
    seen = bench.run(job, folder)
    assert seen.exit_code == 0, bench.explain(job, folder)
    assert seen.reason is None
    assert "hello from inside" in bench.text(folder)
    assert (bench.work / "made.txt").read_text() == "x"
    assert json.loads(folder.result.read_bytes())["reason"] == "succeeded"
