"""Modules that a notebook imports and the kernel's Python lacks: the package that brings each.

A module of another name than its package is a row of the table; what stands in no table may be a file of the
notebook's own, and the answer says both.
"""

from __future__ import annotations

import re

from ..domain.estimates import Package
from ..domain.messages import Message
from ..domain.notebooks import Place
from .trace import AbsentModule, Trace, TracedQuestion

MISSING = "module_missing"
"""The reason by which the tracer asks for a module."""

DISTRIBUTIONS: dict[str, str] = {
    "Bio": "biopython", "IPython": "ipython", "LAC": "LAC", "Levenshtein": "python-Levenshtein", "OpenGL":
    "PyOpenGL", "PIL": "pillow", "SimpleITK": "SimpleITK", "attr": "attrs", "attrdict": "attrdict", "bs4":
    "beautifulsoup4", "cv2": "opencv-python", "dateutil": "python-dateutil", "docx": "python-docx", "faiss":
    "faiss-cpu", "fastprogress": "fastprogress", "git": "GitPython", "google.protobuf": "protobuf", "grpc":
    "grpcio", "gym": "gym", "hydra": "hydra-core", "imblearn": "imbalanced-learn", "lightning": "lightning",
    "mpl_toolkits": "matplotlib", "nacl": "PyNaCl", "ogb": "ogb", "osgeo": "GDAL", "paddleaudio": "paddleaudio",
    "paddleclas": "paddleclas", "paddlehub": "paddlehub", "paddlenlp": "paddlenlp", "paddleocr": "paddleocr",
    "paddleseg": "paddleseg", "paddleslim": "paddleslim", "paddlespeech": "paddlespeech", "paddlets": "paddlets",
    "paddlevideo": "paddlevideo", "paddlex": "paddlex", "parl": "parl", "pgl": "pgl", "ppdet": "paddledet", "ppgan":
    "ppgan", "ppsci": "paddlesci", "pycocotools": "pycocotools", "pylab": "matplotlib", "rdkit": "rdkit",
    "sentence_transformers": "sentence-transformers", "serial": "pyserial", "skimage": "scikit-image", "sklearn":
    "scikit-learn", "slugify": "python-slugify", "snappy": "python-snappy", "subword_nmt": "subword-nmt",
    "tensorboardX": "tensorboardX", "usb": "pyusb", "yaml": "PyYAML",
}  # fmt: skip
"""Distribution by module, where a name alone might be read as a file of the notebook's own or differs. From memory:
that 25 of these names exist on PyPI was looked up, which modules their wheels hold was not."""
GONE: dict[str, str] = {
    "asynchat": "pyasynchat", "asyncore": "pyasyncore", "audioop": "audioop-lts", "cgi": "legacy-cgi", "cgitb":
    "legacy-cgi", "distutils": "setuptools", "imp": "zombie-imp", "pipes": "standard-pipes", "pkg_resources":
    "setuptools==80.9.0", "telnetlib": "standard-telnetlib",
}  # fmt: skip
"""What brings back modules that Python had before 3.12 or 3.13, and setuptools before its release 82; under their own
names PyPI has nothing or something else."""
NAMESAKES = frozenset((
    "akshare", "albumentations", "catboost", "colorlog", "decord", "deepxde", "easydict", "editdistance", "einops",
    "gensim", "gymnasium", "h5py", "imageio", "imgaug", "inflect", "jieba", "joblib", "jsonlines", "librosa",
    "lightgbm", "lmdb", "loguru", "matplotlib", "meshio", "moviepy", "networkx", "nibabel", "nltk", "numba",
    "omegaconf", "opencc", "openpyxl", "optuna", "paddle2onnx", "pandas", "pillow", "plotly", "polars", "psutil",
    "pyarrow", "pydicom", "pyecharts", "pygame", "pymunk", "pypinyin", "requests", "rich", "rouge", "sacrebleu",
    "sacremoses", "scipy", "seaborn", "sentencepiece", "seqeval", "sgf", "shapely", "six", "soundfile", "spacy",
    "statsmodels", "sympy", "tabulate", "tensorflow", "termcolor", "thop", "tifffile", "tiktoken", "timm", "torch",
    "torchaudio", "torchvision", "tqdm", "transformers", "tushare", "visualdl", "wandb", "wget", "wordcloud",
    "xarray", "xgboost", "xlrd", "yacs", "zhconv",
))  # fmt: skip
"""Modules whose package has the same name."""


def package(module: str) -> str | None:
    """The name to install a module by; None where it may as well be a file of the notebook's own."""
    top = module.partition(".")[0]
    found = DISTRIBUTIONS.get(module) or DISTRIBUTIONS.get(top) or GONE.get(top)
    return found or (top if top in NAMESAKES else None)


