"""The collection of logged figures can be read, holds no odd thread, and says which half is held back."""

from __future__ import annotations

import hashlib
import math
import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.gpu_logs.collection import Figure, Log, Reading, Tree, read
from benchmarks.gpu_logs.made_up_talks import conversations
from benchmarks.gpu_logs.rebuild import error, flags, inside, kept, reserved_range
from benchmarks.gpu_logs.records import PAGE as RECORDS
from benchmarks.gpu_logs.records import page as every_record
from benchmarks.gpu_logs.tables import OF_TESTS, driver, figures, likeliest, reached, summed_up, unseen
from benchmarks.gpu_logs.trees import PROGRAMS, AnotherCommitError, missing, tree_of
from jupyter_paddle_gpu.domain.measurements.gpu_logs import MIB
from jupyter_paddle_gpu.estimator.memory.evidence import ALL

PAGE = Path(__file__).resolve().parents[1] / "docs" / "gpu-logs.md"
HALVES = {"rules": "seen", "held back": "held back", "blind": "blind"}


def test_the_collection() -> None:
    logs = read()
    assert len({log.thread for log in logs}) >= 25
    assert {log.half for log in logs} == {"rules", "held back", "blind"}
    assert all(log.number % 2 == 0 for log in logs)
    for log in logs:
        for figure in (log.allocated, log.reserved, log.device, log.exhausted):
            assert figure is None or 0 < figure.low <= figure.high
        if log.allocated and log.reserved:
            assert log.allocated.low <= log.reserved.high, log.thread
        assert log.grade != "none" or not (log.allocated or log.reserved), log.thread


def test_a_figure_in_megabytes_is_a_range() -> None:
    figure = Figure.of_mib(100)
    assert error(figure, 100 * MIB) == error(figure, 101 * MIB - 1) == 0
    assert error(figure, 202 * MIB) == 202 * MIB / (101 * MIB - 1) - 1
    assert error(None, 1) is error(figure, None) is None


def test_a_log_is_rebuilt_with_what_paddle_did_then() -> None:
    linear, views = "FLAGS_use_legacy_linear", "FLAGS_use_stride_kernel"
    asked = {
        "2.3": {linear: "1", views: "0"}, "2.6.2": {linear: "1"}, "3.3.1": {},
        "2023-08-01": {linear: "1", views: "0"}, "2023-11-21": {linear: "1"}, "": {linear: "1"},
    }  # fmt: skip
    for said, wanted in asked.items():
        version, date = ("", said) if "-" in said else (said, "")
        assert flags(Log(log="a", paddle=version, date=date)) == wanted, said


def test_the_estimates_table_is_the_rebuilt_one() -> None:
    for seen in ALL:
        row = next(row for row in kept() if row["thread"] == seen.thread)  # as its own files have it
        ahead = row["estimated"]["terms"].get("batches_ahead", 0)  # of rows from before: batches wait in pinned memory
        assert (seen.kind, seen.estimated) == (row["kind"], row["estimated"]["reserved_peak_bytes"] - ahead)
        assert seen.logged == row["logged"]["reserved"]
        assert "sizes_drawn" not in row["estimated"]["notes"]


