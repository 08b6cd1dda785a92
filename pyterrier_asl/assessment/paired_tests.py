"""Pairs of systems compared by one test, corrected for all comparisons that are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..evaluation.slices import Queries
from ..io.lazy import pd
from ..io.tables import counted
from ..scoring.arrays import Floats
from ..statistics.correction import with_corrected_p
from ..statistics.tests import compare_pair

_SHOWN = ("difference", "ci_low", "ci_high", "effect", "statistic", "p")


@dataclass(frozen=True)
class PairedTest:
    """A test of two systems, and the correction over all comparisons that are shown together.

    Attributes:
        test: one of :data:`~pyterrier_asl.statistics.tests.PAIR_TESTS`.
        correction: ``'holm'``, ``'bonferroni'``, ``'bh'`` or None.
        alpha: the level of significance; intervals cover 1 - alpha.
        n_resamples: draws of a randomisation test.
        seed: of those draws.
    """

    test: str = "t"
    correction: str | None = "holm"
    alpha: float = 0.05
    n_resamples: int = 10_000
    seed: int = 0

    def of(self, a: Floats, b: Floats, queries: Queries) -> dict[str, float]:
        """The test of two systems' values over some queries, first minus second."""
        comparison = compare_pair(
            queries.of(a),
            queries.of(b),
            self.test,
            alpha=self.alpha,
            weights=queries.weights,
            n_resamples=self.n_resamples,
            seed=self.seed,
        )
        return {name: getattr(comparison, name) for name in _SHOWN}


#: Each comparison by itself, the correction over all that are shown.
T_TEST = PairedTest()
#: All pairs of systems at once, queries as blocks.
TUKEY_TEST = PairedTest("tukey-two-way", "auto")


def corrected(
    frame: pd.DataFrame,
    test: str,
    correction: str | None,
    alpha: float,
    as_published: bool = False,
) -> pd.DataFrame:
    """Corrects over the rows of all tracks and slices; for the ``finish`` of an analysis.

    Args:
        frame: the rows, with a column ``p``.
        test: one of :data:`~pyterrier_asl.statistics.tests.PAIR_TESTS`.
        correction: ``'holm'``, ``'bonferroni'``, ``'bh'`` or None.
        alpha: the level of significance.
        as_published: the choice of papers without a correction.
    """
    return with_corrected_p(frame, test, None if as_published else correction, alpha)


def significance(frame: pd.DataFrame) -> str:
    """How the comparisons of a frame were tested, as a sentence for the caption.

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
    method = about.get("correction")
    over = f"over {counted(family, 'comparison')}"
    corrected = f"corrected {over} ({method})" if method else f"{over}, not corrected"
    untested = f"; {dropped} cannot be tested" if dropped else ""
    return (
        f"Significant: {about.get('test', 't')} test at {about.get('alpha', 0.05):g}, "
        f"{corrected}{untested}."
    )


def as_frame(rows: list[Any], columns: list[str] | None = None) -> pd.DataFrame:
    """Rows as a frame; an error where there are none."""
    if not rows:
        raise ValueError("there is nothing to compare: give at least one run and one measure")
    return pd.DataFrame(rows, columns=columns)
