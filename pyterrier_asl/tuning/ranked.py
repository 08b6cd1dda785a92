"""Measures from the ranks of judged documents alone, without a run to read.

Measures are asked as ever, with a :class:`~pyterrier_asl.judging.judged_run.JudgedRun` that holds
ranks and no run. Only TBG looks at more, the words of the documents above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from ir_measures import Measure

from ..evaluation.standard import AcceleratedProvider, values
from ..judging.judged_run import JudgedRun
from ..measures import TBG, AP_Rareness, P_Rareness
from ..measures.names import added_up
from ..scoring.arrays import cumulate, within_query
from ..scoring.time_biased_gain import time_biased_gain

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class JudgedRanks:
    """Where judged documents were ranked.

    Attributes:
        judged: their ranks.
        lengths_above: [J] of each judged document of the qrels, if it was retrieved, the words of
            all documents above it.
        own_lengths: [J] its own.
    """

    judged: JudgedRun
    lengths_above: Floats
    own_lengths: Floats


def follows_from_ranks(measure: Measure) -> bool:
    """Whether the ranks of judged documents are enough for this measure."""
    if isinstance(measure, (type(P_Rareness), type(AP_Rareness))) or added_up(measure):
        return False
    return AcceleratedProvider().supports(measure)


def score_ranks(measure: Measure, ranked: JudgedRanks) -> Floats:
    """One value for every query of the qrels."""
    if isinstance(measure, type(TBG)):
        return _tbg(measure, ranked)
    return values(measure, ranked.judged)


def known_lengths(measure: Measure, docnos: pa.Array) -> Floats | None:
    """The words of documents that TBG reckons with; NaN where it does not know them.

    Args:
        measure: any.
        docnos: of the documents.

    Returns:
        None for a measure that needs no lengths, or takes them from the results.
    """
    if not isinstance(measure, type(TBG)):
        return None
    lengths, other = measure["lengths"], measure["missing_length"]
    if lengths is None and other is None:
        return None
    known = np.full(len(docnos), np.nan)
    if lengths is not None:
        known = lengths.look_up(docnos.cast(pa.large_string()))
    return known if other is None else np.where(np.isnan(known), other, known)


#: The parameters of TBG that its formula takes as they are.
_CONSTANTS: tuple[str, ...] = tuple(cast(Any, time_biased_gain).__kwdefaults__)


def _tbg(measure: Any, ranked: JudgedRanks) -> Floats:
    """TBG from the words above each relevant document.

    What stands between two relevant documents counts by the sum of its words only, so all of it is
    put in one place there, and the rest of the ranking needs no lengths.
    """
    view = ranked.judged.view(measure["cutoff"])
    found = view.relevant(measure["rel"])
    offsets = cumulate(view.retrieved)
    place = offsets[found.queries] + found.ranks - 1
    above, own = ranked.lengths_above[found.pairs], ranked.own_lengths[found.pairs]
    first = within_query(found.offsets) == 0
    between = found.ranks - np.where(first, 0, np.roll(found.ranks, 1)) - 1
    length_between = above - np.where(first, 0.0, np.roll(above + own, 1))
    gap = between > 0
    lengths = np.zeros(offsets[-1])
    lengths[place[gap] - 1] = length_between[gap]
    lengths[place] = own
    constants = {name: measure[name] for name in _CONSTANTS}
    return time_biased_gain(found.ranks, found.offsets, lengths, offsets, **constants)
