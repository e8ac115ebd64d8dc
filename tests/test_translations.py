"""Every sentence exists in English and in Simplified Chinese, with the same fields."""

from __future__ import annotations

import ast
import importlib.util
import json
import re

import pytest

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.i18n import LOCALE_FOLDER, to_json, translator
from jupyter_paddle_gpu.matching.sentences import too_few

PACKAGE = LOCALE_FOLDER.parent
CHINESE = LOCALE_FOLDER / "zh_CN" / "LC_MESSAGES" / "jupyter_paddle_gpu.json"


def literals(node: ast.AST) -> list[str]:
    """The string constants that a text or hint argument can be: itself, or either arm of a conditional."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return literals(node.body) + literals(node.orelse)
    return []


def sentences() -> dict[str, str]:
    """Template -> where it stands, of all `Message(...)` and `PaddleGpuError(...)` in the package."""
    found: dict[str, str] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name not in {"Message", "PaddleGpuError"}:
                continue
            arguments = [k.value for k in node.keywords if k.arg in {"text", "hint", "singular"}]
            arguments += node.args[1:2]
            for template in (t for argument in arguments for t in literals(argument) if t):
                found[template] = f"{path.relative_to(PACKAGE)}:{node.lineno}"
    return found


def chinese() -> dict[str, list[str]]:
    return json.loads(CHINESE.read_text(encoding="utf-8"))


def test_every_sentence_has_its_chinese() -> None:
    catalogue = chinese()
    missing = [f"{where}: {template}" for template, where in sentences().items() if template not in catalogue]
    assert not missing, "\n".join(missing)


def test_the_settings_have_their_chinese() -> None:
    schema = json.loads((PACKAGE.parent / "src" / "schema" / "plugin.json").read_text(encoding="utf-8"))
    said = [one[key] for one in (schema, *schema["properties"].values()) for key in ("title", "description")]
    assert not [text for text in said if text not in chinese() and text != "Paddle GPU"]


def test_translations_keep_the_fields() -> None:
    fields = re.compile(r"\{(\w+)[^}]*\}|%(\d)")
    wrong = []
    for template, translations in chinese().items():
        if template:
            wanted = set(fields.findall(template))
            wrong += [template for t in translations if set(fields.findall(t)) - wanted]
    assert not wrong, "\n".join(wrong)


def test_an_error_keeps_its_own_colon() -> None:
    """`ZeroDivisionError: division by zero` is what people search for; a full-width colon makes another text of it."""
    said = re.compile(r"\{(?:name|error|kind)\}: \{(?:value|message)\}")
    templates = {template: quoted[0] for template in chinese() if (quoted := said.search(template))}
    assert templates
    wrong = [template for template, text in templates.items() if any(text not in t for t in chinese()[template])]
    assert not wrong, "\n".join(wrong)


def test_the_catalogue_is_what_the_parts_say() -> None:
    spec = importlib.util.spec_from_file_location("compile_catalogues", LOCALE_FOLDER / "compile.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert CHINESE.read_text(encoding="utf-8") == module.text(LOCALE_FOLDER / "zh_CN")


@pytest.mark.parametrize("tag", ["zh-CN", "zh_CN.UTF-8", "zh-Hans", "zh", "zh-CN,zh;q=0.9,en;q=0.8"])
def test_language_tags_lead_to_chinese(tag: str) -> None:
    template, translated = next((k, v[0]) for k, v in chinese().items() if k and v[0] != k)
    assert translator(tag)(template) == translated
    assert translator("en")(template) == template
    assert translator("../../etc")(template) == template


def test_messages_are_rendered_wherever_they_stand() -> None:
    message = Message(code="x", text="{n} left", hint="Wait {n} s.", params={"n": 3})
    assert to_json({"a": [message]}) == {"a": [{"code": "x", "message": "3 left", "hint": "Wait 3 s."}]}
    assert Message(code="x", text="{missing}").render() == "{missing}"


def test_one_is_told_in_the_singular_in_both_languages() -> None:
    def said(asked: int, tag: str) -> str:
        return too_few(asked, 0).render(translator(tag))

    assert said(1, "en").startswith("1 GPU was asked for")
    assert said(2, "en").startswith("2 GPUs were asked for")
    assert said(1, "zh-CN") == said(2, "zh-CN").replace("2", "1") != said(1, "en")
    assert Speech("en").n("{n} job", "{n} jobs", 1, n=1) == "1 job"
