"""What user code does to files: it sees all of it, and nothing changes but in the private folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_paddle_gpu.estimator.zygote import overlay

BEGIN = """
import errno, glob, os, shutil, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from overlay import Overlay
private = os.path.realpath(sys.argv[2])
def mine(path):
    whole = os.path.realpath(os.fsdecode(path))
    return whole == private or whole.startswith(private + os.sep)
noted = []
absent = []
found = Overlay(private, mine, noted.append, absent.append if "believing" in sys.argv else None)
found.install()
def fails(kind, function, *arguments):
    try:
        function(*arguments)
    except kind as problem:
        assert problem.filename == os.fspath(arguments[0]), problem.filename
        return problem
    raise AssertionError(f"{function} did not fail")
"""
PROGRAMS = {
    "a log that is appended to": """
open('data.csv', 'a').write('3')
assert open('data.csv').read() == '1,23' and os.path.getsize('data.csv') == 4
assert [os.path.basename(one) for one in noted] == ['data.csv']
""",
    "a lock beside its folder's file system": """
os.makedirs('cache/texts')
assert os.statvfs('cache/texts').f_namemax > 0 and os.statvfs('.').f_namemax > 0
assert fails(FileNotFoundError, os.statvfs, 'nowhere').errno == errno.ENOENT
""",
    "new folders": """
os.makedirs('out/deep', exist_ok=True)
os.makedirs('out/deep', exist_ok=True)
fails(FileExistsError, os.mkdir, 'out')
Path('out/deep/made').write_text('x')
assert Path('out/deep/made').read_text() == 'x' and glob.glob('out/deep/*') == ['out/deep/made']
assert os.path.isdir('out') and os.listdir('out') == ['deep'] and sorted(os.listdir('.')) == ['data', 'data.csv', 'out']
assert os.listdir(b'out') == [b'deep']
""",
    "a program that is run once more": """
os.makedirs('out/deep')
open('data.csv', 'a').write('3')
shutil.rmtree('data')
found.begin_anew()
assert not os.path.exists('out') and open('data.csv').read() == '1,2' and os.path.isdir('data')
os.makedirs('out/deep')
assert os.listdir('out') == ['deep'] and os.listdir('out/deep') == []
""",
    "an output folder that is cleared first": """
shutil.rmtree('data')
assert not os.path.exists('data') and os.listdir('.') == ['data.csv']
fails(FileNotFoundError, open, 'data/rows.csv')
os.makedirs('data')
assert os.listdir('data') == [] and not Path('data/rows.csv').exists()
Path('data/new').write_text('y')
assert os.listdir('data') == ['new']
shutil.rmtree('data')
assert not os.path.isdir('data')
shutil.rmtree('nothing', ignore_errors=True)
fails(FileNotFoundError, shutil.rmtree, 'nothing')
""",
    "a file that is removed and written anew": """
os.remove('data.csv')
assert not os.path.exists('data.csv') and 'data.csv' not in os.listdir('.')
fails(FileNotFoundError, open, 'data.csv')
fails(FileNotFoundError, os.remove, 'data.csv')
open('data.csv', 'x').write('new')
assert open('data.csv').read() == 'new'
fails(FileExistsError, open, 'data.csv', 'x')
Path('data.csv').unlink()
Path('data.csv').unlink(missing_ok=True)
assert not Path('data.csv').exists()
""",
    "what is written under another name first": """
open('data.csv.tmp', 'w').write('whole')
os.replace('data.csv.tmp', 'data.csv')
assert open('data.csv').read() == 'whole' and not os.path.exists('data.csv.tmp')
os.makedirs('out')
shutil.move('data.csv', 'out/kept.csv')
shutil.copytree('out', 'copy')
assert os.listdir('copy') == ['kept.csv'] and open('copy/kept.csv').read() == 'whole'
os.rename('out', 'done')
assert os.listdir('done') == ['kept.csv'] and not os.path.exists('out')
os.rename('data', 'rows')
assert open('rows/rows.csv').read() == '7' and not os.path.exists('data')
""",
    "a lock": """
import fcntl
descriptor = os.open('.lock', os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
fcntl.flock(descriptor, fcntl.LOCK_EX)
os.close(descriptor)
fails(FileExistsError, os.open, '.lock', os.O_CREAT | os.O_EXCL | os.O_WRONLY)
os.unlink('.lock')
assert not os.path.exists('.lock')
""",
    "a folder to work in": """
before = os.getcwd()
os.makedirs('work')
os.chdir('work')
assert os.getcwd() == os.path.join(before, 'work') == os.path.abspath('.')
open('made', 'w').write('x')
assert os.listdir() == ['made'] and open('../data.csv').read() == '1,2'
os.chdir('..')
assert os.getcwd() == before and open('work/made').read() == 'x'
""",
    "times and modes": """
Path('touched').touch()
Path('touched').touch()
os.chmod('data.csv', 0o600)
os.utime('data.csv', (1, 1))
assert os.stat('touched').st_size == 0 and os.stat('data.csv').st_mtime > 1
""",
    "mistakes": """
fails(FileNotFoundError, open, 'no/where', 'w')
fails(FileNotFoundError, open, 'nothing', 'r+')
fails(FileNotFoundError, os.mkdir, 'no/where')
fails(IsADirectoryError, open, 'data', 'w')
fails(FileNotFoundError, os.rename, 'nothing', 'something')
assert fails(OSError, os.rmdir, 'data').errno == errno.ENOTEMPTY
fails(OSError, os.remove, 'data')
""",
    "believing": """
shutil.rmtree('data')
fails(FileNotFoundError, open, 'data/a', 'w')
open('made/deep/a', 'w').write('x')
open('made/deep/b', 'w').write('y')
assert sorted(os.listdir('made/deep')) == ['a', 'b'] and open('made/deep/a').read() == 'x'
assert [os.path.relpath(one) for one in absent] == ['made/deep']
fails(FileNotFoundError, open, 'made/shallow/a')
fails(FileNotFoundError, open, 'data.csv/a', 'w')
""",
    "temporary files": """
import tempfile
tempfile.tempdir = private
with tempfile.TemporaryDirectory() as folder:
    Path(folder, 'x').write_text('1')
    os.rename(os.path.join(folder, 'x'), os.path.join(folder, 'y'))
    assert os.listdir(folder) == ['y']
assert noted == [] and not os.path.exists(folder)
""",
}


@pytest.mark.skipif(
    sys.platform == "win32", reason="its programs use Unix's locks and modes; os.path asks past os.stat there"
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_sees_what_it_did_and_nothing_changes(tmp_path, name):
    folder, private = tmp_path / "notebook", tmp_path / "private"
    (folder / "data").mkdir(parents=True)
    private.mkdir()
    (folder / "data.csv").write_text("1,2")
    (folder / "data" / "rows.csv").write_text("7")
    mode = (folder / "data.csv").stat().st_mode

    command = [sys.executable, "-c", BEGIN + PROGRAMS[name], str(Path(overlay.__file__).parent), str(private), name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) == ["data", "data.csv", "data/rows.csv"]
    assert (folder / "data.csv").read_text() == "1,2" and (folder / "data" / "rows.csv").read_text() == "7"
    assert (folder / "data.csv").stat().st_mode == mode
