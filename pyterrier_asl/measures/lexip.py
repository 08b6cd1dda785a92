"""LexiP: lexicographic precision, a reciprocal rank that distinguishes good systems."""

from __future__ import annotations

from ..common.types import Floats, Ints
from ..scoring import bounds as bounding
from ..scoring import lexicographic as scoring
from ..scoring.matrices import Bounds
from ._base import CUTOFF, JUDGED_ONLY, REL, PluginMeasure, register
from .formula import LabelledRun


class _LexiP(PluginMeasure):
    """
    Lexicographic precision as one number per ranking. Two rankings are compared by the rank of
    their first relevant document, then, if these are equal, of their second, and so on. In [0, 1],
    higher is better, 1 is perfect; per query it refines reciprocal rank: 1/(p_1 + 1) < LexiP <= RR.

    ::

        v(i) = 1/(g(i) + 1) + (1/g(i) - 1/(g(i) + 1)) v(i + 1)
        g(i) = p(i) - p(i - 1), the gaps between the ranks p of the relevant documents

    The paper has no such measure: it defines preferences between two rankings (sgnLP, rrLP) and
    does not claim that lexiprecision is a metric. LexiP orders two runs on each query as sgnLP
    does. Their means and p-values can disagree: report sgnLP and rrLP together with LexiP. Rankings
    with the same first ranks can have equal values in double precision (after some 51 equal ranks
    at gap 1, 8 at gap 10), but never values in the wrong order. Without a cut-off it is
    ``LexiP@1000000``.

    Fernando Diaz: Best-Case Retrieval Evaluation: Improving the Sensitivity of Reciprocal Rank with
    Lexicographic Precision. 2023.

    >>> LexiP.calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"x": 3, "a": 2, "b": 1}})
    0.5
    """

    __name__ = NAME = "LexiP"
    PRETTY_NAME = "Lexicographic Precision"
    SHORT_DESC = "The rank of the first relevant document, then of the second, and so on."
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "rel": REL,
        "judged_only": JUDGED_ONLY,
    }

    @property
    def cutoff(self) -> int:
        """The cut-off, a million by default: beyond it no two values differ."""
        return self["cutoff"] or scoring.NO_CUTOFF

    def from_ranks(self, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
        """The formula."""
        return scoring.lexip(ranks, offsets, total, cutoff=self.cutoff)

    def bounds(self, run: LabelledRun) -> Bounds:
        """The least and the greatest value over all labellings, shape (Q,) each."""
        return bounding.lexip(run.alone, self.cutoff)


LexiP = _LexiP()
register(LexiP)
