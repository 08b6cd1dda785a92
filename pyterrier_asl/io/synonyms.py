"""Names of columns: the names in use, and the names that a caller gives.

Everything that is read (files, frames, JSON) has one table of names, :data:`SYNONYMS`. A caller
replaces the names of a column by its name in a table, as in ``columns={"docno": "_id"}``.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..common.choices import check_names

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
