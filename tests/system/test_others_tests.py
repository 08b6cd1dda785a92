"""ir_measures' and PyTerrier's own tests have the same outcomes with this package."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: What tests of PyTerrier inherit from; its source lacks the file.
_BASE = """
import os, shutil, tempfile, unittest

class BaseTestCase(unittest.TestCase):
    here = os.path.dirname(os.path.realpath(__file__))
    skip_windows = lambda self: None

class TempDirTestCase(BaseTestCase):
    def setUp(self):
        self.test_dir = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.test_dir)

def parallel_test(test):
    return unittest.skip("needs several processes")(test)
"""
#: Tests of experiments and of transformers that need neither a download nor an index of Terrier.
_OFFLINE = ["apply", "equality", "experiment_other", "from_df", "inspect", "model", "operators"]
_OFFLINE += ["pipelines", "transformer", "validate"]


def unpacked_tests(distribution: str, folder: Path) -> Path:
    """The tests in the source of the installed release."""
    release = f"{distribution}=={importlib.metadata.version(distribution)}"
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary"]
    done = subprocess.run([*download, ":all:", release], cwd=folder, capture_output=True)
    if done.returncode:
        pytest.skip(f"pip finds no source of {release}")
    archive = next(folder.glob("*.tar.gz"))
    shutil.unpack_archive(archive, folder)
    tests = folder / archive.name.removesuffix(".tar.gz") / "tests"
    (tests / "imported.py").write_text("import pyterrier_asl\n")
    return tests


def outcomes(tests: Path, *options: str) -> dict[str, str]:
    """Test -> its outcome; some need files that the source does not hold."""
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider"]
    command += ["--continue-on-collection-errors", *options]
    done = subprocess.run(command, cwd=tests, capture_output=True, text=True)
    found = re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return {name: outcome for outcome, name in found}


def test_ir_measures_passes_the_same_tests_of_its_own(registry, tmp_path):
    tests = unpacked_tests("ir-measures", tmp_path)
    without = outcomes(tests, ".")
    assert list(without.values()).count("PASSED") > 10
    assert outcomes(tests, "-p", "imported", ".") == without


def test_pyterrier_passes_the_same_tests_of_its_own(registry, tmp_path):
    tests = unpacked_tests("pyterrier", tmp_path)
    (tests / "base.py").write_text(_BASE)
    (tests / "__init__.py").touch()
    files = [f"test_{name}.py" for name in _OFFLINE if (tests / f"test_{name}.py").exists()]
    without = outcomes(tests, *files)
    assert list(without.values()).count("PASSED") > 100
    assert outcomes(tests, "-p", "imported", *files) == without
