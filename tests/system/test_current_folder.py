"""Started processes import nothing from the current folder, which may be another user's."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

#: Modules that Python, joblib and ir_datasets import.
MODULES = [
    "argparse",
    "cloudpickle",
    "ir_datasets",
    "ir_measures",
    "joblib",
    "json",
    "multiprocessing",
    "numpy",
    "pandas",
    "pickle",
    "pyterrier",
    "pyterrier_asl",
    "signal",
    "socket",
    "tempfile",
]

#: joblib replaces a worker that runs this after its next task, like a worker with much memory.
GROW = """
    import os
    from pathlib import Path

    def grow(given=None):
        from joblib.externals.loky import process_executor
        process_executor._MAX_MEMORY_LEAK_SIZE = -(2**62)
        process_executor._MEMORY_LEAK_CHECK_DELAY = 0
        (Path(PIDS) / str(os.getpid())).touch()
        return given
"""

#: The end of a script: checks that workers were replaced.
REPLACED = """
    assert len(os.listdir(PIDS)) > 2, "no worker was replaced"
"""

SCRIPTS = {
    "evaluate, workers replaced": GROW
    + """
    from pyterrier_asl import evaluate

    class Run(dict):
        def __reduce__(self):
            return grow, (dict(self),)

    runs = {f"r{number}": Run(q1={"d1": 2.0, "d2": 1.0}) for number in range(6)}
    assert len(evaluate(runs, {"q1": {"d2": 1}}, "AP", jobs=2)) == 6
"""
    + REPLACED,
    "evaluate": """
        from pyterrier_asl import evaluate
        runs = {name: {"q1": {"d1": 2.0, "d2": 1.0}} for name in "abc"}
        assert len(evaluate(runs, {"q1": {"d2": 1}}, "AP", jobs=2)) == 3
    """,
    "evaluate on Ray": """
        from pyterrier_asl import evaluate
        runs = {name: {"q1": {"d1": 2.0, "d2": 1.0}} for name in "abc"}
        assert len(evaluate(runs, {"q1": {"d2": 1}}, "AP", jobs=2, backend="ray")) == 3
    """,
    "demo": """
        from pyterrier_asl.experiment import demo_collection
        demo_collection.PATIENCE = 20
        try:
            demo_collection._fetch_vaswani()
        except OSError:
            pass  # where there is no network
    """,
}


@pytest.mark.parametrize("what", SCRIPTS)
def test_nothing_is_imported_from_the_current_folder(what, tmp_path):
    if "Ray" in what:
        pytest.importorskip("ray", reason="Ray is not installed")
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    imported = tmp_path / "imported"
    for module in MODULES:
        code = f"open({str(imported)!r}, 'a').write({module!r} + '\\n'); raise SystemExit(9)"
        (theirs / f"{module}.py").write_text(code)
    if "replaced" in what:
        pytest.importorskip("psutil", reason="joblib replaces workers by psutil only")
    pids = tmp_path / "pids"
    pids.mkdir()
    script = ours / "script.py"
    script.write_text(
        f"PIDS = {str(pids)!r}\nif __name__ == '__main__':\n"
        + textwrap.indent(textwrap.dedent(SCRIPTS[what]), "    ")
    )
    env = {**os.environ, "IR_DATASETS_HOME": str(tmp_path / "irds")}
    env.pop("PYTHONSAFEPATH", None)
    done = subprocess.run(
        [sys.executable, script], cwd=theirs, env=env, capture_output=True, text=True, timeout=240
    )
    assert not imported.exists(), imported.read_text()
    assert done.returncode == 0, done.stderr