def names(modules: str) -> str:
    """What pip is to install for modules that are listed with commas."""
    return " ".join(dict.fromkeys(package(module) or module for module in modules.split(", ")))


def of_trace(trace: Trace) -> tuple[Package, ...]:
    """All that a trace lacked, what the training needs first."""
    questions = [one for one in trace.questions if one.why == MISSING]
    imported = {one.module: one for one in trace.absent_modules}
    needed = [_needed(one, imported.get(str(one.params["module"]).partition(".")[0])) for one in questions]
    known = {one.module.partition(".")[0] for one in needed}
    others = [one for name, one in imported.items() if name not in known]
    # Where a file of the notebook's own is wanted, the others that are not here are told with it, not one by one.
    return (*needed, *(_passed_by(one, is_needed=bool(needed) and package(one.module) is None) for one in others))


def _needed(traced: TracedQuestion, imported: AbsentModule | None) -> Package:
    """A module without which the training goes no further; a file of the notebook's own is told where it is imported,
    which is the line that ends the job."""
    module = str(traced.params["module"])
    place = None if traced.cell is None else Place(traced.cell, traced.line or 1)
    if traced.params.get("is_package"):
        return _distribution(module, place)
    if imported is None or package(module) is not None:
        return _package(module, module, place, is_needed=True)
    return _package(imported.module, imported.parts, _place(imported) or place, is_needed=True, wanted=place)


def _distribution(wanted: str, place: Place | None) -> Package:
    """A package that is asked for by the name that pip knows it by, perhaps with the releases that would do."""
    install = wanted if re.fullmatch(r"[\w.-]+", wanted) else f'"{wanted}"'
    name = re.split(r"[^\w.-]", wanted)[0]
    is_known = name.lower() in _KNOWN
    why = (_DISTRIBUTION if is_known else _DISTRIBUTION_OWN).filled(module=wanted, package=install)
    return Package(module=name, install=install if is_known else None, where=place, is_needed=True, why=why)


_KNOWN = frozenset(one.partition("==")[0].lower() for one in (*DISTRIBUTIONS.values(), *GONE.values(), *NAMESAKES))


def _passed_by(traced: AbsentModule, *, is_needed: bool) -> Package:
    """A module that a stand-in took the place of."""
    return _package(traced.module, traced.parts, _place(traced), is_needed=is_needed)


def _place(traced: AbsentModule) -> Place | None:
    return None if traced.cell is None else Place(traced.cell, traced.line or 1)


def _package(module: str, parts: str, where: Place | None, *, is_needed: bool, wanted: Place | None = None) -> Package:
    """What is told of a module.

    Args:
        parts: what is imported of it, with commas in between.
        wanted: where something of it is used first, if that is known.
    """
    name = package(module)
    parts = parts or module
    params: dict[str, str | int | float] = {"module": module, "package": name or module.partition(".")[0]}
    template = _WATCHES if not is_needed else _FILE if name is None else _NEEDED
    if template is _FILE:
        file = ", ".join(f"{part.replace('.', '/')}.py" for part in parts.split(", "))
        params |= {"module": parts, "file": file}
        if wanted is not None and wanted != where:
            template = _FILE_USED
            params |= {"cell": wanted.cell + 1, "line": wanted.line}
    why = template.filled(**params)
    return Package(module=module, install=name, where=where, is_needed=is_needed, why=why)


_NEEDED = Message(
    code="package_missing",
    text="The training needs the module “{module}”, which the kernel's Python does not have.",
    hint="Install it in the kernel: `%pip install {package}`",
)
_DISTRIBUTION = Message(
    code="distribution_missing",
    text="The program asks for the package “{module}”, which the kernel's Python does not have.",
    hint="Install it in the kernel: `%pip install {package}`",
)
_DISTRIBUTION_OWN = Message(
    code="distribution_missing",
    text="The program asks for {module} as an installed package, and the kernel's Python has none of that name.",
    hint="Install it in the kernel: `%pip install {package}`. If it is the program's own: `%pip install -e .` in the "
    "folder of its repository.",
)
_FILE = Message(
    code="module_missing",
    text="The training needs the module “{module}”, which is neither in the kernel's Python nor beside the notebook.",
    hint="Put {file} beside the notebook if it belongs to it; if it is a package: `%pip install {package}`",
)
_FILE_USED = Message(
    code="module_missing",
    text="The training needs the module “{module}” in cell {cell}, line {line}; it is neither in the kernel's Python "
    "nor beside the notebook.",
    hint="Put {file} beside the notebook if it belongs to it; if it is a package: `%pip install {package}`",
)
_WATCHES = Message(
    code="package_passed_by",
    text="The kernel's Python has no module “{module}”; the training does not need it, and a stand-in took its place.",
    hint="Install it before you submit, the job runs these lines: `%pip install {package}`",
)
