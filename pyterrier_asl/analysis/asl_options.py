"""The options of search lengths that many analyses have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ir_measures

from ..evaluation.sources import refuse
from ..measures import ASL
from ..measures.parsing import with_options
from ..scoring.search_length import DEFAULT_DEPTH
from .inputs import Tracks

#: Why ``as_published`` refuses an option.
PUBLISHED = "has the paper's choice with as_published"


@dataclass(frozen=True)
class AslOptions:
    """Options of search lengths, and the measures that follow from them.

    Attributes:
        rel: minimum grade of a relevant document.
        cutoff: k, as in ``ASL@k``.
        missing: the rank of a document that was not retrieved, ``missing`` of ``ASL``.
        as_published: the paper's choice, ``missing='after'``.

    Raises:
        ValueError: for both ``missing`` and ``as_published``.
    """

    rel: float = 1
    cutoff: int | None = None
    missing: str = "pad"
    as_published: bool = False

    def __post_init__(self) -> None:
        """Checks the options."""
        refuse(PUBLISHED, missing=self.as_published and self.missing != "pad" and self.missing)

    @property
    def how(self) -> tuple[float, int | None, str]:
        """Arguments of ``relevant_documents``: grade, cut-off, rank of missing documents."""
        return self.rel, self.cutoff, "after" if self.as_published else self.missing

    @property
    def asl(self) -> Any:
        """ASL with these options."""
        rel, cutoff, missing = self.how
        return with_options(ASL(missing=missing), rel, cutoff)

    @property
    def depth(self) -> int:
        """The rank at which a search ends."""
        return DEFAULT_DEPTH if self.cutoff is None else self.cutoff

    def label(self, name: str) -> str:
        """A name of the paper's with the minimum grade, if that is not 1.

        >>> AslOptions(rel=2).label("P@20"), AslOptions(rel=2).label("AP"), AslOptions().label("AP")
        ('P(rel=2)@20', 'AP(rel=2)', 'AP')
        """
        if self.rel == 1:
            return name
        measure, at, cutoff = name.partition("@")
        return f"{measure}(rel={self.rel:g}){at}{cutoff}"

    def measures(self, label: Callable[[str], str] = str) -> dict[str, Any]:
        """The four measures of the paper's figures and of its Table 1, as its columns are called.

        Args:
            label: gives each column its label.

        >>> AslOptions(rel=2).measures()
        {'P@20': P(rel=2)@20, 'ASL@g1-10': ASL(rel=2,g=10), 'AP': AP(rel=2), 'ASL': ASL(rel=2)}
        """
        return {
            label("P@20"): with_options(ir_measures.P @ 20, self.rel),
            label("ASL@g1-10"): self.asl(g=10),
            label("AP"): with_options(ir_measures.AP, self.rel, self.cutoff),
            label("ASL"): self.asl,
        }


def label_of(by_track: Tracks) -> Callable[[str], str]:
    """Gives names of measures the minimum grade of all tracks, and none if the grades differ."""
    grades = {rel for _, rel in by_track.values()}
    return AslOptions(rel=grades.pop() if len(grades) == 1 else 1).label
