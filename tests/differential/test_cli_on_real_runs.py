"""The command line, on real runs and collections."""

from __future__ import annotations

import json

import pandas as pd
from click.testing import CliRunner, Result

from pyterrier_asl.cli import main


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def evaluate(*arguments: str) -> Result:
    return call("evaluate", "qrels", *arguments)


def values(result: Result) -> dict[tuple[str, ...], float]:
    """What was printed as JSON lines, by run, query if any, and measure."""
    assert result.exit_code == 0, result.stderr
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    names = ("run", "query_id", "measure")
    return {tuple(row[name] for name in names if name in row): row["value"] for row in rows}


def test_vaswani_by_id(vaswani, tmp_path):
    qrels = pd.DataFrame(vaswani.qrels_iter())
    run = tmp_path / "perfect"
    run.write_text("".join(f"{q} Q0 {d} 0 1 tag\n" for q, d in zip(qrels.query_id, qrels.doc_id)))
    lengths = ["--lengths", "irds:vaswani"]
    found = values(call("evaluate", "vaswani", str(run), "-o", "jsonl", *lengths))
    assert found["ASL@1000",] == found["LexiP",] == found["AP",] == 1
    assert found["TBG",] > 0
