"""Two runs: which of them is better, whatever the unjudged documents are; what to judge next."""

from __future__ import annotations

from typing import Any, overload

from ..evaluation.judged_runs import JudgedRuns
from .comparison import Holes, holes_between
from .pairs import AllPairs, all_pairs, labelled_runs


@overload
def holes(
    a: Any, b: None, qrels: Any, measure: Any, *, depth: int | None = None,
    highest: float | None = None, alpha: float = 0.05, duplicates: str | None = None,
) -> AllPairs: ...  # fmt: skip


@overload
def holes(
    a: Any, b: Any, qrels: Any, measure: Any, *, runs: Any = None, depth: int | None = None,
    highest: float | None = None, alpha: float = 0.05, names: tuple[str, str] = ("A", "B"),
    duplicates: str | None = None,
) -> Holes: ...  # fmt: skip


def holes(
    a: Any,
    b: Any,
    qrels: Any,
    measure: Any,
    *,
    runs: Any = None,
    depth: int | None = None,
    highest: float | None = None,
    alpha: float = 0.05,
    names: tuple[str, str] = ("A", "B"),
    duplicates: str | None = None,
) -> Holes | AllPairs:
    """What unjudged documents could change in the comparison of two runs.

    Unjudged documents count as not relevant. How far that can be wrong is computed over all
    *labellings* of V, the unjudged documents in the top k of these runs (and of ``runs``): the
    least and the greatest mean difference, and from these a verdict: *settled* where all labellings
    agree on the better run, else *open*. Open does not mean doubtful: some labelling, perhaps an
    unlikely one, would turn the result. The bounds say nothing of other queries (that is what the
    t-test is about), and nothing of documents that no compared run shows.

    Args:
        a: run A: data frame (``qid``, ``docno``, ``score``), file, or dict of dicts.
        b: run B; None: ``a`` is a dict of name -> run, or a folder of run files, and all pairs of
            them are compared.
        qrels: data frame, file, ir_datasets id, dict of dicts.
        measure: one that has bounds (see :func:`~pyterrier_asl.bounds`), or its name.
        runs: further runs that are compared: dict of name -> run, or a folder of run files.
        depth: look as deep as this for unjudged documents, where that is deeper than the cut-off.
        highest: the best grade that a label can give in nDCG; None: the best of the qrels.
        alpha: the level of the t-test.
        names: what to call the two.
        duplicates: what a document is that stands twice in a ranking; see
            :func:`~pyterrier_asl.evaluate`.

    Returns:
        The difference, its bounds, the verdicts, and what to judge next; of all pairs their
        verdicts, as frame, matrix and chart.

    Raises:
        ValueError: for a measure that has no bounds, by its name.

    >>> a, b = {"q": {"d": 2, "x": 1}}, {"q": {"y": 2, "d": 1}}
    >>> found = holes(a, b, {"q": {"d": 1}}, "RR")
    >>> found.difference.verdict, found.difference.low, found.todo["docno"].tolist()
    ('open', 0.0, ['y', 'x'])
    """
    if b is None:
        return all_pairs(
            a, qrels, measure, depth=depth, highest=highest, alpha=alpha, duplicates=duplicates
        )
    judged = JudgedRuns.of(dict(zip(names, (a, b))), qrels, duplicates=duplicates)
    if runs is not None:
        others = JudgedRuns.of(runs, judged.judgements)
        further = [name if name not in names else f"{name} (2)" for name in others.names]
        judged = JudgedRuns([*judged.names, *further], judged.runs + others.runs, judged.judgements)
    labelled = labelled_runs(judged, measure, depth=depth, highest=highest)
    return holes_between(judged, labelled, alpha)
