"""Grades of labels: numbers, or words for which a caller gives grades."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..common.notices import excerpt
from .synonyms import GradesOfLabels, pairs_of
from .values import NUMBER, number_of

#: The most different labels for which an error shows the option: others are no labels.
_LISTED = 12


def label_grades(grades: GradesOfLabels) -> dict[str, float]:
    """The grades of labels that a caller gives, from an option or a dict.

    Args:
        grades: ``"E=3 S=2 C=1 I=0"``, or a dict from label to grade; a negative grade: not judged;
            None: labels are numbers.

    Raises:
        ValueError: for another form.

    >>> label_grades("'not relevant'=0 relevant=1")
    {'not relevant': 0.0, 'relevant': 1.0}
    """
    return pairs_of(grades, "grades", "E=3 'not relevant'=0", lambda text: number_of(text, "grade"))


def grade_of(label: Any, grades: Mapping[str, float]) -> float:
    """The grade of a label; NaN for a missing label.

    A number that ``grades`` do not name is its own grade, unless they name numbers.

    Raises:
        ValueError: for another label.

    >>> grade_of("E", {"E": 3.0}), grade_of(" 2", {"E": 3.0}), grade_of(True, {})
    (3.0, 2.0, 1.0)
    >>> grade_of("3", {"1": 0.0, "2": 1.0})
    Traceback (most recent call last):
    ValueError: the label '3' is not among the grades that are given (1, 2)
    """
    if (text := str(label).strip()) in grades:
        return grades[text]
    number = number_of(label, "label")
    if number == number and any(map(NUMBER.fullmatch, grades)):
        raise ValueError(
            f"the label {excerpt(label)} is not among the grades that are given "
            f"({', '.join(grades)})"
        )
    return number


def grades_hint(labels: Iterable[Any], grades: Mapping[str, float]) -> str:
    """The labels without a grade, with the option to write; nothing for too many labels.

    >>> grades_hint(["S", "2", "C", "S", None], {})
    "; give each label a grade: --grades 'S=... C=...' (grades= in Python)"
    """
    texts = dict.fromkeys(str(label).strip() for label in labels if label is not None)
    words = [text for text in texts if text and text not in grades and not NUMBER.fullmatch(text)]
    if not 0 < len(words) <= _LISTED:
        return ""
    pairs = [f"{label}={grade:g}" for label, grade in grades.items()]
    pairs += [f'"{word}"=...' if " " in word else f"{word}=..." for word in words]
    return f"; give each label a grade: --grades '{' '.join(pairs)}' (grades= in Python)"
