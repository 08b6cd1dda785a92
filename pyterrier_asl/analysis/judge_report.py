"""What there is to say of judges: tables, sentences and a chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..charts.forms import STEP, alt, captioned, ranges
from ..io.lazy import pd

#: How far below people's agreement with each other a judge may be and still be one of them.
MARGIN = 0.05

#: Below so many queries the bootstrap's intervals cannot be relied on.
FEW = 10

#: What can be said of a judge beside people.
WITHIN = "within the human range"
BELOW = "below the human range"
UNDECIDED = "cannot be said"
UNKNOWN = "range unknown"

#: The agreements that verdicts are about: on documents, and on the ranking of systems.
DOCUMENTS, SYSTEMS = "kappa", "tau"


@dataclass(frozen=True)
class JudgeReport:
    """What :func:`~pyterrier_asl.judges` returns.

    Attributes:
        reference: the name of the judge that others are compared with.
        people: the judges that are people, the reference first.
        agreement: a row for each judge, measure and kind of agreement: ``judge``, ``reference``,
            ``measure`` ('' on documents), ``agreement`` (``agreement``, ``kappa``, ``tau``,
            ``tau_AP``, ``RBO``), ``value``, ``ci_low``, ``ci_high``; ``human_low`` and
            ``human_high``, the least and the greatest agreement of two people; ``less_human``, how
            much more the judge agrees with a person than other people do, ``less_low``,
            ``less_high``; ``verdict``; ``queries``.
        reversals: for each judge and measure the pairs of systems that it puts in another order
            than the reference: ``reversed``, ``reversed_significant`` (by one of the two),
            ``reversed_both`` (by both) and ``which`` these are, the run that the reference prefers
            first, and the significant pairs of each; None without runs.
        gains: for each judge, measure and run how much the run gains beyond what all runs gain
            (``own_gain``), with interval and p; None without runs.
        group_gains: the same of groups; None where there are none.
        leniency: for each judge and grade of the reference the documents that have it, the share
            that the judge finds relevant, and the judge's mean grade.
        confusion: for each judge and two grades the documents; see
            :func:`~pyterrier_asl.analysis.judge_confusion`.
        as_systems: for each judge the others' relevant documents, scored as a run by that judge's:
            ``judged_by``, ``judge``, ``person``, ``lower``, ``expected``, ``upper`` (MAP), and with
            runs ``best_run``, ``best_AP``.
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

    def matrix(self, judge: str) -> pd.DataFrame:
        """The documents by the reference's grade (rows) and a judge's (columns)."""
        part = self.confusion[self.confusion["judge_b"] == judge]
        table = part.pivot(index="grade_a", columns="grade_b", values="pairs")
        return table.rename_axis(index=f"{self.reference} \\ {judge}", columns=None)

    def sentences(self) -> list[str]:
        """For each judge a sentence for kappa and, with runs, one for each measure's tau."""
        asked = self.agreement[self.agreement["agreement"].isin([DOCUMENTS, SYSTEMS])]
        rows: list[Any] = asked.to_dict("records")
        return [_sentence(row, len(self.people)) for row in rows]

    def ceilings(self) -> list[str]:
        """For each judge whether the best run is beyond the range of people scored as runs."""
        if "best_AP" not in self.as_systems:
            return []
        parts = self.as_systems.groupby("judged_by", sort=False)
        return [_ceiling(str(judge), part) for judge, part in parts]


def _sentence(row: dict[str, Any], people: int) -> str:
    """What can be said of a judge, with the numbers that it rests on."""
    what = "documents" if row["agreement"] == DOCUMENTS else f"the ranking by {row['measure']}"
    symbol = row["agreement"]
    numbers = f"{symbol} {row['value']:.3f} [{row['ci_low']:.3f}, {row['ci_high']:.3f}]"
    about = f"{row['judge']}, {what}: {numbers} with {row['reference']}"
    queries = f"{row['queries']} {'query' if row['queries'] == 1 else 'queries'}"
    if row["verdict"] == UNKNOWN:
        why = "no second human judge" if people < 2 else "no other people to compare with"
        return f"{about}, {queries}; {why}: range unknown."
    human = f"{row['human_low']:.3f}"
    if row["human_high"] > row["human_low"]:
        human += f" to {row['human_high']:.3f}"
    beside = (
        f"people agree with {symbol} {human}, and the judge by {row['less_human']:+.3f} "
        f"[{row['less_low']:+.3f}, {row['less_high']:+.3f}] beside them"
    )
    said = row["verdict"]
    if said == UNDECIDED:
        said = f"cannot be said with {queries} whether it is within the human range"
    few = f" (below {FEW} queries intervals are too narrow)" if row["queries"] < FEW else ""
    return f"{about}, {queries}; {beside}: {said}{few}."


def _ceiling(judge: str, part: pd.DataFrame) -> str:
    """Whether the best run is beyond the people that this judge scores."""
    run, score = part["best_run"].iloc[0], part["best_AP"].iloc[0]
    humans = part[part["person"]]
    about = f"Judged by {judge}, the best run is {run} (MAP {score:.3f})"
    if humans.empty:
        return f"{about}; no person but the judge: range unknown."
    low, high = humans["lower"].min(), humans["upper"].max()
    where = "beyond" if score > high else "below" if score < low else "within"
    return f"{about}, {where} the range of people's documents as a run, {low:.3f} to {high:.3f}."


def judges_chart(report: JudgeReport) -> Any:
    """The agreement of each judge with the reference, with its interval and the human range."""
    shown = report.agreement[report.agreement["agreement"].isin([DOCUMENTS, SYSTEMS])]
    panel = [
        DOCUMENTS if kind == DOCUMENTS else f"{kind}, {measure}"
        for kind, measure in zip(shown["agreement"], shown["measure"])
    ]
    data = shown.assign(panel=panel)
    base = alt.Chart().encode(
        y=alt.Y("judge:N", sort=None, title=None),
        tooltip=[
            "judge",
            "agreement",
            "value",
            "ci_low",
            "ci_high",
            "human_low",
            "human_high",
            "verdict",
            "queries",
        ],
    )
    band = (
        alt.Chart()
        .mark_rect(opacity=0.15, color="gray")
        .encode(x=alt.X("human_low:Q"), x2="human_high:Q")
    )
    drawn = (
        alt.layer(band, ranges(base, "ci_low", "value", "ci_high", "agreement"), data=data)
        .properties(width=240, height=alt.Step(1.5 * STEP))
        .facet(column=alt.Column("panel:N", sort=list(dict.fromkeys(panel)), title=None))
        .resolve_scale(x="independent")
    )
    caption = f"Agreement with {report.reference}, with its interval over the queries. " + (
        "Grey: how people agree with each other."
        if len(report.people) > 1
        else "There is one person: the human range is unknown."
    )
    return captioned(drawn, "Judges beside people", caption)
