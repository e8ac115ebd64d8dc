"""How much a user downloads: the wheel, and the JavaScript that the browser loads."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from .report import save, show

ROOT = Path(__file__).parents[1]


def wheel_bytes() -> tuple[int, dict[str, int]]:
    """Size of a freshly built wheel, and what it holds by top-level folder (bytes before compression)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, str(ROOT)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wheel = next(Path(folder).glob("*.whl"))
        parts: dict[str, int] = {}
        for entry in zipfile.ZipFile(wheel).infolist():
            part = entry.filename.split("/")[0].split("-")[0]
            parts[part] = parts.get(part, 0) + entry.file_size
        return wheel.stat().st_size, parts


def javascript_bytes() -> tuple[int, int]:
    """Bytes of all built JavaScript, plain and gzipped."""
    files = [path.read_bytes() for path in sorted((ROOT / "labextension" / "static").glob("*.js"))]
    return sum(map(len, files)), sum(len(gzip.compress(data)) for data in files)


def main() -> None:
    """Measure, print, save."""
    wheel, parts = wheel_bytes()
    plain, packed = javascript_bytes()
    rows = [("wheel", wheel / 1e3), ("JavaScript", plain / 1e3), ("JavaScript, gzip", packed / 1e3)]
    show("Sizes", ["what", "kB"], rows)
    save(
        "sizes",
        {"wheel_bytes": wheel, "wheel_parts": parts, "javascript_bytes": plain, "javascript_gzip_bytes": packed},
    )


if __name__ == "__main__":
    main()
