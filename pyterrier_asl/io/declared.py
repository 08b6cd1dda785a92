"""What a caller declares of a table: the names of its columns, and the grades of labels.

Everything that is read (files, frames, JSON) has one table of names, :data:`SYNONYMS`. A caller
replaces the names of a column by its name in a table, as in ``columns={"docno": "_id"}``. Labels
are numbers, or words for which the caller gives grades.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..common.notices import excerpt
from ..common.parameters import check_names
from .values import NUMBER, number_of

#: The names of each column, in lower case and with ``_``, in groups: a name of a later group counts
#: only without a name of an earlier one. The first group of ids and grades has PyTerrier's name and
#: ir_measures'. A run without scores is ordered by its ranks.
SYNONYMS: dict[str, tuple[tuple[str, ...], ...]] = {
    "qid": (
        ("qid", "query_id"),
        ("queryid", "q_id", "qno", "query_no", "query_number", "topic", "topic_id", "topicid")
        + ("topic_no", "topic_number", "question_id", "task_id"),
        ("query", "query_text", "question", "task", "task_name", "user_input"),
    ),
    "docno": (
        ("docno", "doc_id"),
        ("docid", "doc_no", "corpus_id", "document_id", "documentid", "document_no", "pid")
        + ("passage_id", "product_id"),
        ("doc", "document", "passage", "product", "item_id"),
    ),
    "label": (
        ("label", "relevance"),
        ("rel", "rating", "grade", "judgment", "judgement", "gain", "relevance_label"),
        ("score",),
    ),
    "score": (("score",), ("similarity", "sim", "retrieval_score"), ("rank", "ranking")),
    "rank": (("rank", "ranking"),),
    "doc_len": (("doc_len",),),
    "iteration": (("iteration",), ("iter",), ("subtopic", "subtopic_id")),
    "name": (
        ("name",),
        ("run",),
        ("system", "model", "method", "model_name", "system_name", "run_name", "run_id", "tag"),
    ),
    "track": (("track", "collection", "dataset"),),
    "measure": (("measure", "metric"), ("measure_name", "metric_name")),
    "value": (("value",), ("score",), ("main_score",)),
    "group": (("group", "category", "slice"),),
    "repetition": (("epoch", "seed", "fold", "repetition", "trial"),),
    "source": (("source",),),
    "judge": (
        ("judge", "judge_id"),
        ("annotator", "annotator_id", "assessor", "assessor_id", "rater", "rater_id")
        + ("worker", "worker_id"),
        ("model", "model_name"),
    ),
    "text": (("query", "title", "text", "contents", "body", "segment", "passage", "question"),),
}
#: Columns that may be missing.
OPTIONAL = frozenset({"rank", "name", "doc_len", "iteration", "track", "source", "judge"})

#: The names that a caller gives: our name -> the name in the table, or several with ``|``.
NamesOfColumns: TypeAlias = "Mapping[str, str] | str | None"
#: The grades that a caller gives: label -> grade.
GradesOfLabels: TypeAlias = "Mapping[str, float] | str | None"

#: The most different labels for which an error shows the option: others are no labels.
_MOST_LABELS = 12


@dataclass(frozen=True)
class DeclaredFile(os.PathLike[str]):
    """A file with names of its columns and grades of its labels; accepted wherever a file is.

    Attributes:
        path: the file.
        columns: what :func:`column_names` takes.
        grades: what :func:`~.grades.label_grades` takes.
    """

    path: str | os.PathLike[str]
    columns: NamesOfColumns = None
    grades: GradesOfLabels = None

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    __str__ = __fspath__


def column_names(columns: NamesOfColumns) -> dict[str, str]:
    """The names of columns that a caller gives, from an option or a dict.

    Args:
        columns: ``"docno=_id score=_score"``, or a dict from our names (the keys of
            :data:`SYNONYMS`) to names in the table; ``"_id|doc"`` where tables have one or the
            other; ``""``: the table has no such column; None: no names.

    Raises:
        ValueError: for another form, or a name that is none of ours.

    >>> column_names("docno=_id score='my score'"), column_names({"qid": "id"})
    ({'docno': '_id', 'score': 'my score'}, {'qid': 'id'})
    """
    names = pairs_of(columns, "columns", "docno=_id score=_score", str)
    check_names("columns", names, SYNONYMS, "columns")
    return names


def pairs_of(
    given: Any, option: str, example: str, value_of: Callable[[str], Any]
) -> dict[str, Any]:
    """The pairs of an option, ``'a=1 b=2'`` (names with blanks in quotation marks), or of a dict.

    Raises:
        ValueError: for another form, a name that is given twice, or a value that is none.

    >>> pairs_of("'not relevant'=0 yes=1", "grades", "yes=1", int)
    {'not relevant': 0, 'yes': 1}
    """
    how = f"{option} are pairs such as {example!r}, or a dict; names with blanks in quotation marks"
    if given is not None and not isinstance(given, (str, Mapping)):
        raise ValueError(f"{how}, not {type(given).__name__}")
    try:
        texts = shlex.split(given) if isinstance(given, str) else []
        pairs = [tuple(map(str.strip, text.rpartition("=")[::2])) for text in texts]
        if isinstance(given, Mapping):
            pairs = [(str(name), str(value)) for name, value in given.items()]
        named = {name: value_of(value) for name, value in pairs if name}
    except ValueError as error:
        raise ValueError(f"{how}, not {given!r} ({error})") from None
    if len(named) < len(pairs) or (isinstance(given, str) and not named):
        raise ValueError(f"{how}, not {given!r}")
    return named


def plain(name: Any) -> str:
    """The name of a column as :data:`SYNONYMS` has it.

    >>> plain("Query-ID"), plain(" Corpus id")
    ('query_id', 'corpus_id')
    """
    return re.sub(r"[-. ]+", "_", str(name).strip().lower())


def column_named(
    present: Collection[Any], key: str, what: str, columns: Mapping[str, str] | None = None
) -> Any:
    """The column of a key, by the name that the caller gives ('': none) or one of its names.

    Returns:
        The name of the column; None: there is none.

    Raises:
        ValueError: for two columns that could be the one, or without the name that is given.

    >>> column_named(["docid", "Doc_ID", "rank"], "docno", "the run")
    'Doc_ID'
    >>> column_named(["docid", "_id"], "docno", "the run", {"docno": "_id|id"})
    '_id'
    """
    given = (columns or {}).get(key)
    groups, name_of = (SYNONYMS[key], plain) if given is None else ([given.split("|")], str)
    for group in groups if given != "" else ():
        names = [name for same in group for name in present if name_of(name) == same]
        if len(names) > 1:
            both = f"both {' and '.join(map(str, names))}"
            if len({*names}) == 1:
                both = f"{len(names)} columns called {names[0]!r}"
            raise ValueError(f"{what}: there are {both}: keep one of them")
        if names:
            return names[0]
    if not given:
        return None
    raise ValueError(
        f"{what}: columns name {given} for {key}, but there are {_listed(present)}; where tables "
        f"differ give both names, such as '{key}={given}|{key}'"
    )


def find_columns(
    present: Collection[Any],
    wanted: Sequence[str],
    what: str,
    columns: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The name of each wanted column among the present ones; optional columns may be missing.

    Raises:
        ValueError: for columns that are missing, or present with two names.
    """
    names = {key: column_named(present, key, what, columns) for key in wanted}
    if "score" in names and names["score"] is None:
        names["score"] = names.get("rank")
    if missing := [key for key in wanted if names[key] is None and key not in OPTIONAL]:
        keys = " and no column ".join(" or ".join(SYNONYMS[key][0]) for key in missing)
        options = " ".join(f"{key}=..." for key in missing)
        raise ValueError(
            f"{what}: there is no column {keys}; there are {_listed(present)}: name it, "
            f"--columns '{options}' (columns= in Python)"
        )
    return {key: name for key, name in names.items() if name is not None}


def _listed(present: Collection[Any]) -> str:
    return ", ".join(map(str, present)) or "none"


def is_rank(name: Any, columns: Mapping[str, str] | None = None) -> bool:
    """Whether a column of scores has ranks, so that the smallest number is the best.

    >>> is_rank("Rank"), is_rank("score"), is_rank("place", {"rank": "place"})
    (True, False, True)
    """
    names = columns or {}
    return "score" not in names and (
        name in names.get("rank", "").split("|") or plain(name) in SYNONYMS["rank"][0]
    )


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
    if not 0 < len(words) <= _MOST_LABELS:
        return ""
    pairs = [f"{label}={grade:g}" for label, grade in grades.items()]
    pairs += [f'"{word}"=...' if " " in word else f"{word}=..." for word in words]
    return f"; give each label a grade: --grades '{' '.join(pairs)}' (grades= in Python)"
