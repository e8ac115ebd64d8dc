"""How a value is shown, by the methods that IPython asks for too."""

from typing import Any, Dict, Tuple

from . import figures

_METHODS = (
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("text/latex", "_repr_latex_"),
    ("application/json", "_repr_json_"),
)


def bundle(value: Any) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Every format a value offers, and their metadata. An object's failing method costs that format only."""
    data: Dict[str, Any] = {}
    metadata: Dict[str, Any] = {}
    if not isinstance(value, type):
        mime = _call(value, "_repr_mimebundle_")
        if isinstance(mime, tuple) and len(mime) == 2:
            mime, metadata = mime
        if isinstance(mime, dict):
            data.update(mime)
        for kind, method in _METHODS:
            found = None if kind in data else _call(value, method)
            if isinstance(found, tuple) and len(found) == 2:
                found, metadata[kind] = found
            if found is not None:
                data[kind] = found
        if type(value).__module__ == "matplotlib.figure" and "image/png" not in data:
            data["image/png"] = figures.png(value)
    if "text/plain" not in data:
        data["text/plain"] = _plain(value)
    return data, metadata


def _call(value: Any, name: str) -> Any:
    method = getattr(value, name, None)
    if not callable(method):
        return None
    try:
        return method()
    except Exception:
        return None


def _plain(value: Any) -> str:
    try:
        if not isinstance(value, (dict, list, tuple, set)):
            return repr(value)
        from pprint import pformat

        return pformat(value)
    except Exception as error:
        return "<%s without a repr: %s>" % (type(value).__name__, error)
