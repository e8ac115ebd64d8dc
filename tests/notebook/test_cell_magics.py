"""Cell magics that IPython does not have, beside what IPython itself says of each."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.notebook import cell_magics
from jupyter_paddle_gpu.notebook.cells import parsed_cells

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")


def cells(*sources: str) -> list[dict]:
    return [{"cell_type": "code", "source": source, "metadata": {}} for source in sources]


@pytest.mark.parametrize("name", ["R", "bahs", "tiem", "sql", "cython"])
def test_ipython_ends_such_a_cell_by_these_words(name: str) -> None:
    assert cell_magics.is_unknown(name)
    result = interactiveshell.InteractiveShell.instance().run_cell(f"%%{name}\nx")
    parsed = next(iter(parsed_cells(cells(f"\n%%{name}\nx")))).cell
    line = parsed.source.split("\n")[1]
    with pytest.raises(Exception, match="Cell magic") as raised:
        exec(line)
    assert (type(raised.value).__name__, str(raised.value)) == (
        type(result.error_in_exec).__name__,
        str(result.error_in_exec),
    )
    assert not parsed.hides


def test_none_of_its_own_is_unknown() -> None:
    shell = interactiveshell.InteractiveShell.instance()
    assert not [name for name in shell.magics_manager.magics["cell"] if cell_magics.is_unknown(name)]


@pytest.mark.parametrize(
    "brings", ["%load_ext rpy2.ipython", "from tools import *", "@register_cell_magic\ndef R(line, cell):\n    pass"]
)
def test_what_may_bring_one_keeps_it(brings: str) -> None:
    found = list(parsed_cells(cells(brings, "%%R\nx")))[1].cell
    assert found.source.strip("#\n") == ""
    assert found.hides
