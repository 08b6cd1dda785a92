"""The comparison of judges with people: its tables, its sentences and its chart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..charts.forms import STEP, alt, captioned, ranges, tooltips
from ..io.lazy import pd
from ..io.printed import Part, Printed
from .confusion import counts_by_grade
from .human_range import DOCUMENTS, HUMAN, SYSTEMS, sentences

#: How many runs and groups are printed that gain or lose most.
_MOST = 5

_TITLES = {
    "ci_low": "from",
    "ci_high": "to",
    "human_low": "people",
    "human_high": "to",
    "less_human": "judge",
    "less_low": "from",
    "less_high": "to ",
    "own_gain": "own gain",
}
_REVERSALS = {"reversed": "reversed", "reversed_both": "significant"}
_KEYS = ("agreement", "measure")


@dataclass(frozen=True, repr=False)
class JudgeReport(Printed):
    """The result of :func:`~pyterrier_asl.judges`; ``print`` shows what the command prints.

    Attributes:
        reference: the name of the judge that others are compared with.
        people: the judges that are people, the reference first.
        agreement: a row for each judge, measure and kind of agreement: ``judge``, ``reference``,
            ``measure`` ('' on documents; with the judge's ``rel`` where it is another),
            ``agreement`` (``agreement``, ``kappa``, ``tau``, ``tau_AP``, ``RBO``), ``value``,
            ``ci_low``, ``ci_high``; ``human_low`` and ``human_high``, the least and the greatest
            agreement of two people; ``less_human``, how much more the judge agrees with a person
            than other people do, ``less_low``, ``less_high``; ``verdict``; ``human_pairs``, the
            number of pairs of query and document that the judge and all people judged. All numbers
            of a row are on these pairs. Without a human range ``human_pairs`` is 0, and ``value``
            is on all that the judge and the reference judged. ``pairs`` and ``queries``: those that
            both judged, with a human range those that all people judged, too.
        reversals: for each judge and measure the pairs of systems that it puts in another order
            than the reference: ``reversed``, ``reversed_significant`` (by one of the two),
            ``reversed_both`` (by both) and ``which`` these are, the run that the reference prefers
            first, and the significant pairs of each; None without runs.
        gains: for each judge, measure and run its ``value``, ``rank`` and ``rank_change``, and how
            much the run gains beyond what all runs gain (``own_gain``), with interval and p; None
            without runs.
        group_gains: the same of groups; None where there are none.
        leniency: for each judge and grade of the reference the documents that have it, the share
            that the judge finds relevant, and the judge's mean grade.
        confusion: for each judge and two grades the documents; see
            :func:`~pyterrier_asl.analysis.judge_confusion`.
        as_systems: for each judge the others' relevant documents, scored as a run by that judge's:
            ``judged_by``, ``judge``, ``person``, the columns of
            :func:`~pyterrier_asl.analysis.assessor_scores`, and with runs ``best_run``,
            ``best_AP``.
        binned: the judges whose grades have fractions; their grades are in bins in ``leniency`` and
            ``confusion``, by the lower ends.
    """

    reference: str
    people: list[str]
    agreement: pd.DataFrame
    reversals: pd.DataFrame | None
    gains: pd.DataFrame | None
    group_gains: pd.DataFrame | None
    leniency: pd.DataFrame
    confusion: pd.DataFrame
    as_systems: pd.DataFrame
    binned: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """The agreements."""
        return self.agreement

    def sentences(self) -> list[str]:
        """Sentences on the kappa of each judge and, with runs, on the tau of each measure.

        With runs then, for each judge, whether the best run is beyond people scored as runs.
        """
        ceilings = []
        if "best_AP" in self.as_systems:
            parts = self.as_systems.groupby("judged_by", sort=False)
            ceilings = [_ceiling(str(judge), part) for judge, part in parts]
        return [*sentences(self.agreement, self.people), *ceilings]

    def parts(self) -> Iterator[Part]:
        """The sentences, then the tables."""
        yield from map(Part, self.sentences())
        yield from self._agreement_parts()
        if self.reversals is not None:
            shown = self.reversals[["judge", "measure", "pairs", *_REVERSALS]]
            heading = "Pairs of runs in the opposite order, and where both orders are significant:"
            yield Part(heading, shown, {"titles": _REVERSALS})
            for row in self.reversals[self.reversals["which"] != ""].to_dict("records"):
                yield Part(f"{row['judge']}, {row['measure']}: {row['which']}.")
        for what, gains in (("Runs", self.gains), ("Groups", self.group_gains)):
            if gains is not None:
                first = gains.groupby(["judge", "measure"], sort=False).head(_MOST)
                by = [name for name in ("run", "group") if name in first]
                shown = first[["judge", "measure", *by, "own_gain", "ci_low", "ci_high"]]
                heading = f"{what} that gain or lose most by a judge, beyond the mean gain of all:"
                shown = shown.assign(p=first["p_corrected"])
                yield Part(heading, shown, {"titles": _TITLES, "group_by": "judge"})
        heading = f"What each judge makes of the grades of {self.reference}:"
        yield Part(heading, self.leniency, {"group_by": "judge"})
        binned = f" (grades of {' and '.join(self.binned)} in bins, by their lower ends)"
        heading = f"Documents by grade, {self.reference} in rows{binned if self.binned else ''}:"
        yield Part(heading, counts_by_grade(self.confusion))
        heading = "Each judge's relevant documents scored as a run by another judge (MAP):"
        bounds = self.as_systems[["judged_by", "judge", "person", "lower", "expected", "upper"]]
        yield Part(heading, bounds, {"group_by": "judged_by"})

    def _agreement_parts(self) -> Iterator[Part]:
        """The agreements, and where there is a human range each judge's agreement with people."""
        style = {"titles": _TITLES, "group_by": "judge"}
        names = [f"{kind} {name}".rstrip() for kind, name in zip(*map(self.agreement.get, _KEYS))]
        table = self.agreement.assign(agreement=names)
        columns = ["judge", "agreement", "value", "ci_low", "ci_high", "pairs", "queries"]
        yield Part(f"Agreement with {self.reference}:", table[columns], style)
        decisive = self.agreement["agreement"].isin([DOCUMENTS, SYSTEMS])
        known = table[decisive & table["human_low"].notna()]
        if len(known):
            one_value = known["human_low"].equals(known["human_high"])
            columns = [name for name in HUMAN if not (one_value and name == "human_high")]
            short = known["verdict"].str.removesuffix(" the human range")
            shown = known[["judge", "agreement", *columns, "verdict"]].assign(verdict=short)
            yield Part("Agreement among people, and by how much a judge's is higher:", shown, style)

    def chart(self) -> Any:
        """The agreement of each judge with the reference, with its interval and the human range."""
        shown = self.agreement[self.agreement["agreement"].isin([DOCUMENTS, SYSTEMS])]
        panel = [
            DOCUMENTS if kind == DOCUMENTS else f"{kind}, {measure}"
            for kind, measure in zip(shown["agreement"], shown["measure"])
        ]
        label = [f"{judge} (n = {pairs:,})" for judge, pairs in zip(shown["judge"], shown["pairs"])]
        columns = ["ci_low", "ci_high", "human_low", "human_high", "verdict", "pairs", "queries"]
        base = alt.Chart().encode(
            y=alt.Y("label:N", sort=None, title=None),
            tooltip=tooltips("judge", "agreement", "value", *columns),
        )
        band = (
            alt.Chart()
            .mark_rect(opacity=0.15, color="gray")
            .encode(x=alt.X("human_low:Q"), x2=alt.X2("human_high:Q"))
        )
        data = shown.assign(panel=panel, label=label)
        drawn = (
            alt.layer(band, ranges(base, "ci_low", "value", "ci_high", "agreement"), data=data)
            .properties(width=240, height=alt.Step(1.5 * STEP))
            .facet(column=alt.Column("panel:N", sort=list(dict.fromkeys(panel)), title=None))
            .resolve_scale(x="independent")
        )
        caption = (
            f"Agreement with {self.reference}, with its interval over the queries, on n pairs of "
            "query and document. "
        ) + (
            "Grey: how people agree with each other on these pairs."
            if len(self.people) > 1
            else "There is one person, so there is no human range."
        )
        return captioned(drawn, "Judges and people", caption)


def _ceiling(judge: str, part: pd.DataFrame) -> str:
    """A sentence on the best run and the range of people scored as runs by a judge."""
    run, score = part["best_run"].iloc[0], part["best_AP"].iloc[0]
    humans = part[part["person"]]
    about = f"Judged by {judge}, the best run is {run} (MAP {score:.3f})"
    if humans.empty:
        return f"{about}; there is no second human judge, so there is no human range."
    low, high = humans["lower"].min(), humans["upper"].max()
    where = "beyond" if score > high else "below" if score < low else "within"
    whose = f"{len(humans)} people's" if len(humans) > 1 else f"{humans['judge'].iloc[0]}'s"
    return (
        f"{about}, {where} the range of {whose} relevant documents, scored as a run: {low:.3f} in "
        f"the worst order to {high:.3f} in the best."
    )
