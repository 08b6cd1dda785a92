"""TBG: the relevant documents a user is expected to save before running out of time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..scoring import bounds as bounding
from ..scoring import time_biased_gain as scoring
from ..scoring.arrays import Floats, Ints, cumulate, ranges_from
from ._base import CUTOFF, MOST, REL, UNJUDGED, Param, PluginMeasure, real, register
from .labelled import LabelledRankings, LabelledRun

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun
    from .lengths import DocLengths

#: The column of a run that holds the lengths of its documents.
DOC_LEN = "doc_len"


def _as_lengths(value: object) -> DocLengths:
    """The lengths that a value means; what reads and matches files is imported now."""
    from .lengths import DocLengths

    return DocLengths.resolve(value)


#: The parameters that the formula takes besides ranks and lengths.
_CONSTANTS = {
    "halflife": Param(
        real(0, above=True), default=224.0, desc="seconds until half of the users have stopped"
    ),
    "p_click_rel": Param(
        real(0, 1), default=0.64, desc="probability of a click on a relevant summary"
    ),
    "p_click_nonrel": Param(
        real(0, 1), default=0.39, desc="probability of a click on any other summary"
    ),
    "p_save": Param(
        real(0, 1), default=0.77, desc="probability of saving a relevant document once read"
    ),
    "time_summary": Param(real(0, MOST), default=4.4, desc="seconds to read a summary"),
    "time_per_word": Param(real(0, MOST), default=0.018, desc="seconds to read a word"),
    "time_base": Param(real(0, MOST), default=7.8, desc="seconds a document takes besides"),
}


class _TBG(PluginMeasure):
    """
    Time-biased gain, the relevant documents that a user is expected to save, who reads summaries
    and documents from the top, takes time for each, and gives up sooner or later. From 0, not
    normalized; higher is better.

    ::

        TBG = Σ g(k) 2^(-T(k) / h)   over the ranks k, T(k) seconds after the start

    Documents cost the time it takes to read their words: ``lengths`` says how many those are (a
    :class:`~pyterrier_asl.DocLengths`, its name, a file, or ``'irds:ID'``); without it the run's
    column ``doc_len`` does. Duplicate documents are not treated apart.

    Mark D. Smucker, Charles L. A. Clarke: Time-Based Calibration of Effectiveness Measures. SIGIR
    2012.

    >>> TBG(missing_length=500).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1}})
    0.4928
    """

    __name__ = "TBG"
    NAME = __name__
    PRETTY_NAME = "Time-Biased Gain"
    SHORT_DESC = "The relevant documents a user is expected to save before running out of time."
    NEEDS_LENGTHS = True
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "rel": REL,
        "lengths": Param(_as_lengths, desc="words of every document (default: doc_len)"),
        "missing_length": Param(
            real(0, MOST), desc="words of a document whose length is not known"
        ),
        **_CONSTANTS,
        "unjudged": UNJUDGED,
    }

    def value_range(self, systems: float = math.inf) -> tuple[float, float]:
        """To the gain of an endless ranking of relevant documents without words."""
        of = self.constants()
        seconds = of["time_summary"] + of["time_base"] * of["p_click_rel"]
        gain, decay = of["p_click_rel"] * of["p_save"], 2 ** (-seconds / of["halflife"])
        if decay == 1:
            return 0.0, gain * (self["cutoff"] or math.inf)
        return 0.0, gain * (1 - decay ** (self["cutoff"] or math.inf)) / (1 - decay)

    def run_columns(self) -> list[str]:
        """The columns that the run must have besides query, document and score."""
        has_lengths = self["lengths"] is not None or self["missing_length"] is not None
        return [] if has_lengths else [DOC_LEN]

    def needs_rows(self) -> bool:
        """Whether it needs every row of a run: it needs the words of every retrieved document."""
        return True

    def _score(self, view: JudgedRun) -> Floats:
        return self.from_lengths(view, self.lengths_of(view), view.ranking.offsets)

    def from_lengths(self, view: JudgedRun, lengths: Floats, ranking_offsets: Ints) -> Floats:
        """The values of a run, by the words of its documents, shape (Q,)."""
        relevant = view.relevant(self["rel"])
        return scoring.time_biased_gain(
            relevant.ranks, relevant.offsets, lengths, ranking_offsets, **self.constants()
        )

    def bounds(self, run: LabelledRun) -> bounding.Bounds:
        """The least and the greatest value over all labellings, shape (Q,) each."""
        view, relevant, unjudged = run.view, run.relevant, run.unjudged
        offsets = view.ranking.offsets
        states = np.zeros(len(view.ranking), dtype=np.uint8)
        states[offsets[relevant.queries] + relevant.ranks - 1] = 1
        states[offsets[unjudged.queries] + unjudged.ranks - 1] = 2
        return bounding.time_biased_gain(states, self.lengths_of(view), offsets, **self.constants())

    def labelled_values(self, run: LabelledRun, rankings: LabelledRankings) -> Floats:
        """The values of a run's queries, each under a labelling of its own, shape (M,)."""
        ranking = run.view.ranking
        begin = cumulate(np.diff(ranking.offsets)[rankings.queries])
        rows = ranges_from(ranking.offsets[:-1][rankings.queries], begin)
        lengths = self.lengths_of(run.view)[rows]
        return scoring.time_biased_gain(
            rankings.ranks, rankings.offsets, lengths, begin, **self.constants()
        )

    def constants(self) -> dict[str, float]:
        """The parameters of the formula besides ranks and lengths."""
        return {name: self[name] for name in _CONSTANTS}

    def lengths_of(self, judged: JudgedRun) -> Floats:
        """Words of every retrieved document, in ranking order."""
        ranking = judged.ranking
        if self["lengths"] is not None:
            lengths: Floats = self["lengths"].look_up(judged.docnos(ranking))
        elif judged.table.has(DOC_LEN):
            lengths = ranking.take(judged.table.numbers(DOC_LEN, f"column {DOC_LEN} of the run"))
        elif len(ranking) == 0 or self["missing_length"] is not None:
            lengths = np.full(len(ranking), np.nan)
        else:
            raise ValueError(
                "TBG needs the length of every retrieved document, and the run has no column "
                f"{DOC_LEN!r}: write TBG(lengths=...) with a DocLengths, a file or 'irds:ID' "
                "(--lengths in commands), or TBG(missing_length=500)"
            )
        unknown = np.isnan(lengths)
        if unknown.any() and self["missing_length"] is None:
            example = judged.docnos(ranking)[int(unknown.argmax())].as_py()
            raise ValueError(
                f"TBG needs the length of every retrieved document: {int(unknown.sum())} of "
                f"{len(ranking)} have none (e.g. {example!r}); add them to the DocLengths or write "
                "TBG(missing_length=500)"
            )
        if unknown.any():
            lengths = np.where(unknown, self["missing_length"], lengths)
        if len(lengths) and (lengths.min() < 0 or lengths.max() > MOST):
            wrong = int(np.flatnonzero((lengths < 0) | (lengths > MOST))[0])
            docno = judged.docnos(ranking)[wrong].as_py()
            raise ValueError(
                f"TBG needs lengths from 0 to {MOST:g}: document {docno!r} has {lengths[wrong]:g}"
            )
        return lengths


TBG = _TBG()
register(TBG)
