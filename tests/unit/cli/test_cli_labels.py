"""Labels in the commands: their number, their effect, and the merged qrels."""

import pytest
from click.testing import CliRunner

import pyterrier_asl as asl
from pyterrier_asl.cli import main

QUERIES = [f"q{number:02}" for number in range(12)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two runs of 12 queries: x, which only ``new`` has, is unjudged and above a."""
    monkeypatch.chdir(tmp_path)
    lines = {
        "qrels": "".join(f"{q} 0 a 1\n{q} 0 n 0\n" for q in QUERIES),
        "old": "".join(f"{q} Q0 a 1 2 t\n{q} Q0 n 2 1 t\n" for q in QUERIES),
        "new": "".join(f"{q} Q0 x 1 2 t\n{q} Q0 a 2 1 t\n" for q in QUERIES),
        "todo.tsv": "qid\tdocno\tlabel\n" + "".join(f"{q}\tx\t1\n" for q in QUERIES[:10]),
    }
    lines["todo.tsv"] += f"{QUERIES[10]}\tx\t\n{QUERIES[11]}\tx\t-1\n"
    for name, text in lines.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_the_merged_qrels_are_written_and_give_the_same(files):
    done = call("labels", "qrels", "todo.tsv", "-o", "merged.txt")
    assert done.exit_code == 0, done.output
    assert "todo.tsv: 10 labels, 2 rows without a label" in done.stderr
    assert "merged.txt: 34 judgements, 10 of them labels" in done.stderr
    assert len((files / "merged.txt").read_text().splitlines()) == 34
    values = asl.evaluate(["old", "new"], "merged.txt", ["P@2"]).groupby("name")["P@2"].mean()
    assert values["new"] == pytest.approx(11 / 12) and values["old"] == 0.5
    printed = call("labels", "qrels", "todo.tsv").stdout
    assert printed == (files / "merged.txt").read_text()
