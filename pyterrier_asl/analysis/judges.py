"""Do two judges agree on the documents? People, crowds and language models.

Whether they agree on which system is better is another question:
:mod:`~pyterrier_asl.analysis.leaderboards_by_judge`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from ..assessment.confusion import are_binned, confusion_of, judged_by_both
from ..assessment.judges import JudgeRel
from ..assessment.system_pairs import as_frame
from ..charts.forms import SHORT, alt, captioned, cells, undrawn
from ..io.lazy import pd
from ..statistics.agreement import cohen_kappa
from .reading import read_judges
from .registry import JUDGES, TRUSTED, Qrels, analysis


@analysis("judge-agreement", JUDGES, "documents", question=TRUSTED)
def judge_agreement(
    judges: Mapping[str, Qrels], *, rel: float | None = None, judge_rel: JudgeRel | None = None
) -> pd.DataFrame:
    """How far do every two judges agree on documents (kappa)?

    Documents that only one of the two judged do not count.

    Args:
        judges: name -> qrels: frame, file, or ir_datasets id.

    Returns:
        One row for every two judges, with ``judge_a``, ``judge_b``, their minimum grades of a
        relevant document, ``rel_a`` and ``rel_b``, ``pairs`` (of query and document that both
        judged), ``relevant_a`` and ``relevant_b`` (shares of them found relevant), ``agreement``
        (share of the pairs on which both say the same, relevant or not), ``kappa`` of that, and of
        the grades as they are ``kappa_grades``, ``kappa_linear``, ``kappa_quadratic``; these are
        NaN where the largest grades of the two differ, for they judge on different scales.

    Raises:
        ValueError: for a judge who finds nothing relevant.

    Sources: Cohen 1960 and 1968.

    >>> judges = {"person": {"q": {"a": 2, "b": 0}}, "model": {"q": {"a": 1, "b": 0, "c": 1}}}
    >>> agreement = judge_agreement(judges, rel=2, judge_rel={"model": 1})
    >>> agreement[["rel_a", "rel_b", "pairs", "agreement", "kappa", "kappa_grades"]]
       rel_a  rel_b  pairs  agreement  kappa  kappa_grades
    0      2      1      2        1.0    1.0           NaN
    """
    read = read_judges(judges, rel=rel, judge_rel=judge_rel)
    members = read.members.values()
    for judge in members:
        judge.check_finds_relevant()
    rows = []
    for a, b in combinations(members, 2):
        at_a, at_b = judged_by_both(read, a.name, b.name)
        relevant = a.relevant[at_a], b.relevant[at_b]
        grades = a.judgements.grades[at_a], b.judgements.grades[at_b]
        one_scale = a.judgements.grades.max() == b.judgements.grades.max()
        row = {
            "judge_a": a.name,
            "judge_b": b.name,
            "rel_a": a.rel,
            "rel_b": b.rel,
            "pairs": len(at_a),
            "relevant_a": relevant[0].mean(),
            "relevant_b": relevant[1].mean(),
            "agreement": np.mean(relevant[0] == relevant[1]),
            "kappa": cohen_kappa(*relevant),
        }
        for how, weights in (("grades", None), ("linear", "linear"), ("quadratic", "quadratic")):
            row[f"kappa_{how}"] = cohen_kappa(*grades, weights=weights) if one_scale else np.nan
        rows.append(row)
    return as_frame(rows)


@judge_agreement.chart
def judges_agreement_chart(agreement: pd.DataFrame, value: str | None = None) -> Any:
    """The agreement of every two judges, on the ranking of systems or on the documents.

    Args:
        agreement: the table of ``leaderboard-agreement`` or ``judge-agreement``.
        value: the column to show, such as ``tau``, ``tau_AP``, ``RBO`` or ``kappa``; None: ``tau``
            of rankings, ``kappa`` of documents.
    """
    if value is None:
        value = "tau" if "tau" in agreement else "kappa"
    if value not in agreement.columns:
        raise ValueError(f"there is no column {value!r}; there are {list(agreement.columns)}")
    transposed = agreement.rename(columns={"judge_a": "judge_b", "judge_b": "judge_a"})
    both = pd.concat([agreement, transposed], ignore_index=True)
    judges = list(dict.fromkeys([*agreement["judge_a"], *agreement["judge_b"]]))
    angle = 0 if max(map(len, judges)) <= SHORT else -35
    base = (
        alt.Chart(both, width=alt.Step(54), height=alt.Step(34))
        .encode(
            x=alt.X(
                "judge_a:N",
                sort=judges,
                title=None,
                axis=alt.Axis(labelAngle=angle, labelOverlap=False),
            ),
            y=alt.Y("judge_b:N", sort=judges, title=None),
        )
        .transform_calculate(
            # .44 has room in a narrow cell
            number=f"replace(format(datum['{value}'], '.2f'), '0.', '.')"
        )
    )
    # The whole scale, so that judges who agree alike look alike.
    scale = (
        alt.Scale(scheme="blueorange", reverse=True, domain=[-1, 1])
        if (both[value] < 0).any()
        else alt.Scale(scheme="blues", domain=[0, 1])
    )
    drawn = cells(
        base,
        alt.Color(f"{value}:Q", scale=scale, legend=None),
        alt.Text("number:N"),
        f"abs(datum.{value}) > 0.6",
        ["judge_a", "judge_b", value],
    )
    return captioned(
        drawn,
        f"Agreement of judges: {value}",
        f"{value} of every two judges; 1 is complete agreement." + undrawn(agreement[value]),
        60,
    )


@analysis("judge-confusion", JUDGES, "documents")
def judge_confusion(judges: Mapping[str, Qrels]) -> pd.DataFrame:
    """Which grades do two judges give the same documents?

    Fractional grades, such as means of several labels, are in bins: from each whole number to the
    next, or of width .1 where no grade is above 1. A bin is named by its lower end.

    Args:
        judges: name -> qrels: frame, file, or ir_datasets id.

    Returns:
        One row for every two judges and every two grades that they gave, with ``judge_a``,
        ``judge_b``, ``grade_a``, ``grade_b``, ``pairs`` (of query and document), ``share_of_a`` (of
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


@judge_confusion.shown
def _counts_by_grade(confusion: pd.DataFrame) -> pd.DataFrame:
    """The grades of judge a as rows, those of judge b as columns."""
    keys = ["judge_a", "judge_b", "grade_a"]
    rows = confusion[keys].drop_duplicates()
    counts = confusion.pivot(index=keys, columns="grade_b", values="pairs").astype("Int64")
    counts = counts.reindex(pd.MultiIndex.from_frame(rows)).reset_index(drop=True)
    graded = [f"{a} {grade:g}" for a, grade in zip(rows["judge_a"], rows["grade_a"])]
    by = rows["judge_b"].tolist()
    several = len(rows[["judge_a", "judge_b"]].drop_duplicates()) > 1
    counts.columns = [f"{'' if several else by[0] + ' '}{grade:g}" for grade in counts.columns]
    if several:
        counts.insert(0, "graded by", by)
    counts.insert(0, "graded", graded)
    return counts


@judge_confusion.chart
def judge_confusion_chart(
    confusion: pd.DataFrame, judge_a: str | None = None, judge_b: str | None = None
) -> Any:
    """The grades of two judges against each other.

    Args:
        confusion: the table.
        judge_a: one judge; None: every two judges.
        judge_b: another, in the order of the frame.
    """
    pairs = list(dict.fromkeys(zip(confusion["judge_a"], confusion["judge_b"])))
    wanted = pairs if judge_a is None and judge_b is None else [(judge_a, judge_b)]
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


def _confused(confusion: pd.DataFrame, judge_a: str, judge_b: str) -> Any:
    part = confusion[(confusion["judge_a"] == judge_a) & (confusion["judge_b"] == judge_b)]
    base = alt.Chart(part, width=alt.Step(64), height=alt.Step(40)).encode(
        x=alt.X("grade_b:O", title=f"grade by {judge_b}", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("grade_a:O", title=f"grade by {judge_a}", sort="descending"),
    )
    shares, legend = alt.Scale(scheme="blues", domain=[0, 1]), alt.Legend(orient="bottom")
    return cells(
        base,
        alt.Color("share_of_a:Q", title="share of the row", scale=shares, legend=legend),
        alt.Text("pairs:Q"),
        "datum.share_of_a > 0.6",
        ["grade_a", "grade_b", "pairs", "share_of_a"],
    )
