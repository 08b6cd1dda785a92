"""The forms in which a run writes ids of queries and documents that the qrels write otherwise."""

from __future__ import annotations

import numpy as np

from ..io.values import take
from ..judging.id_forms import Form, find_form
from ..judging.judged_run import JudgedRun
from ..judging.judgements import Judgements
from ..scoring.arrays import Bools

#: The queries whose document ids are looked at, evenly chosen, and the first documents of each. In
#: long rankings most other documents are not judged, whatever their ids; runs of so few rows are
#: looked at as a whole.
_QUERIES, _TOP, _FEW_ROWS = 20, 10, 2000


def query_form(run: JudgedRun) -> tuple[Form, dict[str, str]] | None:
    """The form of the query ids of a run that the qrels lack, with the ids of the qrels."""
    if not (run.retrieved == 0).any():
        return None
    return find_form(set(query_ids(run)), set(run.judgements.qid_text.to_pylist()))


def query_ids(run: JudgedRun) -> list[str]:
    """The different query ids of a run, also those that the qrels lack."""
    ids: list[str] = run.table.answered.to_pylist()
    return ids


def document_form(
    run: JudgedRun, other: JudgedRun | None = None
) -> tuple[Form, dict[str, str]] | None:
    """The form of the document ids of a run that the qrels, or another run, lack.

    Documents of the first ranks of some queries are looked at. Where they have a form, the ids in
    this form are those of the whole run.
    """
    chosen, judged = run.judgements.once(_judged_documents)
    theirs = judged if other is None else _sample(other, chosen, None)
    for depth in (_TOP, None) if len(run.whole_ranking) <= _FEW_ROWS else (_TOP,):
        if (found := find_form(_sample(run, chosen, depth), theirs)) is not None:
            ours = set(run.docnos(run.whole_ranking).to_pylist())
            whole = run.judgements.docnos if other is None else other.docnos(other.whole_ranking)
            theirs = set(whole.to_pylist())
            pairs = found[0].pairs(sorted(ours - theirs), sorted(theirs - ours))
            return (found[0], pairs) if pairs else None  # the first ranks alone had the form
    return None


def _judged_documents(judgements: Judgements) -> tuple[Bools, set[str]]:
    """Some queries, evenly chosen, as a mask of shape (Q,), and their judged documents."""
    chosen = np.arange(len(judgements)) % (1 + (len(judgements) - 1) // _QUERIES) == 0
    docnos = take(judgements.docnos, np.flatnonzero(chosen[judgements.queries]))
    return chosen, set(docnos.to_pylist())


def _sample(run: JudgedRun, chosen: Bools, depth: int | None) -> set[str]:
    """The documents of the chosen queries down to a depth."""
    ranking = run.whole_ranking.cut(depth)
    rows = np.flatnonzero(chosen[ranking.queries])
    return set(take(run.docnos(ranking), rows).to_pylist())
