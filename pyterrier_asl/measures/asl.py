"""ASL and nASL: how far every relevant document is from where it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring import bounds as bounding
from ..scoring import search_length as scoring
from ..scoring.groups import within_query
from ._base import (
    CUTOFF,
    JUDGED_ONLY,
    REL,
    UNJUDGED,
    Floats,
    Ints,
    Param,
    PluginMeasure,
    one_of,
    register,
    whole,
)

if TYPE_CHECKING:
    import pandas as pd

    from ..judging.judged_run import JudgedRun, Relevant
    from ..judging.unjudged import Retrieved

_G = Param(whole(), desc="only the first g relevant documents in rank order, missing ones last")


def _missing(
    relevant: Relevant, judged: JudgedRun, *, rel: float, cutoff: int | None, missing: str,
    judged_only: bool,
) -> scoring.Ints:  # fmt: skip
    """The search length of a missing document, by query; ``judged`` is already cut."""
    fill = judged.judgements.num_graded(0, rel) if judged_only else None
    return scoring.missing_lengths(
        relevant.found, relevant.retrieved, cutoff=cutoff, missing=missing, fill=fill
    )


class _ASL(PluginMeasure):
    """
    Atomized search length, the mean over all relevant documents of a query of the irrelevant
    documents ranked above each, plus one. In [1, k + 1]; lower is better, 1 is perfect.

    .. math::
        ASL_q = \\frac{1}{n_q} \\sum_d (irrel_{q,d} + 1)

    A relevant document that was not retrieved is counted as ``missing`` says: ``'pad'`` (default)
    measures every ranking at the same depth k (the cutoff, 1000 without one) and puts it right
    after; ``'after'`` puts it right after the list as it is; ``'eq3'`` is the paper's printed Eq.
    3, by which returning less is rewarded. ``g`` looks at the first g relevant documents only (Eq.
    5).

    Deep pools make ``ASL@1000`` mostly a matter of recall: show ``R@k`` and ``Judged@k`` beside it,
    or use ``ASL(g=10)`` for the top.

    John Alex, Keith Hall, Donald Metzler: Atomized Search Length: Beyond User Models. 2022, Eq.
    1-5.

    >>> (ASL(g=10) @ 1000).calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"a": 3, "x": 2, "b": 1}})
    1.5
    """

    __name__ = "ASL"
    NAME = __name__
    PRETTY_NAME = "Atomized Search Length"
    SHORT_DESC = "The irrelevant documents above a relevant one, plus one: mean over all relevant."
    HIGHER_IS_BETTER = False
    WITHOUT_RELEVANT = 1.0
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "rel": REL,
        "g": _G,
        "missing": Param(
            one_of(*scoring.MISSING), default="pad", desc="what a missing document is taken for"
        ),
        "judged_only": JUDGED_ONLY,
        "unjudged": UNJUDGED,
    }

    @property
    def DEFAULT(self) -> float:
        """The value of a query that was not answered: k + 1."""
        return float((self["cutoff"] or scoring.DEFAULT_DEPTH) + 1)

    def _score(self, judged: JudgedRun) -> Floats:
        relevant = judged.relevant(self["rel"])
        missing = _missing(
            relevant, judged, rel=self["rel"], cutoff=self["cutoff"], missing=self["missing"],
            judged_only=self["judged_only"],
        )  # fmt: skip
        return scoring.mean_search_length(
            relevant.ranks, relevant.offsets, relevant.total, missing, g=self["g"]
        )

    def _bounds(self, view: JudgedRun, unjudged: Retrieved, others: Ints) -> bounding.Bounds:
        cost = bounding.missing_cost(
            view.retrieved, cutoff=self["cutoff"], missing=self["missing"]
        )
        return bounding.search_length(self._documents(view, unjudged, others), cost, self["g"])


class _nASL(PluginMeasure):
    """
    Normalized atomized search length, in [0, 1]; higher is better, 1 is perfect, 0 nothing found.

    .. math::
        nASL@k = 1 - (ASL@k - 1) / k

    The same ranking of systems and the same t-test as ASL@k, and safe in tools that take larger as
    better. k is 1000 where no cutoff is given.

    >>> (nASL @ 10).calc_aggregate({"q": {"a": 1}}, {"q": {"x": 2, "a": 1}})
    0.9
    """

    __name__ = "nASL"
    NAME = __name__
    PRETTY_NAME = "Normalized Atomized Search Length"
    SHORT_DESC = "1 - (ASL@k - 1)/k: atomized search length on a scale from 0 to 1."
    WITHOUT_RELEVANT = 1.0
    SUPPORTED_PARAMS = {
        "cutoff": Param(
            whole(), default=scoring.DEFAULT_DEPTH, desc="ranking cutoff threshold and scale"
        ),
        "rel": REL,
        "g": _G,
        "judged_only": JUDGED_ONLY,
        "unjudged": UNJUDGED,
    }

    def _score(self, judged: JudgedRun) -> Floats:
        return scoring.normalized(self.as_asl()._score(judged), self["cutoff"])

    def as_asl(self) -> _ASL:
        """The ASL that it normalizes."""
        return _ASL(**{**self.params, "cutoff": self["cutoff"]})

    def _bounds(self, view: JudgedRun, unjudged: Retrieved, others: Ints) -> bounding.Bounds:
        low, high = self.as_asl()._bounds(view, unjudged, others)
        k = self["cutoff"]
        return scoring.normalized(high, k), scoring.normalized(low, k)


def search_lengths(
    run: Any,
    qrels: Any,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    missing: str = "pad",
    judged_only: bool = False,
    duplicates: str = "error",
) -> pd.DataFrame:
    """The values behind ASL: one row for every relevant document, retrieved or not.

    Args:
        run: file, data frame (``qid``, ``docno``, ``score``, or ir_measures' names), dict of dicts,
            or iterable of ``ir_measures.ScoredDoc``.
        qrels: file, ir_datasets id, data frame (``qid``, ``docno``, ``label``, or ir_measures'
            names), dict of dicts, or iterable of ``ir_measures.Qrel``.
        rel: minimum grade of a relevant document.
        cutoff: k, as in ``ASL@k``.
        missing: ``'pad'``, ``'after'`` or ``'eq3'``, as in ``ASL(missing=...)``.
        judged_only: whether unjudged documents are removed first.
        duplicates: see :func:`~pyterrier_asl.evaluate`.

    Returns:
        A frame, query by query, in rank order, missing documents last, with ``qid``; ``docno``;
        ``grade``; ``rank`` (from 1, none where the document was not retrieved); ``search_length``
        (irrelevant documents above, + 1); ``unjudged_above`` (how many of the documents above are
        unjudged; for a missing document how many of all that were retrieved).

    Raises:
        ValueError: for parameters out of range, bad columns or values, an empty run or empty qrels,
            a run that shares no document with the qrels.

    Source: Alex, Hall, Metzler 2022, Eq. 1-3.

    >>> qrels = {"q": {"a": 1, "b": 1, "x": 0}}
    >>> search_lengths({"q": {"a": 3, "x": 2, "y": 1}}, qrels, cutoff=10)
      qid docno  grade  rank  search_length  unjudged_above
    0   q     a      1     1              1               0
    1   q     b      1  <NA>             10               1
    """
    import pandas as pd

    from ..io.qrels import loaded_qrels
    from ..io.runs import loaded_run
    from ..judging.judgements import Judgements

    measure = ASL(rel=rel, cutoff=cutoff, missing=missing, judged_only=judged_only)
    judgements = Judgements(loaded_qrels(qrels), duplicates=duplicates)
    judged = judgements.judge_whole(loaded_run(run)).view(measure["cutoff"], measure["judged_only"])
    relevant = judged.relevant(measure["rel"])
    absent = _missing(
        relevant, judged, rel=measure["rel"], cutoff=measure["cutoff"], missing=missing,
        judged_only=judged_only,
    )  # fmt: skip
    wanted = np.flatnonzero((judgements.grades >= measure["rel"]) & (judgements.grades >= 0))
    lost = np.setdiff1d(wanted, relevant.pairs)
    lost_queries = judgements.queries[lost]
    pairs = np.concatenate((relevant.pairs, lost))
    queries = np.concatenate((relevant.queries, lost_queries))
    above, unjudged = _unjudged_above(judged, relevant)
    lengths = scoring.search_lengths(relevant.ranks, relevant.offsets)
    grades = judgements.grades[pairs]
    whole = np.all((grades % 1 == 0) & (np.abs(grades) < 2**53))
    frame = pd.DataFrame(
        {
            "qid": pd.Series(judgements.qids).iloc[queries].to_numpy(),
            "docno": judgements.docnos.take(pairs).to_pandas(),
            "grade": grades.astype(np.int64) if whole else grades,
            "rank": pd.array([*relevant.ranks.tolist(), *[None] * len(lost)], dtype="Int64"),
            "search_length": np.concatenate((lengths, absent[lost_queries])),
            "unjudged_above": np.concatenate((above, unjudged[lost_queries])),
        }
    )
    return frame.iloc[np.argsort(queries, kind="stable")].reset_index(drop=True)


def _unjudged_above(judged: JudgedRun, relevant: Relevant) -> tuple[scoring.Ints, scoring.Ints]:
    """Unjudged documents above each relevant one, and among all that were retrieved, by query."""
    counted = judged.grades >= 0
    queries, ranks = judged.queries[counted], judged.ranks[counted]
    sizes = np.bincount(queries, minlength=len(judged.retrieved))
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    is_relevant = np.isin(judged.pairs[counted], relevant.pairs)
    above = (ranks - 1 - within_query(offsets))[is_relevant]
    return above, judged.retrieved - sizes


ASL = _ASL()
nASL = _nASL()
register(ASL)
register(nASL)
