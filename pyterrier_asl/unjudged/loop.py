"""The judging loop: the documents that decide a comparison, judged until it is settled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..io.texts import Texts
from ..io.values import check_whole
from ..scoring.arrays import Floats, Ints
from .holes import Holes
from .labels import COLUMNS, LabelFile

SETTLED, BUDGET, NOTHING_LEFT, NO_ANSWER = "settled", "budget", "nothing left", "no answer"


@dataclass(frozen=True)
class Judging:
    """How a judging loop ended.

    Attributes:
        holes: the comparison with all labels.
        labels: the labels of this loop, in order: ``qid``, ``docno``, ``label``, ``source``.
        ended: ``'settled'``, ``'budget'`` (it is spent), ``'nothing left'`` to judge, or
            ``'no answer'`` (what is left was asked for without a label).
    """

    holes: Holes
    labels: pd.DataFrame
    ended: str


def judge_until_settled(
    holes: Holes,
    judge: Any,
    *,
    labels: Any = None,
    texts: Callable[[list[str]], Texts] | None = None,
    budget: int | None = None,
    batch: int = 10,
    source: str = "judge",
) -> Judging:
    """Has documents judged, those that decide first, until the verdict is settled.

    Args:
        holes: the comparison, of judgements with which earlier labels are merged.
        judge: called with a frame ``qid``, ``query``, ``docno``, ``text``; or a PyTerrier
            transformer of such frames. It gives a frame with ``qid``, ``docno``, ``label``, or the
            labels in order; None and negative labels mean that it cannot say.
        labels: a file to which labels are added before the next are asked for.
        texts: where queries and documents are, by document ids; None: no texts.
        budget: judge at most so many documents.
        batch: how many to judge at a time.
        source: who the judge is.

    Raises:
        ValueError: for a batch that is no whole number from 1 on, for answers that are no labels,
            or a grade above the highest that a label can give.

    >>> from pyterrier_asl import holes
    >>> a, b = {"q": {"d": 2, "x": 1}}, {"q": {"y": 2, "d": 1}}
    >>> found = holes(a, b, {"q": {"d": 1}}, "RR")
    >>> done = judge_until_settled(found, lambda frame: [0] * len(frame), batch=1)
    >>> done.ended, done.holes.verdict, done.labels["docno"].tolist()
    ('settled', 'A', ['y'])
    """
    check_whole("batch", batch)
    file = None if labels is None else LabelFile(labels)
    ask = judge.transform if hasattr(judge, "transform") else judge
    done: list[dict[str, Any]] = []
    asked = np.zeros(len(holes.labelled.unjudged), dtype=bool)
    while True:
        open_ = holes.order()
        left = open_[~asked[open_]]
        ended = _ended(holes, len(open_), len(left), budget, int(asked.sum()))
        if ended:
            return Judging(holes, pd.DataFrame(done, columns=COLUMNS), ended)
        room = batch if budget is None else min(batch, budget - int(asked.sum()))
        codes = left[:room]
        asked[codes] = True
        frame = questions(holes, codes, texts)
        answers = _answers(ask(frame), frame)
        _check_grades(answers, holes)
        given = ~np.isnan(answers)
        rows = [
            {"qid": str(qid), "docno": docno, "label": label, "source": source}
            for qid, docno, label in zip(frame["qid"], frame["docno"], answers)
            if label == label
        ]
        if file is not None and rows:
            file.add(rows)
        done += rows
        if given.any():
            holes = holes.with_labels(codes[given], answers[given])


def _ended(holes: Holes, open_: int, left: int, budget: int | None, asked: int) -> str | None:
    if not holes.is_open:
        return SETTLED
    if not open_:
        return NOTHING_LEFT
    if not left:
        return NO_ANSWER
    return BUDGET if budget is not None and asked >= budget else None


def questions(
    holes: Holes, codes: Ints, texts: Callable[[list[str]], Texts] | None = None
) -> pd.DataFrame:
    """What a judge is asked: ``qid``, ``query``, ``docno``, ``text``."""
    unjudged = holes.labelled.unjudged
    docnos = unjudged.docnos(codes)
    qids = [holes.runs.qids[query] for query in unjudged.queries[codes]]
    said = Texts() if texts is None else texts(docnos)
    return pd.DataFrame(
        {
            "qid": qids,
            "query": [said.queries.get(str(qid), "") for qid in qids],
            "docno": docnos,
            "text": [said.documents.get(docno, "") for docno in docnos],
        }
    )


def _answers(answers: Any, frame: pd.DataFrame) -> Floats:
    """The label of each question, NaN where there is none."""
    if isinstance(answers, pd.DataFrame):
        missing = {"qid", "docno", "label"} - set(answers)
        if missing:
            raise ValueError(f"the judge's answers lack the columns {sorted(missing)}")
        keys = zip(answers["qid"].astype(str), answers["docno"].astype(str))
        by_key = dict(zip(keys, answers["label"]))
        asked = zip(frame["qid"].astype(str), frame["docno"].astype(str))
        found = [by_key.get(key) for key in asked]
    else:
        found = list(answers) if isinstance(answers, Iterable) else [answers]
        if len(found) != len(frame):
            raise ValueError(f"the judge gave {len(found)} labels for {len(frame)} documents")
    numbers = pd.to_numeric(pd.Series(found, dtype=object), errors="raise").to_numpy(np.float64)
    return np.where(numbers >= 0, numbers, np.nan)


def _check_grades(answers: Floats, holes: Holes) -> None:
    highest = holes.labelled.highest
    if holes.labelled.measure.USES_GRADES and np.nanmax(answers, initial=0) > highest:
        raise ValueError(
            f"the judge gave the label {np.nanmax(answers):g}, and the bounds are for labels up to "
            f"{highest:g}: pass highest="
        )
