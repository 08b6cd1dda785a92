"""The grades of two judges against each other, and how lenient a judge is."""

from __future__ import annotations

import numpy as np

from ..io.lazy import pd
from ..scoring.arrays import Floats, Ints
from .judges import Judges, shared_pairs

#: The width of the bins of fractional grades up to 1; grades beyond have bins of width 1.
_NARROW = 0.1


def grade_bins(grades: Floats) -> Floats:
    """The lower ends of the bins that grades fall into; whole grades are their own bins.

    Fractional grades, such as means of several labels, have bins from each whole number to the
    next; where none is above 1, bins of width .1.

    >>> grade_bins(np.array([0.0, 1.7, 2.0, 2.99])).tolist()
    [0.0, 1.0, 2.0, 2.0]
    >>> grade_bins(np.array([0.04, 0.3, 1.0])).tolist(), grade_bins(np.array([0.0, 7.0])).tolist()
    ([0.0, 0.3, 1.0], [0.0, 7.0])
    """
    if not are_binned(grades):
        return grades
    if grades.max() > 1:
        return np.floor(grades)
    return np.round(np.floor(np.round(grades / _NARROW, 9)) * _NARROW, 9)


def are_binned(grades: Floats) -> bool:
    """Whether grades have fractions, so that tables by grade have bins.

    >>> are_binned(np.array([0, 1.5])), are_binned(np.array([0.0, 2.0]))
    (True, False)
    """
    return bool(np.any(grades != np.floor(grades)))


def judged_by_both(judges: Judges, a: str, b: str) -> tuple[Ints, Ints]:
    """The rows, in each judge's judgements, of the pairs that both judged.

    Raises:
        ValueError: where there are none.
    """
    at = shared_pairs(judges.members[a].judgements, judges.members[b].judgements)
    if not len(at[0]):
        raise ValueError(
            f"judges {a!r} and {b!r} have no query and document in common: are the ids alike?"
        )
    return at


def confusion_of(judges: Judges, reference: str | None = None) -> pd.DataFrame:
    """Counts documents by the grades of two judges: every two, or the reference and each other.

    Returns:
        ``reference``, ``judge``, ``grade_a``, ``grade_b``, ``pairs``, ``share_of_a``; fractional
        grades are in bins, by their lower ends (:func:`grade_bins`).
    """
    parts = []
    for a, b in judges.pairs(reference):
        rows = judged_by_both(judges, a, b)
        grades_a, grades_b = (
            grade_bins(judges.members[name].judgements.grades)[at] for name, at in zip((a, b), rows)
        )
        counts = pd.crosstab(grades_a, grades_b, rownames=["grade_a"], colnames=["grade_b"])
        part: pd.DataFrame = counts.reset_index().melt("grade_a", value_name="pairs")
        part = part.astype({"grade_b": float}).sort_values(
            ["grade_a", "grade_b"], ignore_index=True
        )
        part["share_of_a"] = part["pairs"] / part.groupby("grade_a")["pairs"].transform("sum")
        part.insert(0, "reference", a)
        part.insert(1, "judge", b)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def counts_by_grade(confusion: pd.DataFrame) -> pd.DataFrame:
    """The grades of the reference as rows, the grades of the judge as columns."""
    keys = ["reference", "judge", "grade_a"]
    rows = confusion[keys].drop_duplicates()
    counts = confusion.pivot(index=keys, columns="grade_b", values="pairs").astype("Int64")
    counts = counts.reindex(pd.MultiIndex.from_frame(rows)).reset_index(drop=True)
    graded = [f"{a} {grade:g}" for a, grade in zip(rows["reference"], rows["grade_a"])]
    by = rows["judge"].tolist()
    several = len(rows[["reference", "judge"]].drop_duplicates()) > 1
    counts.columns = [f"{'' if several else by[0] + ' '}{grade:g}" for grade in counts.columns]
    if several:
        counts.insert(0, "graded by", by)
    counts.insert(0, "graded", graded)
    return counts


def leniency_of(judges: Judges, reference: str) -> pd.DataFrame:
    """Share of relevant documents and mean grade by each judge, by the reference's grades."""
    original = judges.members[reference].judgements
    parts = []
    for name in judges.others(reference):
        judge = judges.members[name]
        at, rows = judged_by_both(judges, reference, name)
        grades = judge.judgements.grades[rows]
        frame = pd.DataFrame(
            {
                "judge": name,
                "grade": grade_bins(original.grades)[at],
                "relevant": judge.relevant[rows],
                "own_grade": grades,
            }
        )
        parts.append(
            frame.groupby(["judge", "grade"], as_index=False).agg(
                documents=("own_grade", "size"),
                relevant=("relevant", "mean"),
                mean_grade=("own_grade", "mean"),
            )
        )
    return pd.concat(parts, ignore_index=True)
