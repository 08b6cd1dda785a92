"""No process that is started imports from the current folder, which may be somebody else's."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

#: What Python, joblib and ir_datasets import, early or late.
MODULES = [
    "argparse", "cloudpickle", "ir_datasets", "ir_measures", "joblib", "json", "multiprocessing",
    "numpy", "pandas", "pickle", "pyterrier", "pyterrier_asl", "signal", "socket", "tempfile",
]  # fmt: skip

TUNE = """
    import pandas as pd
    from scipy.stats import uniform
    from pyterrier_asl import RandomSearch, TermIndex
    from pyterrier_asl.io import processes
    from pyterrier_asl.tuning import study

    study.safe_start = lambda: processes.safe_start(by_folder=BY_FOLDER)
    index = TermIndex.from_documents(
        [{"docno": f"d{i}", "text": "radio " * i + "wave"} for i in range(1, 6)]
        + [{"docno": f"e{i}", "text": "core"} for i in range(9)],
        verbose=False,
    )
    topics = pd.DataFrame({"qid": ["1"], "query": ["radio"]})
    qrels = pd.DataFrame({"qid": ["1"], "docno": ["d3"], "label": [1]})
    bm25 = index.bm25()
    trials = RandomSearch(
        bm25, {bm25: {"b": uniform(0, 1)}}, topics, qrels, "AP", n_trials=4, jobs=2, seed=1,
        sweep=False, return_type="trials",
    )
    assert len(trials) == 4
"""

SCRIPTS = {
    "tune": TUNE.replace("BY_FOLDER", "False"),
    "tune, where Python has no option": TUNE.replace("BY_FOLDER", "True"),
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
        from pyterrier_asl.experiment import demo
        demo.PATIENCE = 20
        try:
            demo._fetch_vaswani()
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
    script = ours / "script.py"
    script.write_text(
        "if __name__ == '__main__':\n" + textwrap.indent(textwrap.dedent(SCRIPTS[what]), "    ")
    )
    env = {**os.environ, "IR_DATASETS_HOME": str(tmp_path / "irds")}
    env.pop("PYTHONSAFEPATH", None)
    done = subprocess.run(
        [sys.executable, script], cwd=theirs, env=env, capture_output=True, text=True, timeout=240
    )
    assert not imported.exists(), imported.read_text()
    assert done.returncode == 0, done.stderr
