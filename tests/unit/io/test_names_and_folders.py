"""Folders, names and tables as people have them (runs.py)."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest
import small
from _files import write_run

from pyterrier_asl import ASL, evaluate, ranks
from pyterrier_asl.io.runs import list_runs, read_runs, run_name
from pyterrier_asl.printing.tables import latex, show


@pytest.fixture
def folder(tmp_path):
    """A folder that an experiment has written."""
    for name, system in (("dph", "alpha"), ("bm25", "delta")):
        write_run(small.RUNS[system], tmp_path / f"{name}.run")
    for name in ("aggregated.csv", "perquery.csv"):
        (tmp_path / name).write_text("name,AP\nbm25,0.5\n")
    return tmp_path


def test_tables_of_an_experiment_are_not_runs(folder):
    assert list(list_runs(folder)) == list(read_runs(folder)) == ["bm25", "dph"]
    assert list(list_runs(sorted(folder.iterdir()))) == ["bm25", "dph"]
    assert ranks(folder, small.QRELS, "AP").table["name"].nunique() == 2
    with pytest.raises(
        ValueError, match="aggregated.csv, a table sep.* no column qid .*; there are name, AP"
    ):
        evaluate(folder / "aggregated.csv", small.QRELS, "AP")
    for path in folder.glob("*.run"):
        path.unlink()
    with pytest.raises(ValueError, match="holds no runs"):
        list_runs(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="names of other systems are Unicode")
def test_the_name_of_a_file_that_is_no_utf8(folder):
    path = os.fsdecode(os.fsencode(folder) + b"/b\xff.run")
    (folder / "bm25.run").rename(path)
    table = evaluate(folder, small.QRELS, "AP")
    assert table["name"].unique().tolist() == ["b\ufffd", "dph"] == sorted(list_runs(folder))
    assert run_name("für.run").encode() == "für".encode()


#: The type of text in Polars, which Arrow can export from release 22 on.
VIEW = pa.string_view() if int(pa.__version__.split(".")[0]) > 21 else pa.large_string()


class Foreign:
    """A table of another library, such as Polars."""

    def __init__(self, frame: pd.DataFrame) -> None:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        fields = [(f.name, VIEW if "id" in f.name else f.type) for f in table.schema]
        self._table = table.cast(pa.schema(fields))

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)

    def __iter__(self):
        """As of Polars: over the columns, which know their names."""
        for name, column in zip(self._table.column_names, self._table.columns):
            series = SimpleNamespace(name=name)
            series.__arrow_c_stream__ = column.__arrow_c_stream__
            yield series


def test_tables_of_other_libraries_are_read_by_arrows_interface():
    run = pd.DataFrame({"query_id": "q0", "doc_id": ["b", "a"], "score": [2.0, 1.0]})
    qrels = pd.DataFrame({"query_id": "q0", "doc_id": ["a", "b"], "relevance": [1, 0]})
    expected = evaluate(run, qrels, "RR ASL")
    for runs in (Foreign(run), {"run": Foreign(run)}):
        pd.testing.assert_frame_equal(evaluate(runs, Foreign(qrels), "RR ASL"), expected)
    assert ASL.calc_aggregate(Foreign(qrels), Foreign(run)) == expected["ASL"].item() == 2


def test_a_missing_value_does_not_take_the_bold_from_a_column():
    table = {"run": ["a", "b", "c"], "AP": [0.5, None, 0.25], "RR": [None, None, None]}
    text = latex(table, higher_is_better={"AP": True, "RR": True})
    assert text.count("textbf") == 1 and r"\textbf{0.5000}" in text


def test_a_piped_table_obeys_columns(capsys, monkeypatch):
    table = {"run": ["a" * 60 + " " + "b" * 50], "AP": [0.5]}
    for columns, fits in (("", False), ("80", True)):
        monkeypatch.setenv("COLUMNS", columns)
        show(table)
        assert (max(map(len, capsys.readouterr().out.splitlines())) <= 80) is fits


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_in_the_first_moments_shows_no_traceback():
    code = (
        "import os, signal, sys, threading\n"
        "class Stop:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'click': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from pyterrier_asl.__main__ import run\n"
        "run()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
