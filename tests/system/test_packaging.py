"""The wheel works without the sources, and the source archive can be tested."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MINE = shutil.ignore_patterns(
    ".git", ".nox", ".*_cache", ".hypothesis", "__pycache__", "build", "dist", "*.egg-info"
)


def run(*command: str | Path, cwd: Path) -> str:
    """Runs a command outside the environment of the tests; returns its output."""
    aside = ("PYTHONPATH", "PYTEST_ADDOPTS", "PYTERRIER_ASL_REQUIRE")
    env = {name: value for name, value in os.environ.items() if name not in aside}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archives(registry, tmp_path_factory) -> Path:
    """A folder with the source archive, and the wheel that was built from it."""
    pytest.importorskip("build", reason="build is not installed")
    # From a copy: the build would use an old list of files in the folder of the sources.
    tree = shutil.copytree(ROOT, tmp_path_factory.mktemp("tree") / "main", ignore=MINE)
    run(sys.executable, "-m", "build", "--outdir", tree.parent / "dist", tree, cwd=tree.parent)
    return tree.parent / "dist"


def test_the_index_takes_them(archives):
    pytest.importorskip("twine", reason="twine is not installed")
    files = sorted(archives.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=archives)


def test_the_wheel_holds_the_package_and_nothing_twice(archives):
    (wheel,) = archives.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        pictures = [archive.read(name) for name in names if name[-4:] == ".png"]
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"pyterrier_asl"}
    assert "pyterrier_asl/py.typed" in names and "pyterrier_asl/pt_docs/index.rst" in names
    assert len(set(pictures)) == len(pictures)
    assert wheel.stat().st_size < 8e6


def test_the_wheel_runs_outside_the_source_tree(archives, tmp_path):
    (wheel,) = archives.glob("*.whl")
    venv.create(tmp_path / "venv")
    bin = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", bin / "python")
    run(*pip, "install", "--quiet", "--no-deps", wheel, cwd=tmp_path)
    # What it requires comes from this environment, into which .ci/run has installed it.
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = Path(run(bin / "python", "-c", where, cwd=tmp_path).strip())
    shared = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    lines = [f"import site; site.addsitedir({path!r})\n" for path in shared]
    (own / "shared.pth").write_text("".join(lines))
    shown = run(bin / "pyterrier-asl", "demo", cwd=tmp_path)
    for word in ("ASL@1000", "LexiP", "TBG", "AP_Rareness@100", "BM25"):
        assert word in shown
    where = run(bin / "python", "-c", "import pyterrier_asl as a; print(a.__file__)", cwd=tmp_path)
    assert Path(where).is_relative_to(tmp_path / "venv")


def test_the_source_archive_holds_what_its_tests_need(archives, tmp_path):
    (source,) = archives.glob("*.tar.gz")
    shutil.unpack_archive(source, tmp_path)
    (tree,) = tmp_path.iterdir()
    held = {file.name for file in (tree / "tests").rglob("test_*.py")}
    assert held >= {file.name for file in (ROOT / "tests").rglob("test_*.py")}
    # All test modules are imported, and some are run.
    some = ("-n", "0", "-k", "test_lengths.py or tbg.py")
    shown = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *some, cwd=tree)
    assert re.search(r"\d+ passed, \d{3,} deselected", shown)
