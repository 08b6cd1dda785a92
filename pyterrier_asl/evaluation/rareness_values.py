"""Values of rareness measures for any pool of judged runs.

Both measures are sums over relevant documents of a credit, which depends on the run alone, times
the gain of a document, which is a straight line in S_d. So a change of the pool changes S_d and
nothing else, and S_d is a sum over a matrix of systems by documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..io.names import check_names
from ..measures import AP_Rareness, P_Rareness
from ..measures.names import named_measures, parse_measure
from ..scoring.arrays import Bools, Floats, Ints, cumulate, reduce_by_query
from .relevant_documents import RelevantRanks

if TYPE_CHECKING:
    from .evaluation import Evaluation


def rareness_measures(cutoff: int = 100, alphas: Sequence[float] = (0.5, 1.0)) -> list[Any]:
    """P and AP at a cut-off, each without rareness and with some weights of it.

    >>> rareness_measures(10, [1])
    [P@10, P_Rareness(alpha=1.0)@10, AP@10, AP_Rareness(alpha=1.0)@10]
    """
    p = [P_Rareness(alpha=alpha) @ cutoff for alpha in alphas]
    ap = [AP_Rareness(alpha=alpha) @ cutoff for alpha in alphas]
    return [parse_measure(f"P@{cutoff}"), *p, parse_measure(f"AP@{cutoff}"), *ap]


def values_by_name(
    runs: Evaluation, measures: Sequence[Any] | None = None, rel: float | None = None
) -> dict[str, Floats]:
    """The values of measures, each of shape (S, Q), by their names.

    Args:
        runs: S judged runs.
        measures: measures or their names; a rareness measure without a pool gets the pool of these
            runs. None: :func:`rareness_measures`.
        rel: minimum grade of a relevant document, for measures that do not say it themselves.
    """
    named = named_measures(rareness_measures() if measures is None else measures)
    wanted = [measure.with_params(rel=rel).measure for measure in named]
    return {str(measure): runs.values(measure) for measure in wanted}


def check_rareness(measure: Any) -> Any:
    """A rareness measure without a pool, or an error that says what is wanted."""
    measure = parse_measure(measure)
    if "pool" not in measure.SUPPORTED_PARAMS:
        raise ValueError(f"{measure} is no rareness measure: give P_Rareness@k or AP_Rareness@k")
    if measure.params.get("pool") is not None:
        raise ValueError(f"{measure} has a pool already, but pools are made here: leave it out")
    if measure["cutoff"] is None and measure.SUPPORTED_PARAMS["cutoff"].required:
        raise ValueError(f"{measure} needs cutoff: write {measure}@k")
    return measure


@dataclass(frozen=True)
class RarenessValues:
    """A rareness measure taken apart, for S runs, R relevant documents and Q queries.

    Attributes:
        ranks: who has which relevant document where.
        credit: what one unit of gain of a document adds to a run, before :attr:`divisor`, (S, R).
        divisor: what the sum over a query's documents is divided by, shape (Q,).
        found: which runs count as finders of which document, shape (S, R).
        alpha: the weight of rareness.
        normalized: the variant that cannot exceed 1.
    """

    ranks: RelevantRanks
    credit: Floats
    divisor: Floats
    found: Bools
    alpha: float
    normalized: bool

    @classmethod
    def of(cls, runs: Evaluation, measure: Any) -> RarenessValues:
        """The parts of ``P_Rareness(...)@k`` or ``AP_Rareness(...)@k``, whose pool is not yet set.

        Raises:
            ValueError: for another measure, or one that has a pool.
        """
        measure = check_rareness(measure)
        ranks = runs.once(RelevantRanks.of, measure["rel"])
        credit, divisor = measure.credits(ranks.ranks, ranks.total)
        finders = ranks.found(measure["depth"] or measure["cutoff"])
        return cls(ranks, credit, divisor, finders, measure["alpha"], measure["normalized"])

    def of_pool(self, members: Bools | None = None, groups: Ints | None = None) -> Floats:
        """The values of all runs where some of them are the pool; the others join it one by one.

        Args:
            members: which runs are the pool, shape (S,); None: all.
            groups: the group of each run, from 0: count groups instead of runs, shape (S,).

        Returns:
            Shape (S, Q).
        """
        if members is None:
            members = np.ones(len(self.found), dtype=bool)
        finders, systems = self.finders(members, groups)
        joins = ~members[:, None]
        counts = np.where(joins, finders + self.found, finders)
        intercept, slope = gain_line(systems + joins.astype(np.int64), self.alpha, self.normalized)
        gain = intercept - slope * counts
        offsets = cumulate(self.ranks.total)
        return reduce_by_query(np.add, self.credit * gain, offsets, 0) / self.divisor

    def finders(self, members: Bools, groups: Ints | None = None) -> tuple[Ints, int]:
        """S_d of every document, shape (R,), and S, of a pool of some of the runs."""
        has_document = self.found[members]
        if groups is not None:
            codes = np.unique(groups[members], return_inverse=True)[1]
            has_document = _found_by_groups(has_document, codes)
        return has_document.sum(axis=0), len(has_document)

    def mean_parts(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """The parts of the mean over queries, for pools that change often.

        With the line a - b S_d (:func:`gain_line`) of a pool, a run's mean over queries is
        ``a * base - b * shared[:, pool].sum()``.

        Args:
            weights: how much each query counts, shape (Q,); None: all alike.

        Returns:
            ``base``, shape (S,), and ``shared``, how much of a row's credit is for documents that a
            column's run finds, shape (S, S).
        """
        queries = len(self.divisor)
        share = np.full(queries, 1 / queries) if weights is None else weights / weights.sum()
        credit = self.credit * (share / self.divisor)[self.ranks.queries]
        return credit.sum(axis=1), credit @ self.found.T.astype(np.float64)


def rareness_parts(
    runs: Evaluation, measures: Any, rel: float | None = None
) -> dict[str, RarenessValues]:
    """Rareness measures taken apart, by their names.

    Args:
        runs: S judged runs.
        measures: one or several rareness measures without a pool, or their names.
        rel: minimum grade of a relevant document, for measures that do not say it themselves.
    """
    named = named_measures(measures)
    wanted = [check_rareness(measure.with_params(rel=rel).measure) for measure in named]
    return {str(measure): runs.once(RarenessValues.of, measure) for measure in wanted}


def gain_line(systems: Any, alpha: float, normalized: bool = False) -> tuple[Any, Any]:
    """The gain of a relevant document as a line in S_d: a - b S_d.

    Eq. 1 and 2: 1 + alpha (1 - S_d/S). Eq. 4: (1 - alpha) + alpha (1 - (S_d - 1)/(S - 1)), where
    nothing is rare in a pool of one.

    Args:
        systems: S, number or array.
        alpha: the weight of rareness.
        normalized: the variant that cannot exceed 1.

    Returns:
        a and b.

    >>> gain_line(4, 0.5), gain_line(5, 0.5, normalized=True)
    ((1.5, 0.125), (1.125, 0.125))
    """
    if not normalized:
        return 1 + alpha, alpha / systems
    alone = np.asarray(systems) < 2
    slope = np.where(alone, 0.0, alpha / np.maximum(np.asarray(systems) - 1, 1))
    intercept = np.where(alone, 1 - alpha, 1 + slope)
    return (intercept, slope) if intercept.ndim else (float(intercept), float(slope))


def group_codes(names: list[str], groups: Mapping[str, str]) -> Ints:
    """The group of each run as a number; a run that no group is given for is one by itself.

    Raises:
        ValueError: where a group is given for a run that is not there.
    """
    check_names("groups", groups, names, "runs")
    # A run by itself must not be taken for a group that happens to bear its name.
    labels = [f"group {groups[name]}" if name in groups else f"run {name}" for name in names]
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def by_group(
    names: list[str], found: Bools, groups: Mapping[str, str] | None
) -> tuple[npt.NDArray[np.object_], Bools]:
    """The names of all runs, or groups, and which of them have which document.

    Args:
        names: the runs, S of them.
        found: which run has which document, shape (S, R).
        groups: run -> group; None: the runs themselves.
    """
    if groups is None:
        return np.array(names, dtype=object), found
    codes = group_codes(names, groups)
    first = np.unique(codes, return_index=True)[1]
    labels = [groups.get(names[run], names[run]) for run in first]
    return np.array(labels, dtype=object), _found_by_groups(found, codes)


def _found_by_groups(found: Bools, codes: Ints) -> Bools:
    """Which group has which document, from those of its runs; codes from 0 without gaps."""
    together = np.zeros((codes.max(initial=-1) + 1, found.shape[1]), dtype=bool)
    np.logical_or.at(together, codes, found)
    return together
