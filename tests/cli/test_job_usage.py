"""What a job used is told by the command line while and after it runs."""

HOLD = """
import os, pathlib, time
samples = pathlib.Path(os.environ["PADDLE_GPU_CHECKPOINTS"]).with_name("statistics.jsonl")
def count():
    return samples.read_bytes().count(b"\\n") if samples.exists() else 0
hold = bytearray(64 << 20)
before = count()
while count() < before + 2:
    time.sleep(0.05)
"""
"""Keeps its memory until it has been looked at: one sample may have been under way before."""


def test_what_a_job_used_is_one_line_and_in_the_json(cli, notebook):
    assert cli("submit", notebook(HOLD), "--follow", "--no-estimate").status == 0
    statistics = cli("jobs", "last", "--json").json["result"]["statistics"]
    assert statistics["memory_peak_bytes"] > 64 << 20
    (line,) = [line for line in cli("jobs", "last").out.splitlines() if "Used" in line]
    assert "memory up to" in line
    assert "% on average" in line
    assert "最多使用内存" in cli("jobs", "last", LANG="zh_CN.UTF-8").out
