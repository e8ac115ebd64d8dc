"""Make the catalogue that JupyterLab and `i18n` read out of the translators' files.

`zh_CN/LC_MESSAGES/parts/**/*.po` (one a subject) become `zh_CN/LC_MESSAGES/jupyter_paddle_gpu.json`, in the shape that
JupyterLab's translation manager expects. What an estimate says of a notebook and says of a script in other words is
derived (`domain.scripts.in_script_words`). Run by `make locale`; a test fails when the JSON is not what the parts say.
With `--check` nothing is written.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from babel.messages.pofile import read_po

from jupyter_paddle_gpu.domain.scripts import in_script_words

DOMAIN = "jupyter_paddle_gpu"
CONTEXT_SEPARATOR = "\x04"
SAID_OF_SCRIPTS = "estimates"
"""The folder of parts with what an estimate says."""
SCRIPT_WORDS = {"zh_CN": re.compile(r"笔记本|(?:这些|各个|各)?单元格")}
"""Of each language the words for a notebook and for its cells; and the word for a script."""
SCRIPT = {"zh_CN": "脚本"}


def catalogue(language: Path) -> dict[str, object]:
    """The merged catalogue of one language folder.

    Raises:
        ValueError: two parts hold the same sentence; the one that is read last would win in silence.
    """
    messages: dict[str, list[str]] = {}
    of_scripts: dict[str, list[str]] = {}
    for part in sorted(language.glob("LC_MESSAGES/parts/**/*.po")):
        with part.open("rb") as file:
            for message in read_po(file, charset="utf-8"):
                if not message.id or not message.string or message.fuzzy:
                    continue
                singular = str(message.id[0] if isinstance(message.id, (tuple, list)) else message.id)
                key = f"{message.context}{CONTEXT_SEPARATOR}{singular}" if message.context else singular
                if key in messages:
                    problem = f"{part.name}: another part holds this sentence, too: {singular}"
                    raise ValueError(problem)
                if isinstance(message.string, (tuple, list)):
                    # JupyterLab takes a list of one for a message without plural and leaves such a plural in English.
                    forms = [str(form) for form in message.string] * (2 if len(message.string) == 1 else 1)
                    # Python asks for the form that it chose; what was stored by older versions has the plural alone.
                    messages[key] = messages[str(message.id[1])] = forms
                else:
                    messages[key] = [message.string]
                    if part.parent.name == SAID_OF_SCRIPTS and (said := in_script_words(key)) != key:
                        of_scripts[said] = [SCRIPT_WORDS[language.name].sub(SCRIPT[language.name], message.string)]
    messages = of_scripts | messages
    head = {"domain": DOMAIN, "language": language.name.replace("_", "-"), "plural_forms": "nplurals=1; plural=0;"}
    return {"": head | {"version": DOMAIN}, **dict(sorted(messages.items()))}


def text(language: Path) -> str:
    """The catalogue as it stands on disk."""
    return json.dumps(catalogue(language), ensure_ascii=False, indent=1) + "\n"


def main() -> int:
    """Write every language's catalogue; with `--check` only say which would change."""
    check, stale = "--check" in sys.argv, []
    for parts in Path(__file__).parent.glob("*/LC_MESSAGES/parts"):
        target = parts.with_name(f"{DOMAIN}.json")
        new = text(parts.parents[1])
        if not target.exists() or target.read_text(encoding="utf-8") != new:
            stale.append(str(target))
            if not check:
                target.write_text(new, encoding="utf-8")
    print("\n".join(stale) or "up to date")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
