"""Labels of unjudged documents: kept as they come, and merged with the official judgements."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..io.qrels import read_qrels
from ..judging.judgements import Judgements

COLUMNS = ["qid", "docno", "label", "source"]

#: What official judgements have for their source.
OFFICIAL = "official"

#: Other names of the same, in the files of other programs.
_ALIASES = {
    "query_id": "qid",
    "doc_id": "docno",
    "docid": "docno",
    "relevance": "label",
    "judgment": "label",
    "judge": "source",
}


class LabelFile:
    """Labels in a file of JSON lines, to which each is added as it comes.

    What has been added stays, whatever happens afterwards: it is on the disk before :meth:`add`
    returns. A last line that was cut off by an interruption is dropped.

    Args:
        path: the file; it is made with the first label.

    >>> import tempfile
    >>> file = LabelFile(Path(tempfile.mkdtemp()) / "labels.jsonl")
    >>> file.add([{"qid": "q", "docno": "d", "label": 1, "source": "me"}])
    >>> file.read()["label"].tolist()
    [1.0]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def read(self) -> pd.DataFrame:
        """The labels: ``qid``, ``docno``, ``label``, ``source``; none where there is no file."""
        return read_labels(self.path) if self.path.exists() else pd.DataFrame(columns=COLUMNS)

    def add(self, labels: Iterable[Mapping[str, Any]]) -> None:
        """Adds labels at the end of the file."""
        with open(self.path, "ab+") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)  # after the last whole line
            for label in labels:
                line = json.dumps({name: label[name] for name in COLUMNS}, ensure_ascii=False)
                file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def read_labels(source: Any) -> pd.DataFrame:
    """Labels from a frame or a file.

    A file holds JSON lines (``qid``, ``docno``, ``label``, or ``query_id``, ``docid``,
    ``judgment``), a table with tabs between columns of these names, or qrels. Rows without a label,
    and those with a negative one, are unjudged and left out. Where a document stands twice, the
    last label counts.

    Args:
        source: the frame, or the path of the file.

    Returns:
        ``qid``, ``docno``, ``label``, ``source`` (the name of the file where it says none).

    Raises:
        ValueError: for a file or frame without these columns, or with two of one meaning, and a
            label that is no number.

    >>> read_labels(pd.DataFrame({"qid": [1], "docno": ["d"], "label": [2]}))
      qid docno  label source
    0   1     d    2.0  label
    """
    name = "label"
    if isinstance(source, pd.DataFrame):
        frame = source
    else:
        path = Path(source)
        name, frame = path.name, _from_file(path)
    twice = next((old for old, new in _ALIASES.items() if {old, new} <= set(frame)), None)
    if twice is not None:
        raise ValueError(
            f"{name}: the labels have the columns {twice!r} and {_ALIASES[twice]!r}, which mean "
            "the same: leave one out"
        )
    frame = frame.rename(columns=_ALIASES)
    missing = [column for column in COLUMNS[:3] if column not in frame]
    if missing:
        raise ValueError(f"{name}: labels need the columns {missing}; there are {list(frame)}")
    labels = pd.to_numeric(frame["label"], errors="coerce")
    wrong = labels.isna() & frame["label"].notna() & (frame["label"].astype(str) != "")
    if wrong.any():
        raise ValueError(f"{name}: the label {frame.loc[wrong, 'label'].iloc[0]!r} is no number")
    who = frame["source"].fillna(name) if "source" in frame else name
    frame = frame.assign(label=labels.astype(float), source=who).astype({"qid": str, "docno": str})
    frame = frame.loc[labels >= 0, COLUMNS]
    return frame.drop_duplicates(["qid", "docno"], keep="last", ignore_index=True)


def _from_file(path: Path) -> pd.DataFrame:
    text = path.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    if first.startswith("{"):
        return pd.DataFrame(list(_json_lines(path, text)), dtype=object)
    if "\t" in first and "label" in first.split("\t"):
        return pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False, quoting=3)
    if not text.strip():
        return pd.DataFrame(columns=COLUMNS)
    return read_qrels(path)


def _json_lines(path: Path, text: str) -> Iterator[dict[str, Any]]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except json.JSONDecodeError as error:
            if number == len(lines):  # cut off by an interruption
                return
            raise ValueError(f"{path}, line {number}: this is no JSON: {line[:80]!r}") from error


def merge_labels(qrels: Any, labels: Any, *, conflicts: str = "error") -> pd.DataFrame:
    """Official judgements, and labels for documents that they do not judge.

    Official grades are never overwritten. Means over judgements of mixed sources should say so; to
    fill only the gaps of new runs with a lenient judge favours those runs.

    Args:
        qrels: data frame, file, ir_datasets id, dict of dicts: the official judgements.
        labels: what :func:`read_labels` takes.
        conflicts: ``'error'``, or ``'official'``: where a label contradicts an official grade it is
            left out.

    Returns:
        ``qid``, ``docno``, ``label``, ``source`` (``'official'``, or who gave the label). A
        document with a negative official grade is unjudged, so that a label takes its place.

    Raises:
        ValueError: for a label that contradicts an official grade.

    >>> merge_labels({"q": {"a": 1}}, pd.DataFrame({"qid": ["q"], "docno": ["b"], "label": [0]}))
      qid docno  label    source
    0   q     a    1.0  official
    1   q     b    0.0     label
    """
    if conflicts not in ("error", "official"):
        raise ValueError(f"conflicts must be 'error' or 'official', not {conflicts!r}")
    judgements, new = Judgements.of(qrels), read_labels(labels)
    official = judgements.table.frame("qid", "docno", "label").assign(source=OFFICIAL)
    key = ["qid", "docno"]
    known = official.loc[official["label"] >= 0, [*key, "label"]]
    both = new.merge(known, how="left", on=key, suffixes=("", "_official"))
    differs = both[both["label_official"].notna() & (both["label_official"] != both["label"])]
    if len(differs) and conflicts == "error":
        one = differs.iloc[0]
        raise ValueError(
            f"document {one['docno']!r} of query {one['qid']!r} is labelled {one['label']:g} by "
            f"{one['source']!r}, and its official grade is {one['label_official']:g}: leave it "
            "out, or pass conflicts='official'"
        )
    every = pd.concat([official, both.loc[both["label_official"].isna(), COLUMNS]])
    return every.drop_duplicates(key, keep="last", ignore_index=True)
