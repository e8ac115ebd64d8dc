"""A shell completes commands, options and the ids of jobs."""

import pytest


@pytest.fixture
def complete(cli):
    def ask(*words: str) -> list[str]:
        typed = {"COMP_WORDS": " ".join(("jupyter-paddle-gpu", *words)), "COMP_CWORD": str(len(words))}
        ran = cli(_JUPYTER_PADDLE_GPU_COMPLETE="bash_complete", **typed)
        assert ran.err == ""
        return [line.partition(",")[2] for line in ran.out.splitlines()]

    return ask


def test_the_shell_gets_its_function(cli):
    assert "complete -o nosort -F" in cli(_JUPYTER_PADDLE_GPU_COMPLETE="bash_source").out


def test_commands_options_and_jobs(complete, cli, notebook):
    assert complete("lo") == ["logs"]
    assert "--batch-size" in complete("estimate", "--b")
    job = cli("submit", notebook("1"), "--no-estimate", "--json").json["id"]
    cli("logs", "last", "-f")
    assert complete("logs", job[:4]) == [job]
    assert complete("cancel", job[-6:-2]) == [job[-6:]]
    assert complete("logs", "la") == ["last"]
    name = cli("jobs", "last", "--json").json["spec"]["name"]
    assert complete("logs", name[:3]) == [name]


def test_images_that_jobs_may_have(complete):
    """An option's value is completed as it is written."""
    images = complete("submit", "--image", "")
    assert any("paddlepaddle/paddle:" in one for one in images)
    for image in images:
        assert image in complete("estimate", "--image", image[:-1])
    assert not any(complete("estimate", "--image", "nobody/"))