def test_refused_requests_are_tensors() -> None:
    """To the byte: rows of three gates of 2,048 for 7,065 frames; the last stage of ResNet50 for 3840 x 2160 at an
    eighth, an eighth of 8 pictures of 544 (one of ten sizes that YOLOv3 draws), all three with the 256 bytes that
    Paddle added to each request up to 2.2; a moment of the widest weight of
    ChatGLM2, and of Llama 7B; 24 channels of 20 pages of 640 at a quarter."""
    told = {log.name: log.refused for log in read()}
    shapes = {
        "yeyupiaoling/PaddlePaddle-DeepSpeech#60": ((7065, 3 * 2048), 256, 165.586182),
        "PaddlePaddle/PaddleSeg#1568": ((2048, 270, 480), 256, 1012.500244),
        "PaddlePaddle/PaddleDetection#3100": ((8, 128, 544 // 8, 544 // 8), 256, 18.062744),
        "PaddlePaddle/PaddleNLP#8612": ((4096, 2 * 13696), 0, 428.0),
        "PaddlePaddle/PaddleNLP#7312": ((4096, 11008), 0, 172.0),
        "PP-OCRv5_mobile_det, RTX 3050 Laptop, 20": ((20, 24, 160, 160), 0, 46.875),
    }
    for thread, (shape, more, said) in shapes.items():
        refused = told[thread]
        assert refused is not None and refused.low == refused.high == math.prod(shape) * 4 + more
        assert f"{refused.low / MIB:.6f}" == f"{said:.6f}"


def test_a_card_that_was_too_small_and_one_that_was_not_are_foretold() -> None:
    """Of PaddleOCR#17486 with the files' own values the smaller recogniser does not fit, the larger one does; of
    Paddle#36244 batches of 692 do, of 740 not; on an RTX 5090 256 lines of a small recogniser do not;
    PaddleDetection#6890 is the one that is not foretold."""
    rows = [row for row in kept() if row.get("fits") is not None]
    wrong = [row["thread"] for row in rows if row["fits"] != row["fits_estimated"]]
    assert (len(rows), wrong) == (10, ["PaddlePaddle/PaddleDetection#6890"])


def test_the_page_has_every_rebuilt_row_with_its_figures() -> None:
    """And no figure of a held-back log that is none of the results."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| .*\|$", line)]
    told = []
    for row in kept():
        half = HALVES[row["half"]]
        if row["logged"]["allocated"] or row["logged"]["reserved"]:
            told.append((half, f"| {figures(row)} |"))
        if row["logged"]["device"]:
            told.append((half, f"| {driver(row)} |"))
    missing = [row for row in told if not any(f"| {row[0]} |" in line and line.endswith(row[1]) for line in lines)]
    assert missing == []
    held_back = [
        line for line in lines if "| held back |" in line and re.search(r"\d \| ([−+]?[\d.]+ %|inside) ", line)
    ]
    assert len(held_back) >= 25
    assert [line for line in held_back if not any(line.endswith(row[1]) for row in told)] == []


def test_the_page_counts_what_was_rebuilt_and_what_was_not() -> None:
    page, logs = " ".join(PAGE.read_text(encoding="utf-8").split()), read()
    rebuilt, hindered = sum(bool(log.variants) for log in logs), sum(bool(log.hindered) for log in logs)
    assert f"{len(logs)} records of public threads" in page
    assert f"{rebuilt} of them could be rebuilt" in page
    assert f"{rebuilt} of the {len(logs)} records" in page
    assert f"{hindered} could not" in page
    assert f"{hindered} records, and what hinders each" in page


def test_every_reading_names_the_commit_that_it_was_estimated_with() -> None:
    """A loop of ours that imports no trainer's library has none; a tree of the log is not younger than the log."""
    for log, reading in ((one, each) for one in read() for each in one.variants):
        needs_one = bool(reading.repository) or "paddlenlp" in (PROGRAMS / reading.script).read_text(encoding="utf-8")
        assert bool(reading.trees) == needs_one, log.name
        if reading.repository:
            assert reading.repository.partition("-20")[0] == reading.trees[0].repository, log.name
        for tree in (*reading.trees, *filter(None, [reading.again])):
            assert re.fullmatch(r"[0-9a-f]{8}", tree.commit), log.name
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", tree.date), log.name
            assert (tree.version == "log") == (not tree.why), log.name
            assert tree.version != "log" or not log.date or tree.date <= log.date, log.name


def test_every_row_is_of_the_commit_that_its_reading_names() -> None:
    named = {
        (log.name, reading.assumes, reading.arguments): (
            reading.trees[0].commit if reading.trees else "",
            reading.again and reading.again.commit,
        )
        for log in read()
        for reading in log.variants
    }
    for row in kept():
        told = row["commit"], row.get("again", {}).get("commit")
        assert told == named[row["thread"], row["assumes"], tuple(row["arguments"])], row["thread"]


def test_the_page_counts_the_records_at_the_version_of_their_log() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    rebuilt = [log.version for log in read() if log.variants]
    at_it, none = rebuilt.count("log") + rebuilt.count("equal"), rebuilt.count("none")
    assert f"{at_it} of the {len(rebuilt)} are rebuilt with the trainer of their log's date" in page
    assert f"{none} import nothing but Paddle" in page
    assert f"{rebuilt.count('other')} have another version, and {rebuilt.count('undated')} no date" in page


def test_a_clone_at_another_commit_is_told_and_a_work_tree_of_the_commit_is_taken(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        person = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        done = subprocess.run(["git", *person, *words], cwd=clone, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    clone = tmp_path / "Trainer"
    clone.mkdir()
    git("init", "-q")
    commits = []
    for word in ("first", "second"):
        (clone / "train.py").write_text(word)
        git("add", "train.py")
        git("commit", "-q", "-m", word)
        commits.append(git("rev-parse", "HEAD")[:8])
    first, second = (
        Reading(
            repository="a/Trainer", arguments=(), trees=(Tree(repository="a/Trainer", commit=one, date="2025-01-01"),)
        )
        for one in commits
    )
    assert (tree_of(second, tmp_path), missing([second], tmp_path)) == (clone, [])
    with pytest.raises(AnotherCommitError, match=f"Trainer is at {commits[1]}, .* {commits[0]} of 2025-01-01: `git -C"):
        tree_of(first, tmp_path)
    (told,) = missing([first, first, second], tmp_path)
    subprocess.run(told.split("`")[1], shell=True, check=True, capture_output=True)
    assert (tree_of(first, tmp_path) / "train.py").read_text() == "first"
    assert tree_of(Reading(repository="", arguments=()), tmp_path) == PROGRAMS
    assert "is no clone" in missing([Reading(repository="a/None", arguments=(), trees=first.trees)], tmp_path)[0]


def test_data_is_not_made_for_a_trainer_of_before(tmp_path: Path) -> None:
    """PaddleMIX of October 2024, of DiT's log, has the configuration and not yet the network that is set right."""
    configuration = tmp_path / "paddlemix" / "config" / "llava" / "v1_5" / "lora_sft_argument.json"
    configuration.parent.mkdir(parents=True)
    configuration.write_text("{}")
    conversations(tmp_path)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [configuration]


def test_no_odd_thread_is_evidence_of_anything() -> None:
    """They are kept for judging: neither a record nor a source of a rule."""
    root = PAGE.parents[1]
    files = [*root.glob("docs/*.md"), *root.glob("jupyter_paddle_gpu/**/*.py"), *root.glob("benchmarks/**/*.py")]
    odd = re.compile(r"\b(?:Paddle\w*|OpenOCR)#\d*[13579]\b")
    assert [found for file in files for found in odd.findall(file.read_text(encoding="utf-8"))] == []


def test_every_record_is_told_with_all_that_is_known_of_it() -> None:
    written = RECORDS.read_text(encoding="utf-8")
    assert written == every_record(), "python -m benchmarks.gpu_logs.records writes it"
    assert all(log.name in written for log in read())


def test_the_page_sums_up_the_held_back_tests() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for half, called in (pair for pair in HALVES.items() if pair[0] != "blind"):
        count, median, largest = summed_up(half)
        said = f"Of the {count} that are {called} the median error is {median:.1%}, the largest {largest:.1%}."
        assert said.replace("%", " %") in page


def test_the_page_says_how_far_the_held_back_half_reaches() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    alone, all_of_them = reached(assumed=False), reached(assumed=True)
    sizes = [f"{one * 100:.1f}" for one in alone.errors]
    assert f"`allocated` is off by {', '.join(sizes[:-1])} and {sizes[-1]} %" in page
    middle, most = (f"{one * 100:.1f} %" for one in (all_of_them.middle, all_of_them.most))
    assert f"median error of `allocated` is {middle} and the 90th percentile {most}" in page
    assert f"`reserved` of {all_of_them.inside[0]} of {all_of_them.inside[1]} lies inside" in page


def test_the_page_says_how_many_logs_were_in_view_of_no_rule() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    unseen_names = {log.name for log in read() if log.unseen}
    counts = {}
    for figure in ("allocated", "reserved"):
        logged = [row["thread"] for row in likeliest() if row["logged"][figure]]
        counts[figure] = len(unseen_names.intersection(logged)), len(logged)
    (some, of), (others, of_them) = counts["allocated"], counts["reserved"]
    assert f"{some} of the {of} rebuilt ones with `allocated` and {others} of the {of_them} with `reserved`" in page
    assert some * 2 > of, "the page says that it is more than half"
    assert others * 2 == of_them, "the page says that it is half"
    tests = {row["thread"] for row in kept() if row["thread"].startswith(OF_TESTS)}
    assert f"with them it is {some} of {of + len(tests)} with `allocated`" in page
    alone, all_of_them = unseen(assumed=False), unseen(assumed=True)
    middle, most = (f"{one * 100:.1f} %" for one in (all_of_them.middle, all_of_them.most))
    assert f"Of these {some} the median error of `allocated` is {middle}, the 90th percentile {most}" in page
    middle, most = (f"{one * 100:.1f} %" for one in (alone.middle, alone.most))
    told = f"Of the {len(alone.errors)} of which nothing had to be assumed they are {middle} and {most}"
    assert f"{told}, and `reserved` of {alone.inside[0]} of them lies inside" in page
    assert alone.inside[1] == len(alone.errors)
    assert f"of {all_of_them.inside[0]} of all {all_of_them.inside[1]}" in page


def test_only_what_was_held_back_comes_into_view() -> None:
    assert {log.half for log in read() if log.in_view} == {"held back"}
    assert {log.unseen for log in read() if log.half == "rules" or log.in_view} == {False}


def test_the_page_says_how_far_the_blind_test_reaches() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    told, all_of_them = reached(assumed=False, half="blind"), reached(assumed=True, half="blind")
    for found in (told, all_of_them):
        middle, most = (f"{one * 100:.1f} %" for one in (found.middle, found.most))
        assert f"the median error of `allocated` is {middle}, the 90th percentile {most}" in page
        assert f"`reserved` of {found.inside[0]} of {found.inside[1]}" in page


def test_what_was_found_behind_all_rules_is_blind_whatever_its_name_says() -> None:
    named = {log.name: log for log in read() if log.blind}
    digits = {int(hashlib.sha256(name.encode()).hexdigest()[0], 16) % 2 for name in named}
    assert digits == {0, 1}, "names of either half"
    assert {log.half for log in named.values()} == {"blind"}


def test_a_range_of_what_the_allocator_holds_is_without_context_and_pages() -> None:
    """The driver counts 40 of pages and 100 to 200 of context: 960 to 1,040 are left around 1,000 reserved."""
    terms = {"context_low": 100, "context_high": 200, "communication_low": 0, "communication_high": 0}
    found = {"reserved_peak_bytes": 1000, "peak_bytes": 1190, "low": 1100, "high": 1280, "terms": terms | {"logs": 9}}
    assert reserved_range(found) == (960.0, 1040.0)
    held = [inside(Figure.of(size), reserved_range(found)) for size in (959, 960, 1040, 1041)]
    assert held == [False, True, True, False]
    assert inside(Figure(low=900, high=960), (960, 1040)) is True

    assert inside(None, (1, 2)) is inside(Figure.of(1), reserved_range({"terms": None})) is None


@pytest.mark.parametrize(
    ("shown", "kind", "ends"),
    [
        ((100, 125), "alone", (1000, 1075)),
        ((90, 99), "alone", (1000, 1000)),
        ((150, 141), "logs", (990, 1001)),
        ((90, 140), "orders", (1000, 1000)),
        ((90, 140), "changing_shapes", (1000, 1000)),
    ],
)
def test_what_is_likely_lies_in_a_range_that_is_narrower_than_the_drivers_parts(shown, kind, ends) -> None:
    """Context and NCCL's share are open by 60 and 80 either way: by 140 end to end, by 100 as their squares add up."""
    terms = {"context_low": 0, "context_high": 120, "communication_low": 0, "communication_high": 160, kind: 1}
    likely = 1000 + 140
    found = {"low": likely - shown[0], "high": likely + shown[1], "peak_bytes": likely, "reserved_peak_bytes": 1000}
    assert reserved_range(found | {"terms": terms}) == pytest.approx(ends)
