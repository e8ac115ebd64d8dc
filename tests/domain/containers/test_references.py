"""Names of images by Docker's own grammar, and what a pattern allows. The daemon's answers: tests/engines/docker."""

from __future__ import annotations

import posixpath
import sys
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from hypothesis import given, settings
from urllib3.util import parse_url

sys.path.append(str(Path(__file__).parents[2] / "strategies"))

from image_names import NAMES

from jupyter_paddle_gpu.domain.containers.references import Reference, is_allowed, parse_pattern, parse_reference
from jupyter_paddle_gpu.domain.errors import PaddleGpuError

DIGEST = "sha256:" + "0" * 64


def parsed(text: str) -> Reference | None:
    try:
        return parse_reference(text)
    except PaddleGpuError as error:
        assert error.code in ("bad_image_name", "image_by_id")
        return None


def refused(text: str) -> str:
    with pytest.raises(PaddleGpuError) as caught:
        parse_reference(text)
    return caught.value.code


@pytest.mark.parametrize(
    ("text", "host", "repository", "canonical"),
    [
        ("ubuntu", "docker.io", "ubuntu", "docker.io/library/ubuntu:latest"),
        ("library/ubuntu:22.04", "docker.io", "ubuntu", "docker.io/library/ubuntu:22.04"),
        ("paddlepaddle/paddle:3.3.1", "docker.io", "paddlepaddle/paddle", "docker.io/paddlepaddle/paddle:3.3.1"),
        ("docker.io/paddlepaddle/paddle:3", "docker.io", "paddlepaddle/paddle", "docker.io/paddlepaddle/paddle:3"),
        ("index.docker.io/ubuntu:1", "docker.io", "ubuntu", "docker.io/library/ubuntu:1"),
        ("localhost:5000/a/b:1", "localhost:5000", "localhost:5000/a/b", "localhost:5000/a/b:1"),
        ("localhost/a", "localhost", "localhost/a", "localhost/a:latest"),
        ("HUB.example/a:1", "HUB.example", "HUB.example/a", "HUB.example/a:1"),
        (f"r.example/a@{DIGEST}", "r.example", "r.example/a", f"r.example/a@{DIGEST}"),
        (f"r.example/a:1@{DIGEST}", "r.example", "r.example/a", f"r.example/a:1@{DIGEST}"),
    ],
)
def test_names_follow_dockers_rules(text, host, repository, canonical):
    reference = parse_reference(text)
    assert (reference.host, reference.repository, reference.canonical) == (host, repository, canonical)


@pytest.mark.parametrize(
    "text",
    ["", "-v /:/host", "a b", "Upper/Case:1", "x:tag with space", "x@sha256:12", "sha256:G", "library/sha256",
     "../../x", "a/../b", "a//b", "a/./b",
     "a/%2e%2e/b", "a:1\n", "\na", "a:", "a@", f"a@{DIGEST.upper()}", "a:b:c", "a_/b", "a/-b", "é/a", "r.example/",
     "http://r.example/a", f"a@{DIGEST}@{DIGEST}", "x" * 300, f"a:{'x' * 129}", "r.example:port/a", "a/٣", "$BASE/a",
         "[::1]:5000/a:1", "HUB/a:1"],
)  # fmt: skip
def test_what_is_no_name_is_refused(text):
    assert refused(text) == "bad_image_name"


@pytest.mark.parametrize("text", ["0" * 64, DIGEST, "sha256:cafe", "cafebabe1234", "cafe", "5", "CAFE"])
def test_ids_and_what_may_begin_one_are_refused_by_a_sentence_of_their_own(text):
    assert refused(text) == "image_by_id"
    if text == text.lower() and ":" not in text and len(text) < 64:
        assert parse_reference(f"{text}:latest").canonical == f"docker.io/library/{text}:latest"


@settings(max_examples=1_500)
@given(NAMES)
def test_what_is_accepted_says_one_thing_only(text):
    """No cleaning of paths, no decoding and no default can turn an accepted name into another one."""
    reference = parsed(text)
    if reference is None:
        return
    whole = reference.canonical
    assert parse_reference(str(reference)) == parse_reference(whole) == reference
    assert whole.isascii() and whole.isprintable() and unquote(whole) == whole and posixpath.normpath(whole) == whole
    path = parse_url(f"http://daemon/images/{quote(whole, safe='/:@[]')}/json").path
    assert path is not None and unquote(path) == f"/images/{whole}/json"
    assert reference.path == reference.path.lower()
    team = reference.host == "registry.example" and reference.path.startswith("team/")
    assert is_allowed(reference, ["registry.example/team/*"]) == team
    assert is_allowed(reference, [f"{reference.host}/{reference.path}"])


PATTERNS = [
    ("registry.example/team/*", ("registry.example/team/a:1", f"registry.example/team/a/b@{DIGEST}"),
     ("registry.example/teammate:1", "registry.example/team:1", "registry.example:5000/team/a", "team/a",
      "REGISTRY.example/team/a", "evil.example/registry.example/team/a")),
    ("team/*", ("team/a", "docker.io/team/a:1"), ("evil.example/team/a", "teams/a", "localhost/team/a")),
    ("ubuntu", ("ubuntu:22.04", "docker.io/library/ubuntu", f"ubuntu@{DIGEST}"), ("evil/ubuntu", "ubuntu2")),
    ("127.0.0.1:*/*", ("127.0.0.1:5000/a/b", "127.0.0.1:80/a"), ("127.0.0.1/a", "127.0.0.1.evil.example/a")),
    ("*.example/a", ("r.example/a:1", "x.y.example/a"), ("example/a", "r.example/a/b")),
    ("r.example/a:1.*", ("r.example/a:1.0",), ("r.example/a:2.0", f"r.example/a:1.0@{DIGEST}", "r.example/a")),
    (f"r.example/a@{DIGEST}", (f"r.example/a@{DIGEST}", f"r.example/a:1@{DIGEST}"),
     ("r.example/a:1", f"r.example/a@sha256:{'1' * 64}", f"r.example/b@{DIGEST}")),
    ("*", ("ubuntu", "evil.example/x:1"), ()),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "means", "not_these"), PATTERNS)
def test_patterns_mean_repositories_as_names_do(pattern, means, not_these):
    assert all(is_allowed(parse_reference(name), [pattern]) for name in means)
    assert not any(is_allowed(parse_reference(name), [pattern]) for name in not_these)


@pytest.mark.parametrize(
    "text", ["", "a b", "r.example/../x", "a//b", "Team/X*", "a?", "[a-z]/x", "a@sha256:1", "/a", "a/"]
)
def test_what_could_match_nothing_is_no_pattern(text):
    with pytest.raises(PaddleGpuError) as caught:
        parse_pattern(text)
    assert caught.value.code == "bad_image_pattern"


def test_one_pattern_covers_another_where_every_image_of_it_is_meant():
    team = parse_pattern("registry.example/team/*")
    covered = ("a", "a:1", "b*", "*", "a/b*:1")
    assert all(team.covers(parse_pattern(f"registry.example/team/{text}")) for text in covered)
    others = ("registry.example/*", "*", "registry.example/team*", "team/*", "*.example/team/a")
    assert not any(team.covers(parse_pattern(text)) for text in others)
    tagged = parse_pattern("r.example/a:1*")
    assert tagged.covers(parse_pattern("r.example/a:1.0"))
    assert not tagged.covers(parse_pattern("r.example/a")) and not tagged.covers(parse_pattern(f"r.example/a@{DIGEST}"))
