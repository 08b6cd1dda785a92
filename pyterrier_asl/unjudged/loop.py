"""The judging loop: the documents that decide a comparison, judged until it is settled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..evaluation.inputs import refuse
from ..io.label_files import COLUMNS, KEY, LabelFile, label_of
from ..io.notices import counted, excerpt
from ..io.printed import Part, Printed
from ..io.texts import Texts
from ..io.values import check_whole
from ..judging.labels import merge_labels
from ..scoring.arrays import Floats, Ints
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

    def describe(self) -> str:
        """The end of the loop, and the comparison, in a line."""
        return f"{self._ending} {self.holes.describe()}"

    @property
    def _ending(self) -> str:
        return _WORDS[self.ended].format(counted(len(self.labels), "label"))

    def parts(self) -> list[Part]:
        """The end of the loop, and the comparison."""
        return [Part(self._ending), *self.holes.parts()]


class Round:
    """A round of labelling: the answers, and the comparison with the answers.

    Args:
        holes: the comparison.
        labels: the file to which answers are added, each before the next question. Labels in the
            file are added to the comparison. None: no file.
        source: the name of the judge.
        conflicts: see :func:`~pyterrier_asl.merge_labels`, of labels in the file.

    Attributes:
        holes: the comparison with all answers.
        answers: documents by number with their labels (NaN where there is none), in order.

    Raises:
        OSError: where the file cannot be written.
        ValueError: for a file of another kind, and as ``merge_labels``.
    """

    def __init__(
        self,
        holes: Holes,
        labels: str | os.PathLike[str] | None = None,
        *,
        source: str = "judge",
        conflicts: str = "error",
    ) -> None:
        self.file = None if labels is None else LabelFile(labels)
        if self.file is not None:
            self.file.check()
            holes = _with_labels_of(holes, self.file.read(), conflicts)
        self.holes = self._start = holes
        self.source = source
        self.answers: dict[int, float] = {}

    def left(self) -> Ints:
        """The documents that matter and have no answer yet, in the order of the questions."""
        order = self.holes.order()
        return order[~np.isin(order, list(self.answers))]

    def ended(self, budget: int | None = None) -> str | None:
        """The way in which the round ended (see :class:`Judging`); None: it has not ended.

        Args:
            budget: the largest number of documents to ask for.
        """
        if not self.holes.is_open:
            return SETTLED
        if not len(self.holes.order()):
            return NOTHING_LEFT
        if not len(self.left()):
            return NO_ANSWER
        return BUDGET if budget is not None and len(self.answers) >= budget else None

    def rows(
        self, codes: Iterable[int] | None = None, label: Callable[[float], Any] = float
    ) -> list[dict[str, Any]]:
        """The answers as rows of a file of labels, without those that have no label.

        Args:
            codes: the documents; None: all.
            label: the text or number to write for a label.
        """
        documents = self.answers if codes is None else codes
        wanted = [code for code in documents if not np.isnan(self.answers[code])]
        keys = questions(self._start, np.array(wanted, dtype=np.int64))
        return [
            {"qid": str(qid), "docno": docno, "label": label(answer), "source": self.source}
            for qid, docno, answer in zip(
                keys["qid"], keys["docno"], [self.answers[code] for code in wanted]
            )
        ]

    def scale(self) -> list[float]:
        """The grades of a label: 0, the grades of the judgements, and whole grades above them."""
        labelled = self.holes.labelled
        grades = {0.0, *labelled.judgements.grades[labelled.judgements.grades > 0].tolist()}
        beyond = np.arange(max(grades) + 1, labelled.highest + 1).tolist()
        return sorted({*grades, *beyond, labelled.highest})

    def record(self, codes: Ints, answers: Iterable[float]) -> None:
        """Records answers; they are in the file when this function returns.

        Args:
            codes: the documents by number, shape (L,).
            answers: their labels, NaN where there is none, shape (L,).
        """
        labels = np.array([*answers], dtype=np.float64)
        new = dict(zip(codes.tolist(), labels.tolist()))
        self.answers.update(new)
        self._save(self.rows(new))
        self.holes = self.holes.with_labels(codes, labels)

    def _save(self, rows: list[dict[str, Any]]) -> None:
        if self.file is not None and rows:
            self.file.add(rows)

    def undo(self) -> bool:
        """Removes the last answer, in the file, too; False where there is none."""
        if not self.answers:
            return False
        last = next(reversed(self.answers))
        self._save(self.rows([last], lambda _: None))
        del self.answers[last]
        codes = np.array([*self.answers], dtype=np.int64)
        labels = np.array([*self.answers.values()], dtype=np.float64)
        self.holes = self._start.with_labels(codes, labels)
        return True


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
    >>> a, b = {"q": {"d": 2, "x": 1}}, {"q": {"y": 2, "d": 1}}
    >>> comparison = holes(a, b, {"q": {"d": 1}}, "RR")
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
    round_ = Round(holes, labels, source=source, conflicts=conflicts)
    while not (ended := round_.ended(budget)):
        room = batch if budget is None else min(batch, budget - len(round_.answers))
        codes = round_.left()[:room]
        frame = questions(round_.holes, codes, texts)
        answers, wrong = _answers(ask(frame), frame, round_.holes.labelled.highest)
        good = np.array([row not in wrong for row in range(len(codes))])
        round_.record(codes[good], answers[good])
        if wrong:
            kept = "" if labels is None else f" (the other answers are kept in {labels})"
            raise ValueError(f"{next(iter(wrong.values()))}{kept}")
    return Judging(round_.holes, pd.DataFrame(round_.rows(), columns=COLUMNS), ended)


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
        labels[row] = label if label >= 0 else np.nan
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
    unordered = isinstance(answers, (str, bytes, bytearray, Mapping, Set))
    if unordered or len(getattr(answers, "shape", (0,))) != 1:
        raise ValueError(
            f"the judge must give a frame with qid, docno and label, or a list with a label for "
            f"each document, not {type(answers).__name__} {excerpt(answers)}"
        )
    values = list(answers) if isinstance(answers, Iterable) else [answers]
    if len(values) != number:
        raise ValueError(f"the judge gave {len(values)} labels for {number} documents")
    return values
