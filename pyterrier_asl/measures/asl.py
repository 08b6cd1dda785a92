"""ASL and nASL: atomized search length, the irrelevant documents above each relevant one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..common.types import Floats, Ints
from ..scoring import bounds as bounding
from ..scoring import pair_bounds, ties
from ..scoring import search_length as scoring
from ..scoring.matrices import Bounds
from ._base import (
    CUTOFF,
    JUDGED_ONLY,
    REL,
    Param,
    PluginMeasure,
    count,
    one_of,
    register,
)
from .formula import LabelledRun

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun, Relevant
    from ..scoring.ties import TieGroups

_G = Param(count, desc="only the first g relevant documents in rank order, missing ones last")


class _ASL(PluginMeasure):
    """
    Atomized search length, the mean over all relevant documents of a query of the irrelevant
    documents ranked above each, plus one. In [1, k + 1]; lower is better, 1 is perfect.

    ::

        ASL = 1/n Σ (irrel(d) + 1)   over the n relevant documents d of the query
        irrel(d): irrelevant documents ranked above d

    ``missing`` sets how a relevant document that was not retrieved is counted. ``'pad'`` (default)
    fills every ranking to the same depth k (the cutoff, 1000 without one) and puts the document
    right after it. ``'after'`` puts it right after the retrieved documents. ``'eq3'`` is the
    paper's printed Eq. 3, which rewards returning fewer documents. ``g`` takes only the first g
    relevant documents (Eq. 5).

    With deep pools ``ASL@1000`` mostly measures recall: report ``R@k`` and ``Judged@k`` together
    with it, or use ``ASL(g=10)`` for the top.

    John Alex, Keith Hall, Donald Metzler: Atomized Search Length: Beyond User Models. 2022, Eq.
    1-5.

    >>> (ASL(g=10) @ 1000).calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"a": 3, "x": 2, "b": 1}})
    1.5
    """

    __name__ = NAME = "ASL"
    PRETTY_NAME = "Atomized Search Length"
    SHORT_DESC = "Mean number of irrelevant documents above a relevant document, plus 1."
    HIGHER_IS_BETTER = False
    WITHOUT_RELEVANT = 1.0
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "rel": REL,
        "g": _G,
        "missing": Param(
            one_of(*scoring.MISSING),
            default="pad",
            desc="how a relevant document that was not retrieved is counted",
        ),
        "judged_only": JUDGED_ONLY,
    }

    @property
    def DEFAULT(self) -> float:
        """The value of a query that was not answered: k + 1."""
        return float((self["cutoff"] or scoring.DEFAULT_DEPTH) + 1)

    def value_range(self, systems: float = math.inf) -> tuple[float, float]:
        """From 1 (0 with ``missing='eq3'``) to k + 1, without a cut-off to infinity."""
        lowest = 0.0 if self.params.get("missing") == "eq3" else 1.0
        return lowest, math.inf if self["cutoff"] is None else self.DEFAULT

    def _scaled(self, lengths: Floats) -> Floats:
        """The values of mean search lengths."""
        return lengths

    def missing_costs(self, view: JudgedRun) -> Ints:
        """The search length of a missing document plus the relevant documents retrieved, (Q,).

        Args:
            view: the result of :meth:`view`.
        """
        return scoring.missing_costs(
            np.diff(view.relevant(self["rel"]).offsets),
            view.retrieved,
            cutoff=self["cutoff"],
            missing=self.params.get("missing", "pad"),
            fill=view.judgements.num_relevant(0, self["rel"]) if self["judged_only"] else None,
        )

    def _of_relevant(self, relevant: Relevant, costs: Ints) -> Floats:
        """The values of rankings, from their relevant documents and :meth:`missing_costs`."""
        return self._scaled(
            scoring.mean_search_length(
                relevant.ranks, relevant.offsets, relevant.total, costs, g=self["g"]
            )
        )

    def _score(self, view: JudgedRun) -> Floats:
        return self._of_relevant(view.relevant(self["rel"]), self.missing_costs(view))

    def expected(self, judged: JudgedRun, groups: TieGroups) -> Floats | None:
        """The mean over all orders of equal scores; None with ``g``."""
        if self["g"]:
            return None
        view = self.view(judged)
        total, costs = view.judgements.num_relevant(self["rel"]), self.missing_costs(view)
        return self._scaled(ties.search_length(groups, total, costs))

    def is_exact(self, *, pair: bool = False) -> bool:
        """Whether bounds are exact: all but bounds of differences with ``g``."""
        return not (pair and self["g"])

    def bounds(self, run: LabelledRun) -> Bounds:
        """The least and the greatest value over all labellings, shape (Q,) each."""
        missing = self.missing_costs(run.view)
        if self["g"]:
            return bounding.first_search_lengths(run.alone, missing, self["g"])
        return pair_bounds.search_length_difference(run.alone, missing, 0 * missing, nothing=1.0)

    def difference_bounds(self, a: LabelledRun, b: LabelledRun) -> Bounds:
        """The bounds of A less B."""
        if self["g"]:
            return super().difference_bounds(a, b)
        return pair_bounds.search_length_difference(
            a.beside(b), self.missing_costs(a.view), self.missing_costs(b.view)
        )

    def labelled_values(
        self, run: LabelledRun, queries: Ints, relevant: Relevant, gains: Floats
    ) -> Floats:
        """The values of M rankings of a run's queries, each with its own labels, shape (M,)."""
        return self._of_relevant(relevant, self.missing_costs(run.view)[queries])


class _nASL(_ASL):
    """
    Normalized atomized search length, in [0, 1]; higher is better, 1 is perfect, 0 means that no
    relevant document was retrieved.

    ::

        nASL@k = 1 - (ASL@k - 1) / k

    It ranks systems as ASL@k does and has the same t-test, for tools that assume that higher is
    better. k is 1000 without a cutoff.

    >>> (nASL @ 10).calc_aggregate({"q": {"a": 1}}, {"q": {"x": 2, "a": 1}})
    0.9
    """

    __name__ = NAME = "nASL"
    PRETTY_NAME = "Normalized Atomized Search Length"
    SHORT_DESC = "1 - (ASL@k - 1)/k: atomized search length on a scale from 0 to 1."
    HIGHER_IS_BETTER = True
    DEFAULT = 0.0
    SUPPORTED_PARAMS = {
        "cutoff": Param(
            count, default=scoring.DEFAULT_DEPTH, desc="ranking cutoff threshold and scale"
        ),
        "rel": REL,
        "g": _G,
        "judged_only": JUDGED_ONLY,
    }

    @property
    def cutoff(self) -> int:
        """The cut-off and scale, 1000 by default."""
        return self["cutoff"]  # type: ignore[no-any-return]

    def value_range(self, systems: float = math.inf) -> tuple[float, float]:
        """From 0 to 1."""
        return 0.0, 1.0

    def _scaled(self, lengths: Floats) -> Floats:
        return scoring.normalized(lengths, self.cutoff)

    def bounds(self, run: LabelledRun) -> Bounds:
        """The least and the greatest value over all labellings, shape (Q,) each."""
        low, high = super().bounds(run)
        return self._scaled(high), self._scaled(low)

    def difference_bounds(self, a: LabelledRun, b: LabelledRun) -> Bounds:
        """The bounds of A less B."""
        low, high = super().difference_bounds(a, b)
        return (low, high) if self["g"] else (-high / self.cutoff, -low / self.cutoff)


ASL = _ASL()
nASL = _nASL()
register(ASL, nASL)
