"""The default measures, and the minimum grade that official measures set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import ir_measures
from ir_measures import Measure

from . import ASL, TBG, AP_Rareness, LexiP, P_Rareness, nASL
from .parsing import NamedMeasure, unique


def official_rel(official: Iterable[Measure]) -> int | None:
    """The lowest relevant grade of official measures; None: they do not set it.

    >>> official_rel([ir_measures.nDCG @ 10, ir_measures.RR(rel=2)]), official_rel([ir_measures.AP])
    (2, None)
    """
    return max((m.params["rel"] for m in official if "rel" in m.params), default=None)


def default_measures(
    official: Sequence[Measure] = (),
    *,
    several: bool,
    lengths: bool = False,
    cutoff: int = 1000,
    brief: bool = False,
) -> list[NamedMeasure]:
    """The default measures: measures of this package and standard measures.

    Args:
        official: the official measures of the dataset. Their lowest relevant grade is used for all
            measures.
        several: whether there are several runs, which rareness needs.
        lengths: whether there are lengths of documents, which TBG needs.
        cutoff: the cut-off of ASL and recall.
        brief: whether to leave out the variants nASL and P_Rareness and add RR, for a report.

    >>> [str(named.measure) for named in default_measures(several=False)]
    ['ASL@1000', 'nASL@1000', 'ASL(g=10)@1000', 'LexiP', 'AP', 'nDCG@10', 'R@1000', 'Judged@10']
    """
    ours = [ASL @ cutoff, nASL @ cutoff, ASL(g=10) @ cutoff, LexiP]
    if several:
        ours += [AP_Rareness @ 100, P_Rareness @ 100]
    if lengths:
        ours.append(TBG)
    standard = [ir_measures.AP, ir_measures.nDCG @ 10]
    if brief:
        ours = [measure for measure in ours if measure not in (nASL @ cutoff, P_Rareness @ 100)]
        standard.append(ir_measures.RR)
    standard += [ir_measures.R @ cutoff, ir_measures.Judged @ 10]
    rel = official_rel(official)
    first, last = (
        [NamedMeasure(str(measure), measure).with_params(rel=rel) for measure in measures]
        for measures in (ours, standard)
    )
    return unique([*first, *(NamedMeasure(str(measure), measure) for measure in official), *last])
