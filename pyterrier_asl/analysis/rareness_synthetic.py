"""Where would a system come out that finds only what no other system finds, or what all find?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ..charts.forms import alt, figure, tooltips
from ..evaluation.relevant_documents import RelevantRanks
from ..io.lazy import pd
from ..scoring.rareness import gains
from ..statistics.rounding import NO_DIFFERENCE
from .reading import read
from .registry import TURKMEN, Ints, Qrels, Runs, analysis


@analysis(TURKMEN, "Figure 1")
def synthetic_systems(
    runs: Runs,
    qrels: Qrels,
    qid: Any,
    *,
    duplicates: str | None = None,
    cutoff: int = 100,
    alphas: Sequence[float] = (0.0, 0.5, 1.0),
    documents: Sequence[int] | None = None,
    rel: float | None = None,
    normalized: bool = False,
) -> pd.DataFrame:
    """How are synthetic systems ranked that find what few others find?

    The rank of two made-up systems among real ones by P_Rareness@k on one query (Figure 1).

    Each is scored as if it alone had taken part beside the real ones, which changes their scores
    too: S is one larger, and S_d of what the newcomer finds. Both retrieve D relevant documents and
    nothing else that counts. ``rare`` retrieves D that no other system has in its top k; they are
    made up, so there are always enough. ``common`` retrieves the D real ones that most systems
    have, so D ends with the relevant documents of the query.

    Args:
        qid: the query.
        cutoff: k.
        alphas: weights of rareness.
        documents: numbers D of relevant documents, k at most; None: 0 to k.
        normalized: the variant of the measure that cannot exceed 1.

    Returns:
        A row for each system, alpha and D, with ``system``, ``alpha``, ``documents``, ``value`` of
        P_Rareness@k, and ``rank``, one more than the number of real systems with a better value.

    Raises:
        ValueError: for a query that is not judged, or a D above k.

    Source: Türkmen, Lease and Kutlu, 2023, section 3 and Figure 1.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"d": 1}}}
    >>> ranked = synthetic_systems(runs, {"q": {"d": 1, "e": 1}}, "q", cutoff=2, alphas=[1])
    >>> ranked[["system", "documents", "value", "rank"]].round(4)
       system  documents   value  rank
    0    rare          0  0.0000     3
    1    rare          1  0.8333     2
    2    rare          2  1.6667     1
    3  common          0  0.0000     3
    4  common          1  0.5000     2
    5  common          2  1.1667     1
    """
    judged, rel = read(runs, qrels, duplicates, rel)
    ranks = judged.once(RelevantRanks.of, rel)
    retrieves = ranks.found(cutoff)[:, ranks.documents_of(judged, qid)].astype(np.int64)
    numbers = range(cutoff + 1) if documents is None else documents
    if max(numbers, default=0) > cutoff:
        raise ValueError(f"{max(numbers)} documents do not fit into the first {cutoff}")
    by_finders = np.argsort(-retrieves.sum(axis=0), kind="stable")
    rows = []
    for system, alpha, number in product(("rare", "common"), alphas, numbers):
        common = number if system == "common" else 0
        if common > retrieves.shape[1]:
            continue
        new = np.zeros(retrieves.shape[1], dtype=np.int64)
        new[by_finders[:common]] = 1
        value, rank = _ranked_among(retrieves, new, number - common, cutoff, alpha, normalized)
        rows.append((system, float(alpha), number, value, rank))
    return pd.DataFrame(rows, columns=["system", "alpha", "documents", "value", "rank"])


@synthetic_systems.chart
def synthetic_chart(frame: pd.DataFrame) -> Any:
    """The ranks of a system that finds rare and of one that finds common documents."""
    return figure(
        alt.Chart(frame).mark_line(interpolate="step-after"),
        "Made-up systems among real ones",
        "The rank by P_Rareness of a system that finds documents that no other has, and of "
        "one that finds what most have, by how many they find.",
        x=alt.X("documents:Q", title="relevant documents retrieved"),
        y=alt.Y(
            "rank:Q",
            title="rank",
            scale=alt.Scale(reverse=True, domainMin=1),
            axis=alt.Axis(tickMinStep=1),
        ),
        color=alt.Color(
            "alpha:O",
            title="α",
            scale=alt.Scale(scheme="viridis"),
            legend=alt.Legend(orient="bottom"),
        ),
        strokeDash=alt.StrokeDash("system:N", title=None, legend=alt.Legend(orient="top")),
        tooltip=tooltips(
            "system", "alpha", "documents", alt.Tooltip("value", format=".3f"), "rank"
        ),
    )


def _ranked_among(
    retrieves: Ints, new: Ints, made_up: int, cutoff: int, alpha: float, normalized: bool
) -> tuple[float, int]:
    """Value and rank of a newcomer that finds ``new`` and ``made_up`` documents of its own."""
    finders = np.append(retrieves.sum(axis=0) + new, 1)  # the last is one that it made up
    systems, each = np.full(len(finders), len(retrieves) + 1), np.arange(len(finders) + 1)
    gain = gains(finders, systems, each, alpha=alpha, normalized=normalized)
    others = retrieves @ gain[:-1] / cutoff
    value = (new @ gain[:-1] + made_up * gain[-1]) / cutoff
    return float(value), 1 + int(np.sum(others > value + NO_DIFFERENCE))
