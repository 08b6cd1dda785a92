"""Runs and qrels, as dicts or frames, in files as trec_eval reads them."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd


def _rows(table: Any) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(table, pd.DataFrame):
        yield from table.iloc[:, :3].itertuples(index=False, name=None)
    else:
        yield from ((qid, doc, value) for qid, docs in table.items() for doc, value in docs.items())


def write_run(run: Any, path: Path | str) -> Path:
    text = "".join(f"{qid} Q0 {doc} 0 {score} x\n" for qid, doc, score in _rows(run))
    Path(path).write_text(text)
    return Path(path)


def write_qrels(qrels: Any, path: Path | str) -> Path:
    Path(path).write_text("".join(f"{qid} 0 {doc} {grade}\n" for qid, doc, grade in _rows(qrels)))
    return Path(path)


def read_lines(path: Path) -> list[list[str]]:
    """The fields of each line of a file, which may be compressed."""
    content = path.read_bytes()
    content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    return [line.split() for line in content.decode().split("\n") if line.strip()]
