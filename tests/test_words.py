"""One vocabulary in all faces: American spelling, one word for a thing in each language, no option in the panel."""

from __future__ import annotations

import ast
import json
import re

from jupyter_paddle_gpu.commands import group
from jupyter_paddle_gpu.i18n import LOCALE_FOLDER
from jupyter_paddle_gpu.server.panel_words import IN_PANEL

PACKAGE = LOCALE_FOLDER.parent
CATALOGUE: dict[str, list[str]] = json.loads(
    (LOCALE_FOLDER / "zh_CN" / "LC_MESSAGES" / "jupyter_paddle_gpu.json").read_text(encoding="utf-8")
)
SENTENCES = {english: chinese[0] for english, chinese in CATALOGUE.items() if english}

BRITISH = re.compile(
    r"\w*(optimis|analys(?!is|es\b)|initialis|organis|recognis|normalis|summaris|minimis|maximis|utilis|parallelis(?!m)|vectoris"
    r"|colour|behaviour|favourite|neighbour|labelled|cancelled|modelling|travelled|programme\b|licence|centre\b|grey\b"
    r"|learnt|whilst|artefact|catalogue|dialogue)\w*",
    re.IGNORECASE,
)
"""Paddle's own words are American (Optimizer), and so are ours. What is typed as it is (in backticks) is no word."""

ONE_WORD = {
    "job": ("作业", ("任务",)),
    "cell": ("单元格", ("单元(?!格)",)),
    "notebook": ("笔记本", ("记事本",)),
    "kernel": ("内核", ("核心",)),
    "optimizer": ("优化器", ("优化算法",)),
    "batch size": ("批大小", ("批次大小", "批量大小", "批尺寸")),
    "mixed precision": ("混合精度", ()),
    "learning rate": ("学习率", ("学习速率",)),
    "peak": ("峰值", ("最高值",)),
    "estimate": ("估算", ("估计", "预估")),
    "trial": ("试验", ("实验",)),
    "sweep": ("扫描", ("扫参",)),
    "engine": ("引擎", ("运行引擎", "执行器")),
    "policy file": ("策略文件", ("政策", "配置策略")),
    "checkpoint": ("检查点", ("存档点",)),
    "administrator": ("管理员", ()),
    "folder": ("文件夹", ("目录",)),
    "trace": ("跟踪", ("追踪",)),
    "re-run": ("重新运行", ("重跑",)),
    "worker": ("工作进程", ()),
    "data set": ("数据集", ("数据集合",)),
    "what if": ("假如…", ("如果…",)),
    "you": ("你", ("您",)),
}
"""English -> what it is called in Chinese, and what it is not called in a sentence that has the English word."""

ONE_ENGLISH_WORD = {
    r"\b[Rr]un (it |a |the |job |them )?again\b(?! and again| from now on)": "re-run",
    r"\b[Rr]erun\b": "re-run",
    r"\b[Cc]ancell?(ed|ing|s)?\b(?!`)": "stop",
    r"\bgraphics? cards?\b": "card",
    r"\bvideo memory\b|\bVRAM\b": "memory",
    r"\bdataset\b(?!,)": "data set",
    r"\bnote ?book cell number\b": "cell",
    r"\bdirector(y|ies)\b": "folder",
    r"\bdevice count\b": "devices",
    r"\b0\.0 %": "as estimated",
}
"""What is not said -> what is said instead."""
CLOSES_A_DIALOG = "Cancel"

TERMINAL_ONLY = (
    *("commands/", "cli/", "magics/", "services/policies/", "services/doctor.py", "estimator/calibration/"),
    *("services/jobs/contributing.py", "services/jobs/finding.py", "server/panel_words.py"),
)
"""Where sentences arise that no page shows."""
NOT_OURS = (
    *("Choose a kernel in the notebook's kernel menu", "In a container, ", "An administrator can try `nvidia-smi"),
    *("For GPUs: `sudo", "Try it in a terminal: "),
)
"""Sentences with options of other programs, among which some are called like one of ours."""


def words_of(sentence: str) -> str:
    """Without what is typed as it is, and without the fields."""
    return re.sub(r"`[^`]*`|\{\w+\}|%\d", " ", sentence)


def options() -> set[str]:
    """All options of our commands."""
    found: set[str] = set()

    def look(command: object) -> None:
        for parameter in getattr(command, "params", []):
            found.update(name for name in getattr(parameter, "opts", []) if name.startswith("--"))
        for inner in getattr(command, "commands", {}).values():
            look(inner)

    for value in vars(group).values():
        if hasattr(value, "params"):
            look(value)
    return found


def test_spelling_is_american() -> None:
    wrong = {sentence: found[0] for sentence in SENTENCES if (found := BRITISH.search(words_of(sentence)))}
    assert not wrong


def test_a_thing_has_one_english_word() -> None:
    wrong = [
        f"{sentence!r}: say “{instead}”"
        for sentence in SENTENCES
        for pattern, instead in ONE_ENGLISH_WORD.items()
        if sentence != CLOSES_A_DIALOG and re.search(pattern, words_of(sentence))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_thing_has_one_chinese_word() -> None:
    wrong = []
    for english, chinese in SENTENCES.items():
        for term, (usual, others) in ONE_WORD.items():
            if re.search(rf"\b{term}s?\b", english, re.IGNORECASE):
                # A catalog and a traceback have other words of their own.
                spared = {"folder": "catalog", "trace": "traceback"}.get(term, "\0")
                wrong += [
                    f"{english!r}: {chinese!r} says {other} for {usual}"
                    for other in others
                    if re.search(other, chinese) and spared not in english.lower()
                ]
    assert not wrong, "\n".join(wrong)


def test_no_sentence_of_a_page_names_an_option() -> None:
    own = options()
    assert {"--image", "--set", "--batch-size", "--anyway"} <= own
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        where = path.relative_to(PACKAGE).as_posix()
        if where.startswith(TERMINAL_ONLY):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in SENTENCES):
                continue
            shown = IN_PANEL.get(node.value, node.value)
            if not shown.startswith(NOT_OURS) and own & set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", shown)):
                wrong.append(f"{where}:{node.lineno}: {shown!r} needs a line in server/panel_words.py")
    assert not wrong, "\n".join(wrong)


def test_what_pages_say_instead_is_said_somewhere_and_has_its_chinese() -> None:
    assert not [template for template in IN_PANEL if template not in SENTENCES]
    assert not [shown for shown in IN_PANEL.values() if shown not in SENTENCES]
    fields = re.compile(r"\{\w+\}")
    assert all(set(fields.findall(shown)) <= set(fields.findall(told)) for told, shown in IN_PANEL.items())
