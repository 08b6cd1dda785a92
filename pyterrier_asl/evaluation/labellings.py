"""Bounds of the values of runs over all labellings of their unjudged documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.parameters import check_whole
from ..judging.judged_run import JudgedRun
from ..judging.unjudged import Unjudged
from ..measures.formula import Formula, LabelledRun, formula
from ..measures.parsing import Measures
from ..measures.standard import measures_with_bounds
from ..scoring.matrices import Bounds
from .evaluate import joined_by_run, long_frame, unread_tracks
from .evaluation import Evaluation
from .facts import Facts, with_notes
from .run_facts import RunFacts
from .sources import refuse


def measure_with_bounds(measure: Any) -> Formula:
    """The object that computes the bounds of a measure.

    Raises:
        ValueError: for a measure without bounds, with its name.
    """
    if measure.params.get("judged_only"):
        raise ValueError(f"{measure} removes unjudged documents: it has no bounds")
    if (computes := formula(measure)) is None or type(computes).bounds is Formula.bounds:
        known = measures_with_bounds()
        such_as = ", such as rel=1" if "rel" in measure.SUPPORTED_PARAMS else ""
        advice = (
            f"choose other parameters{such_as}"
            if measure.NAME in known
            else f"choose one of {', '.join(known)}"
        )
        raise ValueError(f"{measure} has no bounds: {advice}")
    computes.validate_params()
    return computes


def has_bounds(measure: Any) -> bool:
    """Whether a measure has bounds."""
    try:
        measure_with_bounds(measure)
    except ValueError:
        return False
    return True


def check_cutoff(measure: Any, name: str) -> None:
    """Raises ValueError for a measure of whole rankings whose differences take seconds per pair."""
    own = measure_with_bounds(measure)
    if own.SLOW_DIFFERENCES and own.cutoff is None:
        raise ValueError(
            f"{name} of many runs with unjudged documents needs a cut-off, such as {own.NAME}@100"
        )


def unjudged_of(
    runs: Iterable[JudgedRun],
    measures: Sequence[Any],
    depth: int | None = None,
    *,
    keep_rows: bool = True,
) -> Unjudged:
    """The unjudged documents that these measures see.

    Args:
        runs: the compared runs.
        measures: measures that have bounds.
        depth: rank down to which documents are labelled, if it is deeper than the cut-offs.
        keep_rows: whether to keep the rows of the runs.

    Raises:
        ValueError: for a depth that is not 0, 1, 2, ...
    """
    if depth is not None:
        check_whole("depth", depth, 0)
    depths = [measure_with_bounds(measure).cutoff for measure in measures]
    deepest = None if None in depths else max([depth or 0, *(k or 0 for k in depths)])
    return Unjudged(runs, deepest, keep_rows=keep_rows)


class Labelled:
    """Compared runs and one measure.

    Args:
        unjudged: the runs with their unjudged documents (see :func:`unjudged_of`).
        measure: a measure that has bounds.
        depth: rank down to which documents are labelled, if it is deeper than the cut-off.
        highest: the best grade that a label can give; None: the best grade in the qrels.
        name: the name that the caller gave the measure; '': its own.

    Raises:
        ValueError: for a measure without bounds.
    """

    def __init__(
        self,
        unjudged: Unjudged,
        measure: Any,
        *,
        name: str = "",
        depth: int | None = None,
        highest: float | None = None,
    ) -> None:
        self.measure, self.unjudged = measure_with_bounds(measure), unjudged
        self.name = name or str(measure)
        self.judgements = unjudged.judgements
        cutoff = self.measure.cutoff
        # V, as positions in the judgements
        self.documents = unjudged.shown(None if cutoff is None else max(cutoff, depth or 0))
        size = np.bincount(self.judgements.queries[self.documents], minlength=len(self.judgements))
        if highest is None:
            highest = max(1.0, self.measure.rel, self.judgements.grades.max(initial=1))
        self.sides = [LabelledRun(self.measure, run, size, float(highest)) for run in unjudged.runs]

    def difference(self, a: int, b: int) -> Bounds:
        """The bounds of the value of run a minus the value of run b, shape (Q,) each."""
        return self.measure.difference_bounds(self.sides[a], self.sides[b])


def labelled_measures(
    runs: Evaluation,
    measures: Mapping[str, Any],
    *,
    depth: int | None = None,
    highest: float | None = None,
    facts: list[RunFacts] | None = None,
) -> dict[str, Labelled]:
    """The compared runs for each of several measures, by name.

    Args:
        runs: the runs, with all their rows.
        measures: measures by name; these runs are the pool of a measure that lacks one.
        depth: see :func:`bounds`.
        highest: see :func:`bounds`.
        facts: a list that gets the facts of each run, without ties; None: they are not wanted.

    Raises:
        ValueError: for ``highest`` if no measure uses it.
    """
    measures = runs.with_pool(measures)
    if not any(measure_with_bounds(measure).HAS_GAINS for measure in measures.values()):
        refuse("is for nDCG", highest=highest)
    # Without need of rows, the rows of only one unread run are in memory at a time.
    keep_rows = runs.is_matched or any(
        "pool" in measure.SUPPORTED_PARAMS or measure_with_bounds(measure).needs_rows()
        for measure in measures.values()
    )
    judged: Iterable[JudgedRun] = runs.runs if keep_rows else runs.matched()
    if facts is not None:
        judged = _noting(judged, measures, facts)
    unjudged = unjudged_of(judged, list(measures.values()), depth, keep_rows=keep_rows)
    return {
        label: Labelled(unjudged, measure, name=label, depth=depth, highest=highest)
        for label, measure in measures.items()
    }


def _noting(
    runs: Iterable[JudgedRun], measures: Mapping[str, Any], facts: list[RunFacts]
) -> Iterator[JudgedRun]:
    for run in runs:
        facts.append(RunFacts.of(run, measures))
        yield run


def bounds(
    runs: Any,
    qrels: Any = None,
    measures: Measures | None = None,
    *,
    rel: float | None = None,
    pool: Any = None,
    lengths: Any = None,
    depth: int | None = None,
    highest: float | None = None,
    by_query: bool = False,
) -> pd.DataFrame:
    """The lowest and the highest value that any labels of the unjudged documents could give.

    Unjudged documents count as not relevant in the value. The bounds are the extremes over all
    *labellings* of V, the unjudged documents in the top k of any of the runs: each can be relevant
    or not (for nDCG, have any grade). Documents outside V stay not relevant, and the bounds do not
    depend on how likely a labelling is. Queries share no labels, so the bounds of a mean are the
    means of the bounds.

    Args:
        runs: the compared runs, one or several; see :func:`~pyterrier_asl.evaluate`.
        qrels: see :func:`~pyterrier_asl.evaluate`.
        measures: any of ``P``, ``R``, ``RR``, ``Success``, ``AP``, ``nDCG``, ``RBP(rel=...)``,
            ``ASL``, ``nASL``, ``LexiP``, ``TBG``, ``P_Rareness``, ``AP_Rareness``. None: the
            default measures that have bounds.
        rel: minimum grade of a relevant document, for measures without ``rel``.
        pool: pool of the rareness measures without a pool; None: the runs.
        lengths: document lengths for TBG.
        depth: V goes down to this rank, if it is deeper than a measure's cut-off.
        highest: the best grade that a label can give in nDCG; None: the best grade in the qrels.
        by_query: one row per query, instead of the means.

    Returns:
        A frame with ``name``, (``qid``,) ``measure``, ``value``, ``low``, ``high``, ``unjudged``
        (the number of unjudged documents that the measure sees in the run, of the query or in all),
        ``exact`` (whether a labelling gives ``low`` and one gives ``high``; otherwise they are
        outer bounds). With several tracks the first column is ``track``.

    Raises:
        ValueError: for a measure without bounds, or with ``judged_only=True``.

    >>> run = {"q": {"a": 3, "x": 2, "b": 1}}
    >>> bounds(run, {"q": {"a": 1, "b": 0}}, ["P@2", "ASL@10"])
      name measure  value  low  high  unjudged  exact
    0  run     P@2    0.5  0.5   1.0         1   True
    1  run  ASL@10    1.0  1.0   1.0         1   True
    """
    frames, facts = {}, {}
    for track, unread, asked in unread_tracks(
        runs, qrels, measures, rel=rel, pool=pool, lengths=lengths
    ):
        chosen = {m.name: m.measure for m in asked if measures is not None or has_bounds(m.measure)}
        found: list[RunFacts] = []
        labelled = labelled_measures(unread, chosen, depth=depth, highest=highest, facts=found)
        facts[track] = Facts(dict(zip(unread.names, found)), unread.judgements, chosen)
        columns: dict[str, dict[str, Any]] = {
            label: {
                "value": [side.value for side in of.sides],
                "low": [side.bounds[0] for side in of.sides],
                "high": [side.bounds[1] for side in of.sides],
                "unjudged": [side.unjudged for side in of.sides],
                "exact": [[of.measure.is_exact()] * len(unread.qids)] * len(unread),
            }
            for label, of in labelled.items()
        }
        frames[track] = long_frame(unread, columns)
    how = dict.fromkeys(("value", "low", "high"), "mean") | {"unjudged": "sum", "exact": "all"}
    return with_notes(joined_by_run(frames, by_query, how), facts)
