"""Which group each query has in a comparison."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..common.lazy import pd
from ..common.notices import counted
from ..io.columns import as_frame, is_table
from ..io.groups import read_groups


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
            f"{counted(len(lacking), 'query', 'queries')} of {len(qids)} "
            f"{'has' if len(lacking) == 1 else 'have'} no group (e.g. {lacking[0]!r}{example}): "
            "give every query a group"
        )
    return [by_qid[str(qid)] for qid in qids]
