"""Groups of queries in a comparison: which group each query has, and differences by group."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.notices import counted, names_of
from ..common.types import Bools
from ..io.columns import as_frame, is_table
from ..io.groups import read_groups
from ..statistics.groups import FEWEST_IN_GROUP, GroupDifferences, group_differences
from .differences import RunDifference
from .sentences import planned_p, way_of


def groups_of(qids: Sequence[Any], groups: Any) -> list[str]:
    """The group of each query.

    Args:
        qids: the queries.
        groups: dict of qid -> group, a file of lines ``qid<TAB>group``, or a frame with ``qid`` and
            one further column.

    Raises:
        ValueError: for a query without a group, or a query with two.
        OSError: for a file that cannot be read.

    >>> groups_of([1, 2], {"1": "short", "2": "long", "3": "long"})
    ['short', 'long']
    """
    if isinstance(groups, (str, os.PathLike)):
        groups = read_groups(groups, "query")
    elif is_table(groups):
        frame = as_frame(groups)
        others = [column for column in frame if column != "qid"]
        if "qid" not in frame or len(others) != 1 or frame["qid"].duplicated().any():
            raise ValueError("a frame of groups has a row per query, with qid and one more column")
        groups = dict(zip(frame["qid"], frame[others[0]]))
    by_qid = {str(qid): str(group) for qid, group in groups.items() if not pd.isna(group)}
    lacking = [qid for qid in map(str, qids) if qid not in by_qid]
    if lacking:
        example = f"; the first of the groups is {next(iter(by_qid))!r}" if by_qid else ""
        raise ValueError(
            f"{counted(len(lacking), 'query', 'queries')} of {len(qids)} {_have(len(lacking))} no "
            f"group (e.g. {lacking[0]!r}{example}): give every query a group"
        )
    return [by_qid[str(qid)] for qid in qids]


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


class DifferenceByGroup:
    """The difference of a run from the baseline by a measure, in groups of queries.

    Attributes:
        names: the groups, in the order of their first queries.
        tests: the differences and their p-values.
    """

    def __init__(self, difference: RunDifference, groups: Sequence[str]):
        """The tests of a difference; groups has the group of each query."""
        self.difference, self.names = difference, list(dict.fromkeys(groups))
        self.codes = np.array([self.names.index(group) for group in groups])
        greatest = difference.greatest
        self.tests: GroupDifferences = group_differences(
            difference.difference, self.codes, greatest
        )

    @property
    def pair(self) -> tuple[str, str]:
        """The names of the run and of the measure."""
        return self.difference.run, self.difference.name

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table, one per group."""
        columns = zip(self.names, *(column.tolist() for column in self.tests[1:]))
        keys = ("group", "queries", "difference", "shrunken", "p")
        of = {"run": self.difference.run, "measure": self.difference.name}
        return [of | dict(zip(keys, row)) | {"depends": self.tests.depends} for row in columns]

    def queries_of(self, group: str) -> Bools:
        """Whether each query is in a group, shape (Q,)."""
        return np.asarray(self.codes == self.names.index(group))

    def base(self, group: str) -> float:
        """The size of the baseline's mean in a group; 0 for a preference."""
        mean = float(self.difference.a[self.queries_of(group)].mean())
        return 0.0 if math.isnan(mean) else abs(mean)

    def sentence(self, baseline: str) -> str:
        """Whether the difference depends on the group, and the groups with a difference."""
        run, name, alpha = self.difference.run, self.difference.name, self.difference.options.alpha
        tested = [row for row in self.rows() if row["queries"] >= FEWEST_IN_GROUP]
        start = f"The difference of {run} from {baseline} in {name}"
        if math.isnan(self.tests.depends):
            few = "only one group has" if tested else "no group has"
            return f"{start}: {few} {FEWEST_IN_GROUP} queries or more, so groups are not compared."
        p = planned_p(self.tests.depends, alpha)
        if self.tests.depends > alpha:
            return (
                f"{start} does not depend on the group ({p}): the mean over all queries stands for "
                f"each of the {len(tested)} groups."
            )
        ways: dict[str, list[str]] = {}
        for row in tested:
            if row["p"] <= alpha:
                shown = f"{row['group']} ({row['difference']:+.4g}, {row['queries']} queries)"
                ways.setdefault(way_of(self.difference, row["difference"]), []).append(shown)
        named = [f"{way} in {names_of(groups, 8)}" for way, groups in ways.items()]
        return f"{start} depends on the group ({p})" + (
            f": {run} is {', '.join(named)}." if named else "; no group is named."
        )


def group_table(tests: Sequence[DifferenceByGroup]) -> pd.DataFrame:
    """The table of :attr:`~pyterrier_asl.RunComparison.groups`."""
    return pd.DataFrame([row for of_run in tests for row in of_run.rows()])


def group_remarks(tests: Sequence[DifferenceByGroup], baseline: str) -> Iterator[str]:
    """The sentence on each run and measure, and on groups that are too small."""
    for of_run in tests:
        yield of_run.sentence(baseline)
    sizes = dict(zip(tests[0].names, tests[0].tests.queries.tolist()))
    if small := [name for name, size in sizes.items() if size < FEWEST_IN_GROUP]:
        few = f"fewer than {FEWEST_IN_GROUP} queries: no test"
        yield f"{names_of(small, 8)} {_have(len(small))} {few}."
