"""Do two judges agree on the documents? People, crowds and language models.

Whether they agree on which system is better is another question:
:mod:`~pyterrier_asl.analysis.leaderboards_by_judge`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ..assessment.agreement import agreement_on_documents, draw_queries
from ..assessment.confusion import are_binned, confusion_of, counts_by_grade, judged_by_both
from ..assessment.judges import JudgeRel
from ..charts.forms import SHORT, alt, captioned, cells, undrawn
from ..io.lazy import pd
from ..io.tables import counted
from .reading import read_judges
from .registry import JUDGES, TRUSTED, Qrels, analysis


@analysis(JUDGES, "documents", question=TRUSTED)
def judge_agreement(
    judges: Mapping[str, Qrels],
    *,
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    alpha: float = 0.05,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """How far do every two judges agree on documents (kappa)?

    Documents that only one of the two judged do not count.

    Args:
        judges: name -> qrels: frame, file, or ir_datasets id.
        alpha: intervals cover 1 - alpha.
        draws: draws of the bootstrap over queries.
        seed: of those draws.

    Returns:
        A row for every two judges and kind of agreement, with ``judge``, ``reference`` (the other),
        ``agreement``, ``value``, ``ci_low``, ``ci_high``, ``pairs`` (of query and document that
        both judged) and ``queries``. Kinds are ``agreement`` (share of the pairs on which both say
        the same, relevant or not), ``kappa`` of that, and of the grades as they are, without an
        interval, ``kappa_grades``, ``kappa_linear``, ``kappa_quadratic``; these are NaN where the
        largest grades of the two differ, for they judge on different scales.

    Raises:
        ValueError: for a judge who finds nothing relevant, or two with no document in common.

    Sources: Cohen 1960 and 1968.

    >>> judges = {"person": {"q": {"a": 2, "b": 0}}, "model": {"q": {"a": 1, "b": 0, "c": 1}}}
    >>> agreement = judge_agreement(judges, rel=2, judge_rel={"model": 1})
    >>> agreement[["judge", "reference", "agreement", "value", "pairs"]].head(3)
       judge reference     agreement  value  pairs
    0  model    person     agreement    1.0      2
    1  model    person         kappa    1.0      2
    2  model    person  kappa_grades    NaN      2
    """
    read = read_judges(judges, rel=rel, judge_rel=judge_rel)
    for judge in read.members.values():
        judge.check_finds_relevant()
    for a, b in read.pairs():
        judged_by_both(read, a, b)
    draw = partial(draw_queries, draws=draws, seed=seed)
    agreements = agreement_on_documents(read, draw, graded=True)
    of_pairs = ((pair, agreements[frozenset(pair)]) for pair in read.pairs())
    return pd.DataFrame(row for pair, both in of_pairs for row in both.rows(*pair, alpha))


@judge_agreement.chart
def judges_agreement_chart(agreement: pd.DataFrame, value: str | None = None) -> Any:
    """The agreement of every two judges, on the ranking of systems or on the documents.

    Args:
        agreement: the table of ``leaderboard-agreement`` or ``judge-agreement``.
        value: the kind to show, such as ``tau``, ``tau_AP``, ``RBO`` or ``kappa``; None: ``tau``
            of rankings, ``kappa`` of documents.
    """
    kinds = list(dict.fromkeys(agreement["agreement"]))
    if value is None:
        value = "tau" if "tau" in kinds else "kappa"
    if value not in kinds:
        raise ValueError(f"there is no agreement {value!r}; there are {kinds}")
    shown = agreement[agreement["agreement"] == value]
    transposed = shown.rename(columns={"judge": "reference", "reference": "judge"})
    both = pd.concat([shown, transposed], ignore_index=True)
    judges = list(dict.fromkeys([*shown["reference"], *shown["judge"]]))
    angle = 0 if max(map(len, judges)) <= SHORT else -35
    base = (
        alt.Chart(both, width=alt.Step(60), height=alt.Step(36))
        .encode(
            x=alt.X(
                "reference:N",
                sort=judges,
                title=None,
                axis=alt.Axis(labelAngle=angle, labelOverlap=False),
            ),
            y=alt.Y("judge:N", sort=judges, title=None),
        )
        .transform_calculate(
            # .44 has room in a narrow cell, and below it its interval
            number=_short("value"),
            interval=f"isValid(datum.ci_low) ? '[' + {_short('ci_low')} + ', ' + "
            f"{_short('ci_high')} + ']' : ''",
        )
        .transform_calculate(
            text="datum.interval ? [datum.number, datum.interval] : [datum.number]",
        )
    )
    # The whole scale, so that judges who agree alike look alike.
    scale = (
        alt.Scale(scheme="blueorange", reverse=True, domain=[-1, 1])
        if (both["value"] < 0).any()
        else alt.Scale(scheme="blues", domain=[0, 1])
    )
    drawn = cells(
        base,
        alt.Color("value:Q", scale=scale, legend=None),
        alt.Text("text:N"),
        "abs(datum.value) > 0.74",
        ["reference", "judge", "value", "ci_low", "ci_high", "pairs", "queries"],
    )
    intervals = " In brackets: its interval." if shown["ci_low"].notna().any() else ""
    return captioned(
        drawn,
        f"Agreement of judges: {value}",
        f"{value} of every two judges over {_range(shown['queries'], 'query', 'queries')} and "
        f"{_range(shown['pairs'], 'document')} that both judged; 1 is complete agreement."
        + intervals
        + undrawn(shown["value"]),
        60,
    )


def _short(column: str) -> str:
    """A Vega expression: a number with two decimals, without a leading 0."""
    return f"replace(format(datum.{column}, '.2f'), '0.', '.')"


def _range(numbers: Any, singular: str, plural: str = "") -> str:
    """The least and the greatest of some numbers of things, in words."""
    least, most = int(numbers.min()), int(numbers.max())
    most_of = counted(most, singular, plural)
    return most_of if least == most else f"{least:,} to {most_of}"


@analysis(JUDGES, "documents")
def judge_confusion(judges: Mapping[str, Qrels]) -> pd.DataFrame:
    """Which grades do two judges give the same documents?

    Fractional grades, such as means of several labels, are in bins: from each whole number to the
    next, or of width .1 where no grade is above 1. A bin is named by its lower end.

    Args:
        judges: name -> qrels: frame, file, or ir_datasets id.

    Returns:
        One row for every two judges and every two grades that they gave, with ``reference``,
        ``judge``, ``grade_a``, ``grade_b``, ``pairs`` (of query and document), ``share_of_a`` (of
        those that judge a gave that grade). ``attrs['binned']`` names the judges with fractional
        grades.

    >>> judges = {"person": {"q": {"a": 1, "b": 0}}, "model": {"q": {"a": 1.7, "b": 1}}}
    >>> judge_confusion(judges)[["grade_a", "grade_b", "pairs", "share_of_a"]]
       grade_a  grade_b  pairs  share_of_a
    0      0.0      1.0      1         1.0
    1      1.0      1.0      1         1.0
    """
    read = read_judges(judges, rel=1)
    confusion = confusion_of(read)
    members = read.members.items()
    binned = [name for name, judge in members if are_binned(judge.judgements.grades)]
    if binned:
        confusion.attrs["binned"] = ", ".join(binned)
    return confusion


judge_confusion.shown(counts_by_grade)


@judge_confusion.chart
def judge_confusion_chart(
    confusion: pd.DataFrame, reference: str | None = None, judge: str | None = None
) -> Any:
    """The grades of two judges against each other.

    Args:
        confusion: the table.
        reference: one judge; None: every two judges.
        judge: another, in the order of the frame.
    """
    pairs = list(dict.fromkeys(zip(confusion["reference"], confusion["judge"])))
    wanted = pairs if reference is None and judge is None else [(reference, judge)]
    if wanted[0] not in pairs:
        raise ValueError(f"there is no pair {wanted[0]}; there are {sorted(pairs)}")
    panels = [_confused(confusion, *map(str, pair)) for pair in wanted]
    names = confusion.attrs.get("binned")
    binned = f" Fractional grades ({names}) are in bins, by their lower ends." if names else ""
    title = f"{wanted[0][0]} against {wanted[0][1]}" if len(wanted) == 1 else "Grades of judges"
    return captioned(
        panels[0] if len(panels) == 1 else alt.concat(*panels, columns=3),
        title,
        "Documents that both judged, by grade. Rows are shaded by their shares: how the second "
        "judge grades what the first gave that grade." + binned,
        60,
    )


def _confused(confusion: pd.DataFrame, reference: str, judge: str) -> Any:
    part = confusion[(confusion["reference"] == reference) & (confusion["judge"] == judge)]
    base = alt.Chart(part, width=alt.Step(64), height=alt.Step(40)).encode(
        x=alt.X("grade_b:O", title=f"grade by {judge}", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("grade_a:O", title=f"grade by {reference}", sort="descending"),
    )
    shares, legend = alt.Scale(scheme="blues", domain=[0, 1]), alt.Legend(orient="bottom")
    return cells(
        base,
        alt.Color("share_of_a:Q", title="share of the row", scale=shares, legend=legend),
        alt.Text("pairs:Q"),
        "datum.share_of_a > 0.74",
        ["grade_a", "grade_b", "pairs", "share_of_a"],
    )
