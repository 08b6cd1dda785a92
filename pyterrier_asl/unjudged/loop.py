"""The judging loop: the documents that decide a comparison, judged until it is settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..evaluation.inputs import refuse
from ..io.label_files import COLUMNS, KEY, LabelFile, label_of
from ..io.notices import counted, excerpt
from ..io.printed import Part, Printed
from ..io.texts import Texts
from ..judging.qrels import merge_labels
from ..scoring.arrays import Floats, Ints
from ..statistics.inputs import check_whole
from .holes import Holes

SETTLED, BUDGET, NOTHING_LEFT, NO_ANSWER = "settled", "budget", "nothing left", "no answer"

#: Sentences on how a round ended, with the number of labels.
_WORDS = {
    SETTLED: "Settled after {}.",
    BUDGET: "The budget is spent after {}.",
    NOTHING_LEFT: "Nothing is left to judge after {}.",
    NO_ANSWER: "The judge gave no label for the remaining documents, after {}.",
}


@dataclass(frozen=True, repr=False)
class Judging(Printed):
    """The result of a judging loop.

    Attributes:
        holes: the comparison with all labels.
        labels: the labels of this loop, in order: ``qid``, ``docno``, ``label``, ``source``.
        ended: ``'settled'``, ``'budget'`` (it is spent), ``'nothing left'`` to judge, or
            ``'no answer'`` (the judge gave no label for the rest).
    """

    holes: Holes
    labels: pd.DataFrame
    ended: str

    def parts(self) -> list[Part]:
        """The end of the loop, and the comparison."""
        ending = _WORDS[self.ended].format(counted(len(self.labels), "label"))
        return [Part(ending), *self.holes.parts()]


def _with_labels_of(holes: Holes, labels: pd.DataFrame, conflicts: str) -> Holes:
    """Adds the labels of a file; the comparison may have some of them already."""
    if labels.empty:
        return holes
    labelled = holes.labelled
    merge_labels(labelled.judgements, labels, conflicts=conflicts, highest=labelled.highest)
    codes = np.flatnonzero(labelled.unjudged.is_open)
    documents = questions(holes, codes).astype({"qid": str}).assign(code=codes)
    new = documents.merge(labels[[*KEY, "label"]], on=KEY)
    return holes.with_labels(new["code"].to_numpy(), new["label"].to_numpy(dtype=np.float64))


def judge_until_settled(
    holes: Holes,
    judge: Any,
    *,
    labels: Any = None,
    texts: Callable[[list[str]], Texts] | None = None,
    budget: int | None = None,
    batch: int = 10,
    source: str = "judge",
    conflicts: str = "error",
) -> Judging:
    """Asks a judge for labels of the documents that decide, until the verdict is settled.

    Args:
        holes: the comparison.
        judge: a function of a frame with ``qid``, ``query``, ``docno``, ``text``, or a PyTerrier
            transformer of such frames. It returns a frame with ``qid``, ``docno``, ``label``, or
            the labels in order; None and negative labels mean no answer.
        labels: a file to which labels are added before the judge is asked again. Labels in the file
            are used first, so that an interrupted loop continues.
        texts: returns the texts of queries and documents by document ids; None: no texts.
        budget: the largest number of documents to judge; labels in the file do not count.
        batch: the number of documents to judge at a time.
        source: the name of the judge.
        conflicts: where a label of the file contradicts an official grade: ``'error'``, or
            ``'official'``, and the label is left out.

    Raises:
        ValueError: for a batch that is not a whole number from 1 on; for answers that are not
            labels, or above the highest grade of a label: the other answers of the batch are kept
            in the file.
        OSError: for a file that cannot be written, before the judge is asked.

    >>> from pyterrier_asl import holes
    >>> runs = {"a": {"q": {"d": 2, "x": 1}}, "b": {"q": {"y": 2, "d": 1}}}
    >>> comparison = holes(runs, {"q": {"d": 1}}, "RR")
    >>> done = judge_until_settled(comparison, lambda frame: [0] * len(frame), batch=1)
    >>> done.ended, done.holes.verdict, done.labels["docno"].tolist()
    ('settled', 'A', ['y'])
    """
    check_whole("batch", batch)
    if labels is None and conflicts != "error":
        refuse("is for a file of labels", conflicts=conflicts)
    if budget is not None:
        check_whole("budget", budget, 0)
    ask = judge.transform if hasattr(judge, "transform") else judge
    file = None if labels is None else LabelFile(labels)
    if file is not None:
        file.check()
        holes = _with_labels_of(holes, file.read(), conflicts)
    asked: list[int] = []
    added: list[dict[str, Any]] = []
    while not (ended := _ended(holes, asked, budget)):
        codes = _left(holes, asked)[: batch if budget is None else min(batch, budget - len(asked))]
        frame = questions(holes, codes, texts)
        answers, wrong = _answers(ask(frame), frame, holes.labelled.highest)
        good = np.array([row not in wrong for row in range(len(codes))])
        rows = [
            {"qid": str(qid), "docno": docno, "label": label, "source": source}
            for qid, docno, label in zip(frame["qid"], frame["docno"], answers.tolist())
            if not np.isnan(label)
        ]
        if file is not None and rows:
            file.add(rows)
        added += rows
        asked += codes[good].tolist()
        holes = holes.with_labels(codes[good], answers[good])
        if wrong:
            kept = "" if labels is None else f" (the other answers are kept in {labels})"
            raise ValueError(f"{next(iter(wrong.values()))}{kept}")
    return Judging(holes, pd.DataFrame(added, columns=COLUMNS), ended)


def _left(holes: Holes, asked: list[int]) -> Ints:
    """The documents that the judge was not asked for, in the order of the questions."""
    return holes.order[~np.isin(holes.order, asked)]


def _ended(holes: Holes, asked: list[int], budget: int | None) -> str | None:
    """How the loop ended (see :class:`Judging`); None: it has not ended."""
    if not holes.is_open:
        return SETTLED
    if not len(holes.order):
        return NOTHING_LEFT
    if not len(_left(holes, asked)):
        return NO_ANSWER
    return BUDGET if budget is not None and len(asked) >= budget else None


def questions(
    holes: Holes, codes: Ints, texts: Callable[[list[str]], Texts] | None = None
) -> pd.DataFrame:
    """The frame that a judge is called with: ``qid``, ``query``, ``docno``, ``text``."""
    unjudged = holes.labelled.unjudged
    docnos = unjudged.docnos(codes)
    qids = [holes.runs.qids[query] for query in unjudged.queries[codes]]
    all_texts = Texts() if texts is None else texts(docnos)
    return pd.DataFrame(
        {
            "qid": qids,
            "query": [all_texts.queries.get(str(qid), "") for qid in qids],
            "docno": docnos,
            "text": [all_texts.documents.get(docno, "") for docno in docnos],
        }
    )


def _answers(answers: Any, frame: pd.DataFrame, highest: float) -> tuple[Floats, dict[int, str]]:
    """The label of each question, NaN where there is none, and errors by row."""
    if isinstance(answers, pd.DataFrame):
        values = _answers_by_key(answers, frame)
    else:
        values = _answers_in_order(answers, len(frame))
    labels, wrong = np.full(len(frame), np.nan), {}
    for row, (value, qid, docno) in enumerate(zip(values, frame["qid"], frame["docno"])):
        where = f"the judge's answer for document {docno!r} of query {qid!r}"
        try:
            label = label_of(value)
        except ValueError as error:
            wrong[row] = f"{where}: {error}"
            continue
        if label > highest:
            wrong[row] = (
                f"{where}: the label {label:g} is above the highest grade, {highest:g}: correct "
                f"it, or call holes with highest={label:g}"
            )
        elif label >= 0:
            labels[row] = label
    return labels, wrong


def _answers_by_key(answers: pd.DataFrame, frame: pd.DataFrame) -> list[Any]:
    missing = {"qid", "docno", "label"} - set(answers)
    if missing:
        raise ValueError(f"the judge's answers lack the columns {sorted(missing)}")
    by_key: dict[tuple[str, str], Any] = {}
    for qid, docno, label in zip(answers["qid"], answers["docno"], answers["label"]):
        first = by_key.setdefault((str(qid), str(docno)), label)
        if repr(first) != repr(label):
            raise ValueError(
                f"the judge gave document {docno!r} of query {qid!r} the labels {first!r} and "
                f"{label!r}: one is needed"
            )
    keys = list(zip(frame["qid"].astype(str), frame["docno"].astype(str)))
    if by_key and by_key.keys().isdisjoint(keys):
        raise ValueError(
            f"the judge's answers are for other documents (first {next(iter(by_key))}) than the "
            f"questions (first {keys[0]})"
        )
    return [by_key.get(key) for key in keys]


def _answers_in_order(answers: Any, number: int) -> list[Any]:
    if not isinstance(answers, (list, tuple, np.ndarray, pd.Series)) or np.ndim(answers) != 1:
        raise ValueError(
            f"the judge must give a frame with qid, docno and label, or a list with a label for "
            f"each document, not {type(answers).__name__} {excerpt(answers)}"
        )
    if len(answers) != number:
        raise ValueError(f"the judge gave {len(answers)} labels for {number} documents")
    return list(answers)
