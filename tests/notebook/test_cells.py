from __future__ import annotations

import ast

import pytest

from jupyter_paddle_gpu.notebook.cells import mask, parse_cell


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("!pip install a \\\n  b\nx = 1", "pass\n#\nx = 1"),
        ("%matplotlib inline\nimport os", "pass\nimport os"),
        ("if True:\n    !ls\n    %cd ..", "if True:\n    pass\n    pass"),
        ("files = !ls\nnames = %who_ls", "files = None\nnames = None"),
        ("paddle.Model?\n?paddle\npaddle.nn??", "pass\npass\npass"),
        ("%time model.fit(data)", "model.fit(data)"),
        ("!!ls", "pass"),
        ("!{line}\n! $line", "get_ipython().system(line)\nget_ipython().system(line)"),
        ("!{line} -e {e} 'a' ", "get_ipython().system(line + ' -e ' + str(e) + \" 'a'\")"),
        ("!$HOME/a\nx = !{line}\n!{sys.executable} a.py\n!{line} \\\n -e", "pass\nx = None\npass\npass\n#"),
        ("%%bash\npip install a", "#\n#"),
        ("\n%%writefile net.py\nclass Net: pass\n", "\n#\n#\n"),
        ("%%time\n%cd ..\nx = 1", "pass\npass\nx = 1"),
        ("cd data\n", "pass\n"),
        ("\nmkdir -p build", "\npass"),
        ("pip install a==1", "pass"),
        ("ls", "pass"),
        ("time net(x)", "net(x)"),
        ('!echo it\'s\nx = 1\n!echo """\ny = 2', "pass\nx = 1\npass\ny = 2"),
    ],
)
def test_what_only_ipython_understands_is_masked_line_for_line(source: str, expected: str) -> None:
    masked, magics, _ = mask(source)
    assert masked == expected
    assert magics
    ast.parse(masked)


@pytest.mark.parametrize(
    "source",
    [
        "x = (a\n  % (b))",
        "x = a \\\n  % (b)",
        "print('%d'\n% (3))",
        "s = '''\n!ls\n%cd\n?x\n'''",
        "print('what?')  # really?",
        "a = x if b else c",
        "d['='] = 5 % 3",
        "f(x=1)\n[1, 2][0]",
        "x = 'a\u2028!b'",
        "env",
        "config = 3",
        "rm -x",
        "cd data\nx = 1",
        "",
        "\n\n",
    ],
)
def test_python_is_left_alone(source: str) -> None:
    assert mask(source) == (source, [], "")


def test_windows_line_ends_do_not_move_lines() -> None:
    assert mask("!ls\r\nx = 1\r\n")[0] == "pass\nx = 1\n"


def test_a_masked_cell_tells_its_lines_and_its_magic() -> None:
    cell = parse_cell("x = 1\n!ls \\\n  -l\n", 3, "abc").cell
    assert (cell.index, cell.id, cell.masked, cell.cell_magic) == (3, "abc", (2, 3), "")
    assert parse_cell("%%capture out\nx", 0, "a").cell.cell_magic == "capture"
    assert parse_cell("%%", 0, "a").cell.cell_magic == ""


@pytest.mark.parametrize(
    "source",
    ["def f(:\n  pass", "print 'two'", "x = 1\n  y", "!ls\nif x:\n    y\n  z", "\x00", "(" * 5000, "-" * 100_000 + "1"],
)
def test_a_broken_cell_is_a_problem_and_no_exception(source: str) -> None:
    parsed = parse_cell(source, 4, "a")
    assert parsed.tree is None
    assert parsed.problem is not None
    assert "Cell 5" in parsed.problem.render()


def test_a_wrong_indentation_is_told_at_its_own_line() -> None:
    problem = parse_cell("!ls\nif x:\n    y\n  z", 0, "a").problem
    assert problem is not None
    assert problem.params["line"] == 4


def test_many_commands_are_masked_in_one_go() -> None:
    assert mask("\n".join(["!echo it"] * 3000))[0] == "\n".join(["pass"] * 3000)


@pytest.mark.parametrize(
    ("lines", "line", "status"),
    [
        ("echo a\nfalse\n# done", 3, 1),
        ("exit 3\npython train.py", 2, 3),
        ("set -ex\nfalse\necho a", 3, 1),
        ("false\necho a", 0, 0),
        ("exit 0\nfalse", 0, 0),
        ("if [ -d data ]; then\n  exit 1\nfi\nfalse", 0, 0),
        ("make || exit 1", 0, 0),
        ("cat <<END\nfalse\nEND", 0, 0),
    ],
)
def test_a_cell_of_the_shell_that_surely_fails_raises_there(lines, line, status):
    cell = parse_cell(f"%%bash\n{lines}", 0, "a").cell
    raising = [(number, text) for number, text in enumerate(cell.source.split("\n"), 1) if text.strip("#")]
    said = f"raise __import__('subprocess').CalledProcessError({status}, '%%bash')"
    assert raising == ([(line, said)] if line else [])
    assert parse_cell(f"%%bash --no-raise-error\n{lines}", 0, "a").cell.source.strip("#\n") == ""
