"""The default measures, and the minimum grade that official measures set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import ir_measures
from ir_measures import Measure

from . import ASL, TBG, AP_Rareness, LexiP, P_Rareness, nASL
from .parsing import NamedMeasure, unique


def official_rel(official: Iterable[Measure]) -> int | None:
    """The minimum grade of a relevant document in official measures, the highest of several.

    None: they do not set it.

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
    ours = {
        ASL @ cutoff: True,
        nASL @ cutoff: not brief,
        ASL(g=10) @ cutoff: True,
        LexiP: True,
        AP_Rareness @ 100: several,
        P_Rareness @ 100: several and not brief,
        TBG: lengths,
    }
    standard = {
        ir_measures.AP: True,
        ir_measures.nDCG @ 10: True,
        ir_measures.RR: brief,
        ir_measures.R @ cutoff: True,
        ir_measures.Judged @ 10: True,
    }
    rel = official_rel(official)
    first, last = (
        [NamedMeasure(str(m), m).with_params(rel=rel) for m, is_default in of.items() if is_default]
        for of in (ours, standard)
    )
    return unique([*first, *(NamedMeasure(str(measure), measure) for measure in official), *last])
