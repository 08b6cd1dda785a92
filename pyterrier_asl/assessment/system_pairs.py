"""Pairs of systems: compared by one test, and side by side under several judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..io.lazy import pd
from ..io.notices import counted
from ..measures.names import Measures
from ..scoring.arrays import Floats
from ..statistics.rounding import rounded, shared_ranks
from ..statistics.tests import compare_all, compare_pair
from .judges import Judges, sign_of


@dataclass(frozen=True)
class PairedTest:
    """A test of two systems, and its correction over all comparisons of a table.

    Attributes:
        test: one of :data:`~pyterrier_asl.statistics.tests.PAIR_TESTS`.
        correction: one of :data:`~pyterrier_asl.statistics.correction.CORRECTIONS`.
        alpha: the level of significance; intervals cover 1 - alpha.
        draws: draws of a randomisation test; None: the default number.
        seed: of the draws.
    """

    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    draws: int | None = None
    seed: int | None = None

    def of(self, a: Floats, b: Floats) -> dict[str, float]:
        """Tests the difference of two systems' values, first minus second, over the queries."""
        return compare_pair(
            a,
            b,
            self.test,
            alpha=self.alpha,
            draws=self.draws,
            seed=self.seed,
        )._asdict()


def significance(frame: pd.DataFrame) -> str:
    """A sentence for a caption on how the comparisons of a frame were tested.

    >>> attrs = {"test": "t", "alpha": 0.05, "correction": "holm", "family": 3, "dropped": 1}
    >>> frame = pd.DataFrame({"p": [0.1, 0.2, 0.3, float("nan")]})
    >>> frame.attrs = attrs
    >>> significance(frame)
    'Significant: t test at 0.05, corrected over 3 comparisons (holm); 1 cannot be tested.'
    """
    about = frame.attrs
    family = int(about.get("family", frame["p"].notna().sum()))
    dropped = int(about.get("dropped", frame["p"].isna().sum()))
    if family == 0:
        return "No comparison can be tested: there is no difference, or a single query."
    method = about.get("correction", "none")
    over = f"over {counted(family, 'comparison')}"
    corrected = f"corrected {over} ({method})" if method != "none" else f"{over}, not corrected"
    untested = f"; {dropped} cannot be tested" if dropped else ""
    return (
        f"Significant: {about.get('test', 't')} test at {about.get('alpha', 0.05):g}, "
        f"{corrected}{untested}."
    )


def as_frame(rows: list[Any], columns: list[str] | None = None) -> pd.DataFrame:
    """Makes a frame of rows; ValueError where there are none."""
    if not rows:
        raise ValueError("there is nothing to compare: give at least one run and one measure")
    return pd.DataFrame(rows, columns=columns)


def compared_systems(
    judges: Judges,
    measure: Measures,
    paired: PairedTest,
    *,
    reference: str | None = None,
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yields every two judges, with the differences of all pairs of systems by both.

    Differences are positive where the first system is better.

    Args:
        judges: the judges, with runs.
        measure: the measure.
        paired: the test of each pair of systems under each judge.
        reference: only this judge with each of the others.
    """
    compared = {
        name: compare_all(
            sign_of(measure) * values,
            judges.systems,
            **asdict(paired),
        )
        for name, values in judges.values(measure).items()
    }
    for a, b in judges.pairs(reference):
        yield a, b, side_by_side(compared[a], compared[b])


def side_by_side(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """Each pair of systems by two judges; ``better`` is the system that judge a prefers."""
    both = a.merge(b, on=["a", "b"], suffixes=("_a", "_b"))
    signs = np.sign(both["difference_a"]) * np.sign(both["difference_b"])
    first = both["difference_a"] > 0
    return both.assign(
        reversed=signs < 0,
        same=signs > 0,
        better=both["a"].where(first, both["b"]),
        worse=both["b"].where(first, both["a"]),
    )


def reversals_of(
    judges: Judges,
    measure: Measures,
    paired: PairedTest,
    *,
    reference: str | None = None,
) -> pd.DataFrame:
    """The number of pairs of systems that two judges put in opposite orders.

    The arguments are as in :func:`compared_systems`.

    Returns:
        A row for every two judges, with ``judge``, ``reference``, ``measure``, ``pairs``;
        ``reversed``, ``reversed_significant`` (by one of the two) and ``reversed_both``;
        ``significant_a``, ``significant_b``, ``significant_both`` (in the same order); and
        ``which`` are reversed and significant by both, the system that the reference prefers first.
    """
    rows = []
    for a, b, both in compared_systems(judges, measure, paired, reference=reference):
        by_a, by_b = both["significant_a"], both["significant_b"]
        opposite = both[both["reversed"] & by_a & by_b]
        counts = {
            "pairs": len(both),
            "reversed": both["reversed"].sum(),
            "reversed_significant": (both["reversed"] & (by_a | by_b)).sum(),
            "reversed_both": len(opposite),
            "significant_a": by_a.sum(),
            "significant_b": by_b.sum(),
            "significant_both": (both["same"] & by_a & by_b).sum(),
        }
        about = {"judge": b, "reference": a, "measure": judges.label(measure, [a, b])}
        which = "; ".join(opposite["better"] + " over " + opposite["worse"])
        rows.append({**about, **counts, "which": which})
    return pd.DataFrame(rows)


def leaderboards_of(
    judges: Judges,
    measure: Measures,
    paired: PairedTest,
    *,
    reference: str,
    groups: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The systems, or groups of them, by each judge, the best first, and what each judge adds.

    A gain is the value by a judge less that by the reference. The own gain of a system is its gain
    less the mean gain of all systems.

    Returns:
        ``judge``, ``measure``, ``run`` (or ``group``), ``value``, ``rank`` (equal values share the
        best), ``rank_change`` (ranks up, by the reference's order), ``gain``, ``own_gain``,
        ``ci_low``, ``ci_high``, ``effect``, ``statistic``, ``p``; NaN for the reference.
    """
    labels = pd.Index([(groups or {}).get(name, name) for name in judges.systems])
    values = judges.values(measure)
    average = {name: (own - values[reference]).mean(axis=0) for name, own in values.items()}
    by_label = {
        name: pd.DataFrame(own, labels).groupby(level=0, sort=False).mean().to_numpy()
        for name, own in values.items()
    }
    means = {name: np.asarray(rounded(own.mean(axis=-1))) for name, own in by_label.items()}
    ranks = {name: shared_ranks(sign_of(measure) * own) for name, own in means.items()}
    parts = []
    for name, own in by_label.items():
        gains = own - by_label[reference]
        tests = pd.DataFrame([paired.of(gain, average[name]) for gain in gains])
        about = {
            "judge": name,
            "measure": judges.label(measure, dict.fromkeys([reference, name])),
            "run" if groups is None else "group": labels.unique(),
            "value": means[name],
            "rank": ranks[name],
            "rank_change": ranks[reference] - ranks[name],
            "gain": gains.mean(axis=-1),
        }
        part = pd.concat([pd.DataFrame(about), tests], axis=1)
        parts.append(part.sort_values("rank", kind="stable"))
    return pd.concat(parts, ignore_index=True).rename(columns={"difference": "own_gain"})
