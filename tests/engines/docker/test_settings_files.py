"""A job whose file of settings holds another batch size, in a container: alone, and in two processes."""

from __future__ import annotations

import json

import pytest
from conftest import PACKAGES

from jupyter_paddle_gpu.domain.notebooks import with_files

READS = """import os, subprocess, sys
rank = os.environ.get("PADDLE_TRAINER_ID", "0")
print("rank", rank, "reads", open("config.yaml").read())
said = subprocess.run([sys.executable, "look.py"], capture_output=True, text=True)
print("rank", rank, said.stdout, said.stderr)"""
LOOKS = "print('its script reads', open('config.yaml').read())"
OWN, FOR_THE_JOB = "batch_size: 128\n", "batch_size: 8\n"


def job(bench, **spec):
    """One that was submitted with the batch size that stands in the file."""
    file = bench.work / "config.yaml"
    file.write_text(OWN)
    (bench.work / "look.py").write_text(LOOKS)
    made, folder = bench.job(READS, **spec)
    copy = with_files(json.loads(folder.source.read_text()), {str(file): FOR_THE_JOB})
    folder.source.write_text(json.dumps(copy))
    return made, folder, file


def test_a_container_reads_the_jobs_own(bench):
    made, folder, file = job(bench)
    assert bench.run(made, folder).exit_code == 0, bench.explain(made, folder)
    text = bench.text(folder)
    assert f"rank 0 reads {FOR_THE_JOB.strip()}" in text
    assert f"its script reads {FOR_THE_JOB.strip()}" in text
    assert file.read_text() == OWN


@pytest.mark.paddle
def test_each_of_two_processes_does(make_bench):
    bench = make_bench(data_folders=(PACKAGES,))
    devices = ("GPU-fake-0", "GPU-fake-1")
    made, folder, file = job(bench, device_ids=devices, options={"distribution": "fleet"})
    assert bench.run(made, folder).exit_code == 0, bench.explain(made, folder)
    ranks = [folder.log, *folder.path.glob("rank-*/log.jsonl")]
    texts = [path.read_text() for path in ranks]
    assert len(texts) == 2
    assert all("reads batch_size: 8" in text and "its script reads batch_size: 8" in text for text in texts)
    assert file.read_text() == OWN
