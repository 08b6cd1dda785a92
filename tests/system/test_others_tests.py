"""The tests of ir_measures, from its source, have the same outcomes with this package."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys

import pytest

#: A plugin of pytest: ir_measures as it is where this package is imported, and computes for it.
_PLUGIN = """
import pyterrier_asl
from pyterrier_asl.evaluation.providers import accelerate

accelerate()
"""


@pytest.fixture(scope="module")
def source(registry, tmp_path_factory):
    """The source of the installed ir_measures."""
    folder = tmp_path_factory.mktemp("source")
    release = f"ir-measures=={importlib.metadata.version('ir-measures')}"
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    done = subprocess.run(
        [*download, "--no-binary", "ir-measures", release], cwd=folder, capture_output=True
    )
    if done.returncode:
        pytest.skip(f"pip finds no source of {release}")
    archive = next(folder.glob("*.tar.gz"))
    shutil.unpack_archive(archive, folder)
    return folder / archive.name.removesuffix(".tar.gz")


def test_ir_measures_passes_the_same_tests_of_its_own(source):
    (source / "tests" / "accelerated.py").write_text(_PLUGIN)

    def outcomes(*options):
        command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *options]
        command += ["--continue-on-collection-errors", "--tb=no", "."]  # it lacks some helpers
        done = subprocess.run(command, cwd=source / "tests", capture_output=True, text=True)
        found = re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        return {name: outcome for outcome, name in found}

    without = outcomes()
    assert list(without.values()).count("PASSED") > 10
    assert outcomes("-p", "accelerated") == without
