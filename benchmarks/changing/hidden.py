"""The same programs without their data: what reads it finds no file, and a person says what a batch looks like.

Who is asked names the longest that the program allows. Of published texts nobody is asked: their mean length stands in.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Hidden(NamedTuple):
    """How a program is without its data: what of its text is replaced, up to the first line that begins behind it, and
    what a batch is said to look like; empty where nobody is asked."""

    begins: str
    otherwise: str
    ends: str
    batch: str = ""

    def of(self, text: str) -> str:
        """The program without its data."""
        pattern = re.compile(re.escape(self.begins) + r".*?(?=^" + re.escape(self.ends) + ")", re.DOTALL | re.MULTILINE)
        found, count = pattern.subn(lambda _: self.otherwise + "\n", text)
        if count != 1:
            raise ValueError(self.begins)
        return found


_FILE = 'np.load("absent.npy", allow_pickle=True)'
PROGRAMS = {
    "encoder": Hidden("TEXTS = [", f"TEXTS = {_FILE}", "\nclass", "int64[32,100] int64[32]"),
    "tagger": Hidden("TEXTS = [", f"TEXTS = {_FILE}", "\nclass", "int64[32,120] int64[32,120]"),
    "translation": Hidden(
        "SOURCES = [", f"SOURCES = {_FILE}\nTARGETS = {_FILE}", "\nclass", "int64[16,64] int64[16,64] int64[16,64,1]"
    ),
    "speech": Hidden("LENGTHS = [", f"LENGTHS = {_FILE}", "\nclass", "float32[8,500,80] int64[8]"),
    "recognition": Hidden("WIDTHS = [", f"WIDTHS = {_FILE}", "\nclass", "float32[16,1,32,400] int64[16]"),
    "reviews": Hidden(
        "REVIEWS = [",
        'from paddlenlp.datasets import load_dataset\n\nREVIEWS = load_dataset("chnsenticorp", splits="train")',
        "\nclass",
    ),
    "collator": Hidden(
        "TEXTS = [",
        f"TEXTS = {_FILE}",
        "\nclass",
        "input_ids: int64[16,128] attention_mask: float32[16,1,1,128] labels: int64[16,128]",
    ),
    "stream": Hidden("LENGTHS = [", f"LENGTHS = {_FILE}", "\nclass", "float32[16,600,12] int64[16]"),
}
"""By the name of the program."""
