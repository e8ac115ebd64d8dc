"""More jobs than anybody waits for: copies of a server's own ended jobs, with their folders, as rows of its store.

python copies.py DATA_FOLDER COUNT
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import msgspec

from jupyter_paddle_gpu.jobs.store.job_store import JobStore
from jupyter_paddle_gpu.jobs.store.rows import new_job


def main(data: Path, count: int) -> None:
    """Add so many copies of the jobs that are there, in turn."""
    (path,) = data.glob("**/jobs.sqlite")
    store = JobStore(path)
    jobs = store.select()
    for number in range(count):
        job = jobs[number % len(jobs)]
        spec = msgspec.structs.replace(job.spec, token="")
        copy = msgspec.structs.replace(job, id=new_job(spec).id, spec=spec)
        (folder,) = data.glob(f"**/{job.id}")
        shutil.copytree(folder, folder.with_name(copy.id), symlinks=True)
        store.add(copy)
    store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
