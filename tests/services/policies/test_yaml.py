"""paddle-gpu.yaml: as people write it, with its places in errors, of three owners, and how an old file moves over."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.policy import PolicyView
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.engines import registry
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.policies import schema
from jupyter_paddle_gpu.services.policies.files import Policies, find_beside, load_policies
from jupyter_paddle_gpu.services.policies.overview import READ_AS

TYPES = registry.load(others=()).types
LITERAL = """\
task: {type: training, framework: paddlepaddle, model_name: ernie-gram, sequence_length: 512, batch_size_per_gpu: 16, num_gpus_estimate: auto}
resource_policy: {memory_threshold: 0.85, allow_mixed_precision: true, distributed_strategy: ddp, preferred_devices: [A100-SXM4-40GB, V100-32GB, RTX_3090]}
scheduler: {algorithm: rl_based, timeout: 300}
"""  # noqa: E501 - as it is written in the field


def written(folder: Path, text: str, name: str = "paddle-gpu.yaml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def loaded(folder: Path, **owners: str) -> Policies:
    """What holds of files of the system, the user and beside the notebook."""
    paths = {owner: written(folder / owner, text) for owner, text in owners.items()}
    system = paths.get("system", folder / "system" / "paddle-gpu.yaml")
    return load_policies(paths.get("user"), folder / "data", TYPES, system, beside=find_beside(folder / "notebook"))


def test_a_file_as_people_of_the_field_write_it_is_understood_as_it_stands(tmp_path: Path) -> None:
    found = loaded(tmp_path, notebook=LITERAL)
    assert (found.task.model_name, found.task.batch_size_per_gpu, found.task.num_gpus_estimate) == (
        "ernie-gram",
        16,
        "auto",
    )
    assert found.matching.memory_threshold == 0.85
    assert found.matching.preferred_devices == ("A100-SXM4-40GB", "V100-32GB", "RTX_3090")
    assert (found.matching.allow_mixed_precision, found.matching.distributed_strategy) == (True, "ddp")
    assert (found.scheduler.algorithm, found.scheduler.timeout) == ("learned", 300)
    assert loaded(tmp_path / "2", user=LITERAL).matching == found.matching


def test_a_file_is_checked_before_it_takes_its_place(tmp_path: Path) -> None:
    """As whose, says the person, else where it lies; the other files count as they are."""
    written(tmp_path / "data", "resource_policy: {memory_threshold: 0.9}\n")
    system = written(tmp_path / "system", "resource_policy: {memory_threshold: 0.8}\n")
    tried = written(
        tmp_path / "drafts", "resource_policy: {memory_threshold: 0.7}\njobs: {cpu_slots: {local: 1}}\n", "x"
    )
    beside = written(tmp_path / "course", "scheduler: {priorities: {ben: 1}}\n")
    (tmp_path / "course" / "lesson.ipynb").write_text("{}")
    services = Services(Settings(data_folder=tmp_path / "data", system_policy_file=system))

    def check(file: Path, *scope: str) -> tuple[list[str], list[str], int]:
        seen = services.policy_report(tmp_path / "nowhere", file=file, scope=scope[0] if scope else None)
        view = PolicyView(seen, values=False)
        read_as = READ_AS[next(one.scope for one in seen.places if one.path == str(file))].text
        said = [one.render() for one in view.sentences(Speech("en"))]
        assert read_as.format(file=file) in said
        return [one.scope for one in seen.places if one.path == str(file)], said, view.status

    assert check(tried)[::2] == (["user"], 0)
    assert check(tried, "system")[::2] == (["system"], 0)
    assert "“matching.memory_threshold” of" in " ".join(check(tried, "system")[1]), "the user's is looser than that"
    assert check(system)[::2] == (["system"], 0)
    scopes, said, status = check(tried, "notebook")
    assert (scopes, status) == (["notebook"], 1)
    assert f"{tried}:2:1" in said[0] and "there is no such field; there are resource_policy, scheduler, task" in said[0]
    scopes, said, status = check(beside)
    assert (scopes, status) == (["notebook"], 0)
    assert any("has no effect here" in one for one in said)
    services.close()


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("resource_policy:\n  memory_threshold: 1.5\n", ":2:3", "“resource_policy.memory_threshold”"),
        ("# ours\n\nmatching:\n  prefer: luck\n", ":4:3", "“matching.prefer”"),
        ("resource_policy:\n  colour: red\n", ":2:3", "no such field"),
        ("resource_policy:\n  weights:\n    cost: -1\n", ":3:5", "weights.cost"),
        ("shceduler: {}\n", ":1:1", "“shceduler”"),
        ("task: {framework: torch}\n", ":1:8", "“task.framework”"),
        ("scheduler: {quiet_hours: [late]}\n", ":1:13", "scheduler.quiet_hours"),
        ("scheduler: {algorithm: luck}\n", ":1:13", "scheduler.algorithm"),
        ("task: [1]\n", ":1:1", "“task”"),
        ("matching: {}\nresource_policy: {}\n", ":", "the file has both"),
        ("resource_policy: {memory_threshold: 0.5\n", ":2:1", "cannot be read"),
        ("\tx: 1\n", ":1:1", "cannot be read"),
        ("- 1\n", "", "must have sections"),
        ("x: !!python/object:os.system {}\n", ":1:4", "cannot be read"),
    ],
)
def test_errors_have_file_line_and_column(tmp_path: Path, text: str, place: str, words: str) -> None:
    with pytest.raises(PaddleGpuError) as caught:
        loaded(tmp_path, user=text)
    assert f"{tmp_path}/user/paddle-gpu.yaml{place}" in str(caught.value)
    assert words in str(caught.value)


def test_an_empty_file_settles_nothing(tmp_path: Path) -> None:
    assert loaded(tmp_path, user="# nothing yet\n").matching == Policies().matching


def test_later_files_tighten_and_loosen_nothing(tmp_path: Path) -> None:
    system = "resource_policy: {memory_threshold: 0.8, power_ceiling: 300, home_grown_first: true}\n"
    user = "resource_policy: {memory_threshold: 0.9, power_ceiling: 250}\n"
    notebook = "resource_policy: {memory_threshold: 0.6, sharing: exclusive, power_ceiling: 400}\n"
    found = loaded(tmp_path, system=system, user=user, notebook=notebook)
    assert (found.matching.memory_threshold, found.matching.power_ceiling) == (0.6, 250)
    assert (found.matching.sharing, found.matching.home_grown_first) == ("exclusive", True)
    assert set(found.overruled) == {"matching.memory_threshold", "matching.power_ceiling"}


def test_a_file_beside_a_notebook_settles_nothing_of_the_machine(tmp_path: Path) -> None:
    with pytest.raises(PaddleGpuError) as caught:
        loaded(tmp_path, notebook="docker: {pids: 5}\n")
    assert "“docker”" in str(caught.value)


def test_the_file_beside_a_notebook_holds_for_that_notebook(tmp_path: Path) -> None:
    services = Services(Settings(data_folder=tmp_path / "data", system_policy_file=tmp_path / "none"))
    written(tmp_path / "here", "resource_policy: {memory_threshold: 0.5}\n")
    assert services.policies_in(tmp_path / "here").matching.memory_threshold == 0.5
    assert services.policies_in(tmp_path).matching.memory_threshold == services.policy.memory_threshold == 0.85
    services.close()


def test_an_old_file_is_read_and_moves_over_with_a_word(tmp_path: Path) -> None:
    written(tmp_path, json.dumps({"matching": {"memory_threshold": 0.7}}), "policy.json")
    services = Services(Settings(data_folder=tmp_path, system_policy_file=tmp_path / "none"))
    assert services.policy.memory_threshold == 0.7
    assert [note.code for note in services.policy_report().notes] == ["policy_old_name"]
    assert "policy_old_name" in [check.finding.code for check in services.doctor()]
    services.close()
    path = services.policy_init()
    again = Services(Settings(data_folder=tmp_path, system_policy_file=tmp_path / "none"))
    assert again.policy.memory_threshold == 0.7
    assert again.policies.policy_file == str(path) == str(tmp_path / "paddle-gpu.yaml")
    assert [note.code for note in again.policy_report().notes] == ["policy_both_names"]
    with pytest.raises(PaddleGpuError) as caught:
        again.policy_init()
    assert caught.value.code == "policy_exists"
    again.close()


def test_what_settles_the_order_of_all_users_counts_in_the_systems_file_alone(tmp_path: Path) -> None:
    text = "scheduler:\n  quotas: {ann: 2}\n  aging: 60\n  priorities: {ann: 9}\n"
    written(tmp_path / "own", text)
    services = Services(Settings(data_folder=tmp_path / "own", system_policy_file=tmp_path / "none.yaml"))
    notes = services.policy_report().notes
    assert [(note.code, note.params["field"]) for note in notes] == [
        ("policy_of_all", "scheduler.aging"),
        ("policy_of_all", "scheduler.priorities"),
    ]
    assert str(notes[0].params["file"]).endswith("paddle-gpu.yaml:3:3"), notes[0].params["file"]
    services.close()
    (tmp_path / "etc").mkdir()
    written(tmp_path / "etc", text)
    fixed = Settings(data_folder=tmp_path / "empty", system_policy_file=tmp_path / "etc" / "paddle-gpu.yaml")
    services = Services(fixed)
    assert services.policy_report().notes == ()
    assert services.policies.common.priorities == {"ann": 9}
    services.close()


@pytest.mark.parametrize(
    ("fixed", "own", "held"),
    [
        ({"*": 2}, {"ben": 9}, {"*": 2, "ben": 2}),
        ({"*": 2}, {"ben": 1}, {"*": 2, "ben": 1}),
        ({"anna": 4}, {"*": 1}, {"anna": 1, "*": 1}),
        ({"anna": 4, "*": 2}, {"anna": 9, "*": 9}, {"anna": 4, "*": 2}),
        ({"anna": 4}, {"ben": 9}, {"anna": 4, "ben": 9}),
    ],
)
def test_nobody_gets_out_of_the_star_by_naming_himself(
    tmp_path: Path, fixed: dict[str, int], own: dict[str, int], held: dict[str, int]
) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "own").mkdir()
    written(tmp_path / "etc", json.dumps({"scheduler": {"quotas": fixed}}))
    written(tmp_path / "own", json.dumps({"scheduler": {"quotas": own}}))
    system = tmp_path / "etc" / "paddle-gpu.yaml"
    services = Services(Settings(data_folder=tmp_path / "own", system_policy_file=system))
    assert services.policies.scheduler.quotas == held
    services.close()


def test_the_first_file_is_right_and_so_are_its_examples(tmp_path: Path) -> None:
    services = Services(Settings(data_folder=tmp_path, system_policy_file=tmp_path / "none"))
    path = services.policy_init()
    report = services.policy_report()
    services.close()
    assert (report.problems, report.notes) == ((), ())
    path.write_text(re.sub(r"^(  )?# (?!yaml-|What)", r"\1", path.read_text(), flags=re.MULTILINE))
    held = load_policies(path, tmp_path, TYPES)
    assert held.scheduler.quotas == {"anna": 4, "*": 2}
    found = held.matching
    assert found.prices == {"A100 SXM 80GB": 1.9, "RTX 4090": 0.5}
    assert (found.sharing, found.heat_ceiling, found.plan_for) == ("exclusive", 85, "low")


def test_lower_precision_is_refused_where_the_file_beside_the_notebook_says_so(tmp_path: Path) -> None:
    services = Services(Settings(data_folder=tmp_path / "data", system_policy_file=tmp_path / "none"))
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "outputs": [], "execution_count": None, "source": "x = 1"}
    content = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = written(tmp_path / "here", json.dumps(content), "n.ipynb")
    beside = written(tmp_path / "here", "resource_policy: {allow_mixed_precision: false}\n")
    found = services.preflight(services.open(path), Submission(request=EstimateRequest(amp="O1")))
    services.close()
    assert [problem.code for problem in found.problems] == ["precision_not_allowed"]
    assert str(beside) in found.problems[0].render_hint()


def test_what_nothing_follows_from_is_said(tmp_path: Path) -> None:
    written(tmp_path, LITERAL)
    services = Services(Settings(data_folder=tmp_path, system_policy_file=tmp_path / "none"))
    report = services.policy_report()
    services.close()
    assert {note.params.get("field") for note in report.notes} >= {"task.model_name"}
    assert "learned_young" in {note.code for note in report.notes}, "it is asked for and has not proven itself"
    assert report.settled["resource_policy"]["memory_threshold"] == 0.85


def test_the_schema_is_that_of_the_types_and_knows_the_literal_example() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the package jsonschema")
    yaml = pytest.importorskip("yaml")
    assert schema.FILE.read_text() == schema.text(TYPES), "write it anew: python -m …services.policies.schema"
    known = json.loads(schema.FILE.read_text())
    check = jsonschema.Draft202012Validator(known)
    check.check_schema(known)
    assert not list(check.iter_errors(yaml.safe_load(LITERAL)))
    assert list(check.iter_errors({"resource_policy": {"memory_threshold": 2}}))
    assert list(check.iter_errors({"resource_policy": {"colour": "red"}}))
