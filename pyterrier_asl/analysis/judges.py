"""Do two judges agree on the documents? People, crowds and language models.

Whether they agree on which system is better is another question:
:mod:`~pyterrier_asl.analysis.leaderboards`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ..evaluation import judgements_of
from ..judging import Judgements
from ..scoring.agreement import cohen_kappa, confusion_table
from .comparisons import as_frame
from .measure_options import least_grade

Floats = npt.NDArray[np.float64]


def judge_agreement(judges: Mapping[str, Any], *, rel: Any = 1) -> pd.DataFrame:
    """How far every two judges agree on the documents that both judged.

    Args:
        judges: name -> qrels: frame, file, or ir_datasets id.
        rel: minimum grade of a relevant document: a number, or judge -> number.

    Returns:
        One row for every two judges, with ``judge_a``, ``judge_b``, ``pairs`` (of query and
        document that both judged), ``relevant_a`` and ``relevant_b`` (shares of them found
        relevant), ``agreement`` (share of the pairs on which both say the same, relevant or not),
        ``kappa`` of that, and of the grades as they are ``kappa_grades``, ``kappa_linear``,
        ``kappa_quadratic``; these mean something only where both judge on one scale.

    Sources: Cohen 1960 and 1968.

    >>> judges = {"person": {"q": {"a": 1, "b": 0}}, "model": {"q": {"a": 2, "b": 0, "c": 1}}}
    >>> judge_agreement(judges)[["pairs", "agreement", "kappa", "kappa_grades"]].round(3)
       pairs  agreement  kappa  kappa_grades
    0      2        1.0    1.0         0.333
    """
    read = {str(name): judgements_of(qrels) for name, qrels in judges.items()}
    rows = []
    for a, b in combinations(read, 2):
        grades = shared_grades(read[a], read[b])
        relevant = [
            each >= max(least_grade(rel, name, 1), 0) for each, name in zip(grades, (a, b))
        ]
        row = {"judge_a": a, "judge_b": b, "pairs": len(grades[0])}
        shares = {
            "relevant_a": relevant[0].mean(),
            "relevant_b": relevant[1].mean(),
            "agreement": np.mean(relevant[0] == relevant[1]),
            "kappa": cohen_kappa(*relevant),
            "kappa_grades": cohen_kappa(*grades),
            "kappa_linear": cohen_kappa(*grades, weights="linear"),
            "kappa_quadratic": cohen_kappa(*grades, weights="quadratic"),
        }
        rows.append({**row, **{name: float(share) for name, share in shares.items()}})
    return as_frame(rows)


def judge_confusion(judges: Mapping[str, Any]) -> pd.DataFrame:
    """How often one judge gave one grade where another gave another.

    Args:
        judges: name -> qrels: frame, file, or ir_datasets id.

    Returns:
        One row for every two judges and every two grades that they gave, with ``judge_a``,
        ``judge_b``, ``grade_a``, ``grade_b``, ``pairs`` (of query and document), ``share_of_a`` (of
        those that judge a gave that grade).

    >>> judges = {"person": {"q": {"a": 1, "b": 0}}, "model": {"q": {"a": 1, "b": 1}}}
    >>> judge_confusion(judges)[["grade_a", "grade_b", "pairs", "share_of_a"]]
       grade_a  grade_b  pairs  share_of_a
    0      0.0      1.0      1         1.0
    1      1.0      1.0      1         1.0
    """
    read = {str(name): judgements_of(qrels) for name, qrels in judges.items()}
    parts = []
    for a, b in combinations(read, 2):
        grades, counts = confusion_table(*shared_grades(read[a], read[b]))
        rows, columns = counts.sum(axis=1) > 0, counts.sum(axis=0) > 0
        counts = counts[np.ix_(rows, columns)]
        parts.append(
            pd.DataFrame(
                {
                    "judge_a": a,
                    "judge_b": b,
                    "grade_a": np.repeat(grades[rows], columns.sum()),
                    "grade_b": np.tile(grades[columns], rows.sum()),
                    "pairs": counts.ravel(),
                    "share_of_a": (counts / counts.sum(axis=1, keepdims=True)).ravel(),
                }
            )
        )
    if not parts:
        raise ValueError("there is one judge or none: comparing takes at least two")
    return pd.concat(parts, ignore_index=True)


def shared_grades(a: Judgements, b: Judgements) -> tuple[Floats, Floats]:
    """Two judges' grades of the documents that both judged, in b's order.

    >>> a, b = Judgements({"q": {"d": 1, "e": 0}}), Judgements({"q": {"e": 2, "f": 1}})
    >>> [grades.tolist() for grades in shared_grades(a, b)]
    [[0.0], [2.0]]
    """
    place = {qid: number for number, qid in enumerate(a.qid_text.to_pylist())}
    topic_of = np.array([place.get(qid, -1) for qid in b.qid_text.to_pylist()], dtype=np.int64)
    topics = topic_of[b.queries]
    rows = np.flatnonzero(topics >= 0)
    met = a.index.find(topics[rows], b.docnos.take(pa.array(rows)))
    both = met >= 0
    if not both.any():
        raise ValueError("the two judges have no query and document in common: are the ids alike?")
    return a.grades[met[both]], b.grades[rows[both]]
