"""Lists of documents to judge, for people and for other programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from ..io.atomic import replacing
from ..io.tables import jsonl_lines, tsv_lines
from ..io.texts import Texts
from .comparison import Holes, describe
from .loop import questions

#: What a list can look like, by the ending of its file; anything else is TREC's.
FORMS = ("tsv", "jsonl", "umbrela", "trec")
_BY_SUFFIX = {".tsv": "tsv", ".jsonl": "jsonl", ".umbrela": "umbrela"}


def export(
    holes: Holes,
    path: str | os.PathLike[str],
    *,
    form: str | None = None,
    most: int | None = None,
    texts: Callable[[list[str]], Texts] | None = None,
) -> int:
    """Saves the documents to judge next, in their order.

    * ``'tsv'``: a table with an empty column ``label`` to be filled in;
    * ``'jsonl'``: the same as JSON lines;
    * ``'umbrela'``: a request in each line, a query with its documents, as UMBRELA takes them;
    * ``'trec'``: qrels in which -1 is to be replaced.

    :func:`~pyterrier_asl.unjudged.labels.read_labels` reads what comes back.

    Args:
        holes: the comparison.
        path: the file; a file that is there is replaced only by a whole one.
        form: one of these; None: by the ending ``.tsv``, ``.jsonl``, ``.umbrela``, else ``'trec'``.
        most: no more documents than this.
        texts: where the texts of queries and documents are, by document ids.

    Returns:
        How many documents there are in it.

    Raises:
        ValueError: for another form.
    """
    form = form or _BY_SUFFIX.get(Path(path).suffix, "trec")
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
    codes = holes.order()[:most]
    frame = describe(holes.labelled, codes, holes.runs.qids)
    asked = questions(holes, codes, texts)
    frame = frame.assign(query=asked["query"], text=asked["text"], label="")
    with replacing(path) as beside, open(beside, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in _lines(frame, form))
    return len(frame)


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
