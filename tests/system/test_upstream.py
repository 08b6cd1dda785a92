"""The patches for ir_measures apply to its release, and its own ASL and LexiP have our values."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from test_others_tests import unpacked_tests

from pyterrier_asl import ASL, LexiP

PATCHES = sorted((Path(__file__).parents[2] / "docs" / "upstream").glob("*.patch"))
MEASURES = ["ASL", "ASL@10", "ASL(rel=2)@5", "ASL(g=3)@20", "LexiP", "LexiP(rel=2)", "LexiP@7"]

_VALUES = """
import json, sys
import ir_measures
qrels, run, names = json.load(sys.stdin)
measures = [ir_measures.parse_measure(name) for name in names]
metrics = ir_measures.iter_calc(measures, qrels, run)
print(json.dumps([[str(m.measure), m.query_id, m.value] for m in metrics]))
"""


@pytest.fixture(scope="module")
def patched(registry, tmp_path_factory):
    """The source of the released ir_measures with both patches."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    source = unpacked_tests("ir-measures", tmp_path_factory.mktemp("source")).parent
    for patch in PATCHES:  # the source of the release has no documentation
        command = ["git", "apply", "--include=ir_measures/*", "--include=tests/*", str(patch)]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return source


def python(source: Path, *arguments: str, text: str = "") -> str:
    """What Python prints with the patched ir_measures."""
    env = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=source, env=env, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_patches_have_tests_that_pass(patched):
    files = ("tests/test_asl.py", "tests/test_plugins.py")
    assert "7 passed" in python(patched, "-m", "pytest", "-q", *files)


def test_values_are_those_of_this_package(patched):
    random = np.random.default_rng(0)
    qrels = {
        f"q{q}": {f"d{d}": int(random.integers(-1, 4)) for d in random.choice(60, 12, False)}
        for q in range(40)
    }
    run = {  # with ties, unjudged documents, and queries of the qrels that are missing
        f"q{q}": {f"d{d}": float(random.integers(0, 20)) for d in random.choice(80, 30, False)}
        for q in range(35)
    }
    qrels["none relevant"] = run["none relevant"] = {"d1": 0}
    printed = python(patched, "-c", _VALUES, text=json.dumps([qrels, run, MEASURES]))
    theirs = {(measure, qid): value for measure, qid, value in json.loads(printed)}
    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    assert {type(measure) for measure in measures} == {type(ASL), type(LexiP)}
    ours = {
        (str(metric.measure), metric.query_id): metric.value
        for metric in ir_measures.iter_calc(measures, qrels, run)
    }
    assert theirs == pytest.approx(ours, rel=1e-12) and len(ours) == len(MEASURES) * len(qrels)
