"""What the command line says of a job beside its state."""

from __future__ import annotations

import msgspec

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.comparison import ComparisonView
from jupyter_paddle_gpu.commands.views.estimate import EstimateView
from jupyter_paddle_gpu.commands.views.job import JobsView, JobView, silent, state, submitted
from jupyter_paddle_gpu.commands.views.plans.sweeps import SweepView, trial_state
from jupyter_paddle_gpu.commands.views.usage import driver_peak, used
from jupyter_paddle_gpu.domain.changes import CellDifference
from jupyter_paddle_gpu.domain.decisions import Limits
from jupyter_paddle_gpu.domain.estimates import Estimate, Fit
from jupyter_paddle_gpu.domain.jobs.job import Job, JobResult, JobSpec, Progress
from jupyter_paddle_gpu.domain.jobs.statistics import DeviceSummary, StatisticsSummary
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.plans.sweeps import Sweep, Trial, report
from jupyter_paddle_gpu.domain.variables import Difference
from jupyter_paddle_gpu.notices import words
from jupyter_paddle_gpu.services.requests import Comparison


def test_devices_are_said_with_what_the_driver_tells():
    say = Speech("en")
    told = DeviceSummary(id="GPU-0", memory_peak_bytes=3 << 30, utilization_mean_percent=37.4)
    mute = DeviceSummary(id="GPU-1")
    assert used(say, StatisticsSummary(devices=(told, mute))) == "GPU-0 up to 3.00 GiB, busy for 37 %"
    names = {"GPU-0": Message(code="device", text="{title} ({name})", params={"title": "NPU 0", "name": "910B2C"})}
    assert used(say, StatisticsSummary(devices=(told,)), names).startswith("NPU 0 (910B2C) up to 3.00 GiB")
    assert used(say, StatisticsSummary()) == ""
    assert driver_peak(StatisticsSummary(devices=(told, mute))) == 3 << 30
    assert driver_peak(StatisticsSummary(devices=(mute,))) is driver_peak(None) is None


def test_a_script_is_called_one():
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    for path, said in (("/a.ipynb", "Notebook"), ("/train.py", "Script")):
        job = Job(id="a", spec=msgspec.structs.replace(spec, notebook=path), state="running", created=0, updated=0)
        assert JobView(job).rows(Speech("en"))[0] == (said, path)


def test_the_time_left_is_said_where_it_is_known():
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    for left, said in ((95.0, ("Time left", "1 min 35 s")), (None, None)):
        job = Job(id="a", spec=spec, state="running", created=0, updated=0, progress=Progress(seconds_left=left))
        assert next((row for row in JobView(job).rows(Speech("en")) if row[0] == "Time left"), None) == said


def test_how_far_a_job_is_stands_beside_its_state():
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    told = [
        state(Speech("en"), Job(id="a", spec=spec, state=stands, created=0, updated=0, progress=progress))
        for stands, progress in (
            ("running", Progress(cells_done=3, cells_total=8, epoch=2, epochs=5)),
            ("running", Progress(cells_done=3, cells_total=8)),
            ("running", Progress(cell=9, cells_done=7, cells_total=8)),
            ("running", Progress(cell=9, cells_done=7, cells_total=8, seconds_left=12.0)),
            ("running", Progress(cells_done=0, cells_total=1)),
            ("succeeded", Progress(cells_done=8, cells_total=8, epoch=5, epochs=5)),
        )
    ]
    assert told == [
        "running · epoch 2/5",
        "running · 3 of 8 cells done",
        "running · last cell, length unknown",
        "running · 7 of 8 cells done",
        "running",
        "done",
    ]


def test_a_bar_is_drawn_where_somebody_knows_how_far_it_is():
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    for left, drawn in ((12.0, True), (None, False)):
        progress = Progress(cell=9, cells_done=7, cells_total=8, share=0.99, seconds_left=left)
        job = Job(id="a", spec=spec, state="running", created=0, updated=0, progress=progress)
        assert ("width:99.0%" in JobView(job).html(Speech("en"))) is drawn


def test_where_it_would_stop_is_said_until_it_has_ended():
    told = Message(code="a", text="The notebook would stop: {error}", params={"error": "KeyError: 'label'"})
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local", would_stop=told)
    asked = Message(code="b", text="Open question: {name}.", params={"name": "BATCH"})
    spec = msgspec.structs.replace(spec, unanswered=(asked,))
    job = Job(id="a", spec=spec, state="queued", created=0, updated=0)
    assert ("Answers", "Open question: BATCH.") in JobView(job).rows(Speech("en"))
    row = ("Would stop", "The notebook would stop: KeyError: 'label'")
    assert row in JobView(job).rows(Speech("en"))
    assert row not in JobView(msgspec.structs.replace(job, state="failed")).rows(Speech("en"))
    lines = submitted(Speech("en"), job).splitlines()
    assert lines[:2] == ["Job a was submitted.", "The notebook would stop: KeyError: 'label'"]
    assert lines[2:] == ["Open question: BATCH."]
    assert submitted(Speech("zh_CN"), job).startswith("作业 a 已提交。\n")


def test_a_log_without_lines_has_a_sentence_in_its_place():
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    job = Job(id="a", spec=spec, state="queued", created=0, updated=0)
    assert silent(Speech("en"), job) == "Job a has printed nothing so far: waiting."
    assert silent(Speech("zh_CN"), job) == "作业 a 目前还没有输出：等待中。"


def test_limits_are_said_with_their_source():
    told = Message(code="a", text="Memory limit {limit}: as the job asks.", params={"limit": "2 GiB"})
    spec = JobSpec(
        name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="docker", limits=Limits(why=(told,))
    )
    job = Job(id="a", spec=spec, state="queued", created=0, updated=0)
    assert ("Limits", "Memory limit 2 GiB: as the job asks.") in JobView(job).rows(Speech("en"))
    assert ("限制", "内存限制 2 GiB：按作业的要求。") in JobView(job).rows(Speech("zh_CN"))


