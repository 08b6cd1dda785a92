"""The data of a leaderboard with intervals of ranks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..assessment.compare_judges import JudgeSummary, summary_of
from ..assessment.judges import Judges
from ..io.lazy import pd
from ..io.names import OVERALL
from ..measures.names import NamedMeasure

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, repr=False, eq=False)
class Board:
    """The tables of a leaderboard; for the attributes see :class:`~pyterrier_asl.Leaderboard`."""

    table: pd.DataFrame
    better: pd.DataFrame
    p: pd.DataFrame
    critical: list[Any]
    measure: str
    higher_is_better: bool
    names: list[str]
    topics: int
    alpha: float
    statistic: pd.DataFrame
    draws: int
    judges: list[str]
    values: pd.DataFrame
    difference_interval: tuple[float, float] | None = None
    unjudged: bool = False
    left_out: int = 0
    tracks: dict[str, Self] = field(default_factory=dict)
    better_everywhere: pd.DataFrame | None = None
    means: pd.DataFrame | None = None
    simultaneous: bool = False
    judged_runs: dict[str, Judges] = field(default_factory=dict)
    named_measure: NamedMeasure | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def overall(self) -> pd.DataFrame:
        """The rows of the table for all topics together."""
        if "track" not in self.table:
            return self.table
        rows = self.table[self.table["track"] == OVERALL]
        return rows.drop(columns="track").reset_index(drop=True)

    def pairs(self) -> pd.DataFrame:
        """A row for each pair of systems, the one with the better mean first.

        Returns:
            ``a``, ``b``, ``difference`` (of the means, by the first judge), ``statistic``, ``p``,
            adjusted for all pairs (0 means less than 1 / :attr:`draws`), and ``ordered``: a is
            better than b, as p is at most :attr:`alpha`. For two systems
            :attr:`difference_interval` is the confidence interval of the difference.
        """
        a, b = np.triu_indices(len(self.names), k=1)
        names, means = np.array(self.names, dtype=object), self.overall["mean"].to_numpy()
        return pd.DataFrame(
            {
                "a": names[a],
                "b": names[b],
                "difference": means[a] - means[b],
                "statistic": self.statistic.to_numpy()[a, b],
                "p": self.p.to_numpy()[a, b],
                "ordered": self.better.to_numpy()[a, b],
            }
        )

    @property
    def stars(self) -> list[bool]:
        """For each system: whether a system with the best mean is better (the pair is ordered)."""
        leads = (self.overall["rank"] == 1).to_numpy()
        return [bool(self.better.loc[leads, name].any()) for name in self.names]

    @cached_property
    def judge_summaries(self) -> dict[str, JudgeSummary]:
        """The judges of each collection compared with the judge of the qrels, if there are more."""
        if len(self.judges) < 2 or self.named_measure is None:
            return {}
        measures = [self.named_measure]
        return {
            track: summary_of(judges.select(self.judges), measures, alpha=self.alpha)
            for track, judges in self.judged_runs.items()
        }
