"""Lists of documents to judge, for people and for other programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pandas as pd

from ..io.atomic import another_kind, check_replaceable, replacing
from ..io.tables import jsonl_lines, tsv_lines
from ..io.texts import Texts
from .holes import Holes, describe
from .loop import questions

#: What a list can look like, by the ending of its file, else TREC's; and what it begins with: of
#: TREC's nobody can tell that it is one.
FORMS = {"tsv": b"qid\t", "jsonl": b'{"qid"', "umbrela": b'{"query"', "trec": b""}


def export(
    holes: Holes,
    path: str | os.PathLike[str],
    *,
    form: str | None = None,
    most: int | None = None,
    texts: Callable[[list[str]], Texts] | None = None,
    force: bool = False,
) -> int:
    """Saves the documents to judge next, in their order.

    * ``'tsv'``: a table with an empty column ``label`` to be filled in;
    * ``'jsonl'``: the same as JSON lines;
    * ``'umbrela'``: a request in each line, a query with its documents, as UMBRELA takes them;
    * ``'trec'``: qrels in which -1 is to be replaced.

    :func:`~pyterrier_asl.unjudged.labels.read_labels` reads what comes back.

    Args:
        holes: the comparison.
        path: the file; a file that is there is replaced only by a whole one (see
            :func:`check_export`).
        form: one of these; None: by the ending ``.tsv``, ``.jsonl``, ``.umbrela``, else ``'trec'``.
        most: no more documents than this.
        texts: where the texts of queries and documents are, by document ids.
        force: whether a file of another kind is overwritten.

    Returns:
        How many documents there are in it.

    Raises:
        ValueError: for another form.
        OSError: for a file that cannot be written, or is of another kind.
    """
    form = check_export(path, form, force=force)
    codes = holes.order()[:most]
    frame = describe(holes.labelled, codes, holes.runs.qids)
    asked = questions(holes, codes, texts)
    frame = frame.assign(query=asked["query"], text=asked["text"], label="")
    with replacing(path, force=True) as beside, open(beside, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in _lines(frame, form))
    return len(frame)


def check_export(
    path: str | os.PathLike[str],
    form: str | None = None,
    *,
    force: bool = False,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> str:
    """The form of a list that is to be saved, if it can be.

    Args:
        path: as in :func:`export`.
        form: likewise.
        force: likewise; without, a file of TREC's form is not overwritten at all.
        inputs: files and folders that are read, none of which is overwritten.

    Raises:
        ValueError: for another form.
        OSError: for a file that cannot be written, or is of another kind.
    """
    ending = Path(path).suffix.removeprefix(".")
    form = form or (ending if ending in FORMS else "trec")
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
    check_replaceable(path, inputs=inputs, begins=FORMS[form], force=force)
    if form == "trec" and not force and os.path.exists(path) and os.path.getsize(path):
        raise another_kind(path)
    return form


def _lines(frame: pd.DataFrame, form: str) -> Iterator[str]:
    if form == "tsv":
        one_line = frame[["query", "text"]].map(lambda text: " ".join(text.split()))
        return tsv_lines(frame.assign(**one_line), places=6)
    if form == "jsonl":
        return jsonl_lines(frame)
    if form == "trec":
        return (f"{qid} 0 {docno} -1" for qid, docno in zip(frame["qid"], frame["docno"]))
    return _requests(frame)


def _requests(frame: pd.DataFrame) -> Iterator[str]:
    for qid, group in frame.groupby("qid", sort=False):
        candidates = [
            {"docid": docno, "doc": {"segment": text}}
            for docno, text in zip(group["docno"], group["text"])
        ]
        query = {"qid": str(qid), "text": group["query"].iloc[0]}
        yield json.dumps({"query": query, "candidates": candidates}, ensure_ascii=False)