def test_two_jobs_stand_side_by_side():
    spec = JobSpec(name="lenet", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    one, other = (
        Job(id=name, spec=spec, state=state, created=0, updated=0, started=0, ended=60, progress=progress)
        for name, state, progress in (
            ("a", "succeeded", Progress(metrics={"loss": 0.5})),
            ("b", "failed", Progress(metrics={"loss": 0.25, "acc": 0.9})),
        )
    )
    code = CellDifference(before=2, after=2, difference="-lr = 0.1\n+lr = 0.2")
    differs = (
        Difference(kind="variable", name="lr", before=0.1, after=0.2),
        Difference(kind="devices", before=0, after=1),
        Difference(kind="code"),
    )
    view = ComparisonView(one, other, Comparison(differs=differs, code=(code,)))
    assert view.rows(Speech("en")) == [
        *[("lr", "0.1", "0.2"), ("Number of devices", "0", "1"), ("State", "done", "failed")],
        *[("Time", "1 min 00 s", "1 min 00 s"), ("loss", "0.5", "0.25"), ("acc", "–", "0.9")],
    ]
    name = Message(code="device", text="{title} ({name})", params={"title": "NPU 1", "name": "Ascend 910B2"})
    placed = msgspec.structs.replace(other, device_ids=("npu-1",), device_names={"npu-1": name})
    rows = ComparisonView(one, placed, Comparison(differs=differs)).rows(Speech("en"))
    assert ("Devices", "–", "NPU 1 (Ascend 910B2)") in rows
    assert "Cell 3" in view.html(Speech("en")) and "+lr = 0.2" in view.html(Speech("en"))
    assert "代码相同" in ComparisonView(one, one, Comparison()).html(Speech("zh-CN"))


def test_who_submits_is_told_how_to_follow():
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    job = Job(id="a", spec=spec, state="queued", created=0, updated=0)
    told = [one.render() for one in JobView(job, begun=True).sentences(Speech("en"))]
    assert told == ["`jupyter paddle-gpu logs a --follow` shows what it prints, until it ends."]
    assert JobView(job).sentences(Speech("en")) == ()


def test_a_device_of_a_maker_that_was_not_checked_is_marked_in_the_headline_too():
    figures = {"status": "ok", "evidence": "trace", "peak_bytes": 1 << 30, "device": "Ascend 910B2C 64GB"}
    estimate = Estimate(
        **figures,
        device_checked=False,
        fits=(Fit(device="Ascend 910B2C 64GB", checked=False, limit_bytes=2, largest_batch=1),),
    )
    said = EstimateView(estimate)
    assert said.headline(Speech("en")) == "1.00 GiB on Ascend 910B2C 64GB (not checked on hardware)"
    assert "Ascend 910B2C 64GB (not checked on hardware): the largest batch" in said.html(Speech("en"))


def test_a_jobs_devices_are_said_by_name():
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    name = Message(code="device", text="{title} ({name})", params={"title": "GPU 1", "name": "Tesla T4"})
    job = Job(
        id="a",
        spec=spec,
        state="running",
        created=0,
        updated=0,
        device_ids=("GPU-9", "GPU-8"),
        device_names={"GPU-9": name},
    )
    assert ("Devices", "GPU 1 (Tesla T4), GPU-8") in JobView(job).rows(Speech("en"))


def test_every_face_calls_a_job_of_which_a_program_failed_so():
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    well = Job(id="a", spec=spec, state="succeeded", created=0, updated=0, result=JobResult(reason="succeeded"))
    broken = msgspec.structs.replace(
        well,
        result=JobResult(reason="succeeded", program_cell=1, program_status=3),
        progress=Progress(warning=Message(code="program_failed", text="exit status 3")),
    )
    for job, said in ((well, "done"), (broken, "done, its program failed")):
        say = Speech("en")
        assert JobsView([job]).rows(say)[0][2] == state(say, job) == dict(JobView(job).rows(say))["State"] == said
        assert words.title(job, say.translate) == f"a: {said}"
        assert JobsView([job]).status == JobView(job).status == 0  # the notebook ran to its end
    assert words.data(broken, Speech("en").translate)["program_status"] == 3
    assert state(Speech("zh_CN"), broken) == "已完成，但其程序失败"
    ended_early = msgspec.structs.replace(broken, state="cancelled")
    assert state(Speech("en"), ended_early) == "stopped"


def test_a_trial_of_which_a_program_failed_is_the_best_only_where_no_other_ended():
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    trials = tuple(Trial(number=number, values={"lr": number}, job_id=str(number)) for number in (0, 1))
    sweep = Sweep(id="s", name="a", notebook="/a.ipynb", created=0, dimensions=(), trials=trials, wanted=2)
    jobs = {
        str(number): Job(
            id=str(number), spec=spec, state="succeeded", created=0, updated=0,
            result=JobResult(reason="succeeded", program_cell=0, program_status=status),
            progress=Progress(
                metrics={"loss": loss}, warning=Message(code="program_failed", text="exit status 3") if status else None
            ),
        )
        for number, loss, status in ((0, 0.1, 3), (1, 0.5, None))
    }  # fmt: skip
    seen = report(sweep, jobs)
    assert seen.best == 1
    assert [trial_state(Speech("en"), row) for row in seen.trials] == ["done, its program failed", "done"]
    assert [one.render() for one in SweepView(seen).sentences(Speech("en"))] == ["exit status 3"]
    assert report(sweep, {"0": jobs["0"]}).best == 0
