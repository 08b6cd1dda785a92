"""TBG: the relevant documents a user is expected to save before running out of time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..common.types import Floats, Ints
from ..scoring import bounds as bounding
from ..scoring import time_biased_gain as scoring
from ..scoring.arrays import cumulate, ranges_from
from ..scoring.matrices import Bounds
from ._base import CUTOFF, MOST, REL, Param, PluginMeasure, real, register
from .formula import LabelledRun

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun, Relevant
    from .lengths import DocLengths

#: The column of a run that holds the lengths of its documents.
DOC_LEN = "doc_len"


def _as_lengths(value: object) -> DocLengths:
    from .lengths import DocLengths  # with everything that reads and matches files

    return DocLengths.resolve(value)


#: The parameters of the formula, without ranks and lengths.
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
    "time_base": Param(real(0, MOST), default=7.8, desc="further seconds per document"),
}


class _TBG(PluginMeasure):
    """
    Time-biased gain, the number of relevant documents that a user is expected to save. The user
    reads summaries and documents from the top, takes time for each, and stops at some time. From 0,
    not normalized; higher is better.

    ::

        TBG = Σ g(k) 2^(-T(k) / h)   over the ranks k, T(k) seconds after the start

    Reading a document takes time for each of its words. ``lengths`` gives the number of words (a
    :class:`~pyterrier_asl.DocLengths`, its name, a file, or ``'irds:ID'``); without it the run's
    column ``doc_len`` does. Near-duplicate documents are not treated specially.

    Mark D. Smucker, Charles L. A. Clarke: Time-Based Calibration of Effectiveness Measures. SIGIR
    2012.

    >>> TBG(missing_length=500).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1}})
    0.4928
    """

    __name__ = NAME = "TBG"
    PRETTY_NAME = "Time-Biased Gain"
    SHORT_DESC = "The relevant documents a user is expected to save before running out of time."
    NEEDS_LENGTHS = True
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "rel": REL,
        "lengths": Param(_as_lengths, desc="words of every document (default: doc_len)"),
        "missing_length": Param(real(0, MOST), desc="words of a document whose length is missing"),
        **_CONSTANTS,
    }

    def value_range(self, systems: float = math.inf) -> tuple[float, float]:
        """From 0 to the gain of an endless ranking of relevant documents without words."""
        of = self.constants()
        decay = 2 ** (-(of["time_summary"] + of["time_base"] * of["p_click_rel"]) / of["halflife"])
        ranks = self["cutoff"] or math.inf
        readers = ranks if decay == 1 else (1 - decay**ranks) / (1 - decay)
        return 0.0, of["p_click_rel"] * of["p_save"] * readers

    def run_columns(self) -> list[str]:
        """The columns that the run needs in addition to query, document and score."""
        return [DOC_LEN] if self["lengths"] is None and self["missing_length"] is None else []

    def needs_rows(self) -> bool:
        """Whether values depend on more of a run than the ranks of judged documents: on lengths."""
        return True

    def _score(self, view: JudgedRun) -> Floats:
        return self.from_lengths(view, self.lengths_of(view), view.ranking.offsets)

    def from_lengths(self, view: JudgedRun, lengths: Floats, ranking_offsets: Ints) -> Floats:
        """The values of a run, from the words of its documents, shape (Q,).

        Args:
            view: the result of :meth:`view`.
            lengths: words of every retrieved document in rank order, query by query, shape (N,);
                lengths between two relevant documents count only by their sum.
            ranking_offsets: the beginning of each query's lengths, shape (Q + 1,).
        """
        relevant = view.relevant(self["rel"])
        return scoring.time_biased_gain(
            relevant.ranks, relevant.offsets, lengths, ranking_offsets, **self.constants()
        )

    def bounds(self, run: LabelledRun) -> Bounds:
        """The least and the greatest value over all labellings, shape (Q,) each."""
        view, rel = run.view, self["rel"]
        states = np.select([view.grades < 0, view.grades >= rel], [2, 1], 0).astype(np.uint8)
        return bounding.time_biased_gain(
            states, self.lengths_of(view), view.offsets, **self.constants()
        )

    def labelled_values(
        self, run: LabelledRun, queries: Ints, relevant: Relevant, gains: Floats
    ) -> Floats:
        """The values of M rankings of a run's queries, each with its own labels, shape (M,)."""
        ranking = run.view.ranking
        begin = cumulate(np.diff(ranking.offsets)[queries])
        return scoring.time_biased_gain(
            relevant.ranks,
            relevant.offsets,
            self.lengths_of(run.view)[ranges_from(ranking.offsets[:-1][queries], begin)],
            begin,
            **self.constants(),
        )

    def constants(self) -> dict[str, float]:
        """The parameters of the formula, without ranks and lengths."""
        return {name: self[name] for name in _CONSTANTS}

    def lengths_of(self, judged: JudgedRun) -> Floats:
        """The words of every retrieved document, in ranking order."""
        ranking = judged.ranking
        if self["lengths"] is not None:
            lengths: Floats = self["lengths"].look_up(judged.docnos(ranking))
        elif judged.table.has(DOC_LEN):
            lengths = judged.table.numbers(DOC_LEN, f"column {DOC_LEN} of the run")[ranking.rows]
        else:
            lengths = np.full(len(ranking), np.nan)
        unknown = np.isnan(lengths)
        if unknown.any() and self["missing_length"] is None:
            raise ValueError(
                f"{int(unknown.sum())} of {len(ranking)} retrieved documents have no known length "
                f"(e.g. {judged.docnos(ranking)[int(unknown.argmax())].as_py()!r}): give a "
                "DocLengths, a file or 'irds:ID' that has them, as in TBG(lengths=...) (or "
                f"--lengths, where a command has it), a column {DOC_LEN!r} in the run, or one "
                "length for all of them, as in TBG(missing_length=500)"
            )
        if unknown.any():
            lengths = np.where(unknown, self["missing_length"], lengths)
        if len(lengths) and (lengths.min() < 0 or lengths.max() > MOST):
            wrong = int(np.flatnonzero((lengths < 0) | (lengths > MOST))[0])
            raise ValueError(
                f"TBG needs lengths from 0 to {MOST:g}: document "
                f"{judged.docnos(ranking)[wrong].as_py()!r} has {lengths[wrong]:g}"
            )
        return lengths


TBG = _TBG()
register(TBG)
