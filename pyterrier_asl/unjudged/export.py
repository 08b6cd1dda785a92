"""Lists of documents to judge, saved for people and for other programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from ..io.atomic import check_replaceable, kind_error, replacing
from ..io.label_files import label_rows, read_labels
from ..io.notices import counted
from ..io.table_forms import jsonl_lines, tsv_lines
from ..io.texts import Texts
from .holes import Holes, describe
from .loop import questions

#: Forms of a list by the ending of its file (other endings: TREC's form), with its first bytes;
#: files of TREC's form cannot be recognised.
FORMS = {"tsv": b"qid\t", "jsonl": b'{"qid"', "umbrela": b'{"query"', "trec": b""}

#: Number of bytes of a file that are read to recognise a list of documents to judge.
_HEADER = 1000


def export(
    holes: Holes,
    path: str | os.PathLike[str],
    *,
    form: str | None = None,
    most: int | None = None,
    texts: Callable[[list[str]], Texts] | None = None,
    force: bool = False,
    keep: bool = False,
) -> int:
    """Saves the documents to judge next, in this order.

    * ``'tsv'``: a table with an empty column ``label`` to fill in;
    * ``'jsonl'``: the same as JSON lines;
    * ``'umbrela'``: one request per line, a query with its documents, in UMBRELA's form;
    * ``'trec'``: qrels with -1 for each missing grade.

    :func:`~pyterrier_asl.read_labels` reads the completed file.

    Args:
        holes: the comparison.
        path: the file; an existing file is replaced in one step (see :func:`check_export`).
        form: one of these; None: by the ending ``.tsv``, ``.jsonl``, ``.umbrela``, else ``'trec'``.
        most: the largest number of documents.
        texts: returns the texts of queries and documents by document ids.
        force: whether a file of another kind is overwritten.
        keep: whether the file may hold labels; their rows are kept and come first (a second round
            with the same file).

    Returns:
        The number of documents to judge in the file.

    Raises:
        ValueError: for another form.
        OSError: for a file that cannot be written, is of another kind, or holds labels.
    """
    form = check_export(path, form, force=force, keep=keep)
    codes = holes.order()
    frame = describe(holes.labelled, codes, holes.runs.qids)
    kept = _rows_to_keep(path, form, frame) if keep and os.path.exists(path) else pd.DataFrame()
    keys = set() if kept.empty else set(zip(kept["qid"], kept["docno"]))
    documents = zip(frame["qid"].astype(str), frame["docno"])
    is_new = np.array([key not in keys for key in documents], dtype=bool)
    codes, frame = codes[is_new][:most], frame[is_new][:most]
    columns = questions(holes, codes, texts).set_index(frame.index)[["query", "text"]]
    frame = frame.assign(query=columns["query"], text=columns["text"], label="")
    rows, is_open = frame, len(frame)
    if len(kept):
        rows = pd.concat([kept.astype(object), frame.astype(object)])
        rows = rows.where(rows.notna(), None)[
            [*frame, *(name for name in kept if name not in frame)]
        ]
        is_open += int((kept["label"] == "").sum())
    with replacing(path, force=True) as beside, open(beside, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in _lines(rows, form))
    return is_open


def _rows_to_keep(path: str | os.PathLike[str], form: str, listed: pd.DataFrame) -> pd.DataFrame:
    """The rows of a file with a label, with -1, or with a note in a further column."""
    rows = label_rows(path)
    ours = {*map(str, listed), "query", "text", "label", "source"}
    notes = [name for name in rows if str(name) not in ours]
    noted = (rows[notes].fillna("") != "").any(axis=1)
    marked = rows["label"].notna() if form != "trec" else rows["label"] >= 0
    kept = rows[marked | noted].drop_duplicates()
    shown = [int(label) if label.is_integer() else label for label in kept["label"].fillna(-1)]
    labels = pd.Series(shown, kept.index, dtype=object).where(kept["label"].notna(), "")
    labelled: pd.DataFrame = kept.assign(label=labels)
    return labelled


def check_export(
    path: str | os.PathLike[str],
    form: str | None = None,
    *,
    force: bool = False,
    keep: bool = False,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> str:
    """Checks that a list can be saved, and returns its form.

    Args:
        path: see :func:`export`.
        form: see :func:`export`.
        force: see :func:`export`; without it a file of TREC's form is overwritten only if its
            labels are kept.
        keep: see :func:`export`.
        inputs: files and folders that are read; they are not overwritten.

    Raises:
        ValueError: for another form.
        OSError: for a file that cannot be written, is of another kind, or holds labels.
    """
    ending = Path(path).suffix.removeprefix(".")
    form = form or (ending if ending in FORMS else "trec")
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
    check_replaceable(path, inputs=inputs, begins=FORMS[form], force=force or keep)
    if not os.path.exists(path) or not os.path.getsize(path):
        return form
    if keep and form == "umbrela":
        raise ValueError(f"{path}: requests in UMBRELA's form have no labels: name another file")
    if keep:
        label_rows(path)
        return form
    labels = _number_of_labels(path)
    if labels:
        raise FileExistsError(
            f"cannot write {path}: it holds {counted(labels, 'label')}; to keep them read the file "
            "by --labels (in Python merge_labels and keep=True), or name another file"
        )
    if not force and (labels is None or form == "trec"):
        raise kind_error(path)
    return form


def _number_of_labels(path: str | os.PathLike[str]) -> int | None:
    """The number of labels in a file; None for a file of another kind.

    Raises:
        FileExistsError: for a list with a row that cannot be understood.
    """
    with open(path, "rb") as file:
        start = file.read(_HEADER)
        if start.startswith(FORMS["umbrela"]) and b'"judgment"' not in start + file.read():
            return 0
    try:
        return len(read_labels(path))
    except (ValueError, OSError) as error:
        if b"docno" in start:
            raise FileExistsError(
                f"cannot write {path}: not every label that it holds can be read ({error})"
            ) from None
        return None


def _lines(frame: pd.DataFrame, form: str) -> Iterator[str]:
    if form == "tsv":
        one_line = frame[["query", "text"]].map(lambda text: " ".join((text or "").split()))
        return tsv_lines(frame.assign(**one_line), places=6)
    if form == "jsonl":
        return jsonl_lines(frame)
    if form == "trec":
        rows = zip(frame["qid"], frame["docno"], frame["label"])
        return (f"{qid} 0 {docno} {'-1' if label == '' else label}" for qid, docno, label in rows)
    return _requests(frame)


def _requests(frame: pd.DataFrame) -> Iterator[str]:
    for qid, group in frame.groupby("qid", sort=False):
        candidates = [
            {"docid": docno, "doc": {"segment": text}}
            for docno, text in zip(group["docno"], group["text"])
        ]
        query = {"qid": str(qid), "text": group["query"].iloc[0]}
        yield json.dumps({"query": query, "candidates": candidates}, ensure_ascii=False)
