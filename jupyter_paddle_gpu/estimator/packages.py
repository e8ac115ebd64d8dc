"""Modules that a notebook imports and the kernel's Python lacks: the package that brings each.

A module of another name than its package is a row of the table; what stands in no table may be a file of the
notebook's own, and the answer says both.
"""

from __future__ import annotations

import msgspec

from ..domain.estimates import Package
from ..domain.messages import Message
from ..domain.notebooks import Place
from .trace import AbsentModule, Trace, TracedQuestion

MISSING = "module_missing"
"""The reason by which the tracer asks for a module."""

DISTRIBUTIONS: dict[str, str] = {
    "Bio": "biopython", "IPython": "ipython", "OpenGL": "PyOpenGL", "PIL": "pillow", "attr": "attrs",
    "bs4": "beautifulsoup4", "cv2": "opencv-python", "dateutil": "python-dateutil", "docx": "python-docx",
    "faiss": "faiss-cpu", "fastprogress": "fastprogress", "git": "GitPython", "google.protobuf": "protobuf",
    "gym": "gym", "imblearn": "imbalanced-learn", "lightning": "lightning", "mpl_toolkits": "matplotlib",
    "nacl": "PyNaCl", "ogb": "ogb", "osgeo": "GDAL", "paddleaudio": "paddleaudio", "paddleclas": "paddleclas",
    "paddlenlp": "paddlenlp", "paddleocr": "paddleocr", "paddleseg": "paddleseg", "paddleslim": "paddleslim",
    "paddlespeech": "paddlespeech", "paddlets": "paddlets", "paddlevideo": "paddlevideo", "parl": "parl",
    "pgl": "pgl", "ppdet": "paddledet", "ppgan": "ppgan", "pycocotools": "pycocotools", "pylab": "matplotlib",
    "rdkit": "rdkit", "serial": "pyserial", "skimage": "scikit-image", "sklearn": "scikit-learn", "slugify":
    "python-slugify", "snappy": "python-snappy", "tensorboardX": "tensorboardX", "usb": "pyusb", "yaml": "PyYAML",
}  # fmt: skip
"""Distribution by module, where a name alone might be read as a file of the notebook's own or differs. From memory:
that 25 of these names exist on PyPI was looked up, which modules their wheels hold was not."""
NAMESAKES = frozenset((
    "albumentations", "gensim", "gymnasium", "h5py", "imageio", "imgaug", "jieba", "joblib", "librosa", "lightgbm",
    "lmdb", "matplotlib", "moviepy", "networkx", "nibabel", "nltk", "numba", "opencc", "pandas", "pillow", "plotly",
    "polars", "psutil", "pyarrow", "pydicom", "pygame", "pymunk", "requests", "rich", "sacrebleu", "scipy",
    "seaborn", "sentencepiece", "sgf", "shapely", "soundfile", "spacy", "statsmodels", "sympy", "tabulate",
    "tensorflow", "tifffile", "timm", "torch", "torchaudio", "torchvision", "tqdm", "transformers", "tushare",
    "visualdl", "wandb", "wget", "wordcloud", "xgboost",
))  # fmt: skip
"""Modules whose package has the same name."""


def package(module: str) -> str | None:
    """The name to install a module by; None where it may as well be a file of the notebook's own."""
    top = module.partition(".")[0]
    return DISTRIBUTIONS.get(module) or DISTRIBUTIONS.get(top) or (top if top in NAMESAKES else None)


def names(modules: str) -> str:
    """What pip is to install for modules that are listed with commas."""
    return " ".join(dict.fromkeys(package(module) or module for module in modules.split(", ")))


def of_trace(trace: Trace) -> tuple[Package, ...]:
    """All that a trace lacked, what the training needs first."""
    missing = [_needed(one) for one in trace.questions if one.why == MISSING]
    known = {one.module.partition(".")[0] for one in missing}
    return (*missing, *(_passed_by(one) for one in trace.absent_modules if one.module not in known))


def _needed(traced: TracedQuestion) -> Package:
    """A module without which the training goes no further."""
    module = str(traced.params["module"])
    place = None if traced.cell is None else Place(traced.cell, traced.line or 1)
    return _package(module, place, is_needed=True)


def _passed_by(traced: AbsentModule) -> Package:
    """A module that a stand-in took the place of."""
    place = None if traced.cell is None else Place(traced.cell, traced.line or 1)
    return _package(traced.module, place, is_needed=False)


def _package(module: str, where: Place | None, *, is_needed: bool) -> Package:
    top = module.partition(".")[0]
    name = package(module)
    template = _WATCHES if not is_needed else _FILE if name is None else _NEEDED
    why = msgspec.structs.replace(template, params={"module": module, "package": name or top, "file": f"{top}.py"})
    return Package(module=module, install=name, where=where, is_needed=is_needed, why=why)


_NEEDED = Message(
    code="package_missing",
    text="The training needs the module “{module}”, which the kernel's Python does not have.",
    hint="Install it in the kernel: `%pip install {package}`",
)
_FILE = Message(
    code="module_missing",
    text="The training needs the module “{module}”, which is neither in the kernel's Python nor beside the notebook.",
    hint="Put {file} beside the notebook if it belongs to it; if it is a package: `%pip install {package}`",
)
_WATCHES = Message(
    code="package_passed_by",
    text="The kernel's Python has no module “{module}”; the training does not need it, and a stand-in took its place.",
    hint="Install it before you submit, the job runs these lines: `%pip install {package}`",
)
