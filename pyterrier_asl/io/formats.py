"""Recognises the format of a file from its first lines, and reads JSON and tables with a header.

Lines without a header (TREC's, MS MARCO's) are read by :mod:`.trec_text`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from ..common.lazy import pc, pd
from ..common.notices import counted, excerpt
from .declared import OPTIONAL, SYNONYMS, grade_of, grades_hint, plain
from .trec_text import MARK, Layout, fits, whole_number
from .values import NUMBER, number_of

#: Columns of numbers, and the types of columns that are not text.
_NUMBERS = ("score", "label")
_TYPES = {"score": pa.float64(), "label": pa.float64(), "rank": pa.int64()}
#: The columns of JSON of two levels: query -> document -> score.
NESTED = ["qid", "docno", "score"]

#: What separates the columns of a table with a header -> its name in errors.
_SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars", " ": "blanks"}
#: Columns of values without a header, by their number.
_VALUES = {
    3: ("measure", "qid", "value"),
    4: ("name", "qid", "measure", "value"),
    5: ("track", "name", "qid", "measure", "value"),
}
#: The longest cell of a table, such as the text of a document.
_LONGEST = 1 << 24
#: Lines before the first one that counts: comments, and the separator that Excel writes.
_SKIPPED = re.compile(rb"#|sep=.\s*$", re.IGNORECASE)
#: Forms of others that cannot be read: their name -> how the first line of text begins, or the
#: names in the outer object of JSON.
_OTHER_TEXT = {"LETOR and SVMrank (label qid:ID ...)": re.compile(rb"\s*\S+\s+qid:\S")}
_OTHER_JSON = {
    "LlamaIndex (queries, corpus, relevant_docs)": {"queries", "corpus", "relevant_docs"},
    "requests of Elasticsearch's _rank_eval": {"requests"},
    "results of Elasticsearch's _rank_eval": {"metric_score", "details"},
    "promptfoo": {"results", "evalId"},
}
#: What is read instead of another form.
_INSTEAD = (
    "save a table whose first line names the columns (qid docno score, of qrels qid docno label), "
    "or JSON {query: {document: number}}"
)
#: Names of columns of which a header has one.
_KEYS = frozenset(name for key in ("qid", "docno", "name") for g in SYNONYMS[key] for name in g)


@dataclass(frozen=True)
class Format:
    """A format of a file.

    Attributes:
        name: its name in errors.
        separator: the character between columns; '' in JSON.
        line: the number of its first line in the file, from 0.
        header: the names of its columns, if they are not in this line.
        layout: the layout of lines that :mod:`.trec_text` reads.
    """

    name: str
    separator: str
    line: int = 0
    header: tuple[str, ...] = ()
    layout: Layout | None = None


def recognise(
    head: bytes,
    layouts: Sequence[Layout] = (),
    names: Iterable[str] = (),
    path: str | os.PathLike[str] = "the file",
    is_wide: bool = False,
) -> Format | None:
    r"""The format of a file, by its first line that is neither blank nor a comment.

    Args:
        head: the beginning of the file.
        layouts: what lines without a header can be.
        names: the names of columns that the caller gives.
        path: the file, for errors.
        is_wide: whether names of columns can be numbers, ids of queries.

    Returns:
        The format, with a layout for lines without a header, with blanks or tabs; None for others.

    Raises:
        ValueError: for a form of others.

    >>> recognise(b"Query-ID;Rating\n1;2\n").name, recognise(b'{"q": {"d": 1}}').name
    ('a table separated by semicolons', 'JSON')
    >>> from .trec_text import RANKED, RUN
    >>> recognise(b"q d 1\n", [RUN, RANKED]).name
    '3 columns (qid docno rank-or-score)'
    """
    lines = enumerate(line.lstrip(MARK) for line in io.BytesIO(head))
    number, line = next(((n, x) for n, x in lines if x.strip() and not _SKIPPED.match(x)), (0, b""))
    if re.match(rb"\s*(\{\s*[\"}]|\[\s*[{\]]|[{[]\s*$)", line):
        return Format("JSON", "")
    for other, beginning in _OTHER_TEXT.items():
        if beginning.match(line):
            raise ValueError(f"{path} has the form of {other}: {_INSTEAD}")
    for layout in layouts:
        if fits(line.split(), layout):
            return Format(str(layout), " ", layout=layout)
    keys = _KEYS.union(plain(part) for name in names for part in name.split("|"))
    for separator, name in _SEPARATORS.items():
        fields = line.split(None if name == "blanks" else separator.encode())
        texts = [plain(field.decode("utf-8", "replace").strip("\"' \r\n")) for field in fields]
        has_index = not (layouts or texts[0] or len(texts) < 2)
        has_number = any(text == "all" or NUMBER.fullmatch(text) for text in texts)
        is_header = has_index or len(keys.intersection(texts)) > (name == "blanks")
        if is_header and (is_wide or not has_number):
            return Format(f"a table separated by {name}", separator, number)
    return None


def recognise_values(text: bytes) -> Format | None:
    r"""Values per topic without a header, from the first value on; None: there is none.

    >>> recognise_values(b"Results:\nmap\t301\t0.5\n").name
    'values separated by tabs'
    """
    lines = list(io.StringIO(text.decode("utf-8", "replace"), newline=""))
    for separator, name in _SEPARATORS.items():
        for number, line in enumerate(lines):
            fields = line.split(None if name == "blanks" else separator)
            if (header := _VALUES.get(len(fields))) and NUMBER.fullmatch(fields[-1].strip()):
                return Format(f"values separated by {name}", separator, number, header)
    return None


def read_rows(path: Path, text: bytes, form: Format, *, is_draft: bool = False) -> pd.DataFrame:
    """The rows of JSON or of a table, by the numbers of their lines.

    Args:
        path: the file, for errors.
        text: its content.
        form: its format.
        is_draft: whether somebody fills in the file: cells at the end of a row and the end of the
            last line may be missing.

    Returns:
        Cells as text, in JSON as Python objects. The name of the index is 'line', or 'record' in
        JSON that is one object.

    Raises:
        ValueError: for a line that cannot be read, with its number and its text.
    """
    if b"\0" in text:
        raise ValueError(f"{path} is a binary file (it holds NUL bytes), not {form.name}")
    if not form.separator:
        return _json(path, text.removeprefix(MARK))
    try:
        content = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}, {form.name}, is not UTF-8: {error}") from None
    rows: dict[int, list[str]] = {}
    lines = _lines(path, content, form, is_draft)
    header = [*form.header] or [*map(str.strip, next(lines)[1])]
    for number, row in lines:
        row += [""] * is_draft * (len(header) - len(row))
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {number}: found {counted(len(row), 'field')} ({excerpt(row)}), "
                f"but the first line has {len(header)} ({excerpt(header)})"
            )
        rows[number] = row if is_draft else [*map(str.strip, row)]
    return pd.DataFrame([*rows.values()], [*rows], header, dtype=object).rename_axis("line")


def _lines(path: Path, text: str, form: Format, is_draft: bool) -> Iterator[tuple[int, list[str]]]:
    """The numbers and the cells of lines that are not blank, from the header on."""
    lines: Iterator[str] = islice(io.StringIO(text, newline=""), form.line, None)
    if form.separator == " ":
        lines = (" ".join(line.split()) for line in lines)
    csv.field_size_limit(_LONGEST)
    quoting: Literal[0, 3] = csv.QUOTE_NONE if form.separator == " " else csv.QUOTE_MINIMAL
    reader = csv.reader(lines, delimiter=form.separator, strict=True, quoting=quoting)
    try:
        for row in reader:
            if any(map(str.strip, row)):
                yield form.line + reader.line_num, row
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {form.line + reader.line_num}: {error}, in {form.name}"
        ) from None


def _json(path: Path, text: bytes) -> pd.DataFrame:
    """The rows of JSON lines, of a list of objects, or of query -> document -> value."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        lines = enumerate(text.split(b"\n"), 1)
        rows = {n: json_object(line, f"{path}, line {n}") for n, line in lines if line.strip()}
        return pd.DataFrame([*rows.values()], [*rows], dtype=object).rename_axis("line")
    values = [*whole.values()] if isinstance(whole, dict) else []
    for form, names in _OTHER_JSON.items() if values else ():
        if names.issubset(whole):
            raise ValueError(f"{path} is JSON of {form}: {_INSTEAD}")
    is_nested = [isinstance(value, (dict, list)) for value in values]
    has_keys = bool(values) and not _KEYS.isdisjoint(map(plain, whole))
    is_row = bool(values) and not (all(is_nested) if has_keys else any(is_nested))
    if not values or is_row or has_keys:
        try:
            frame = pd.DataFrame([whole] if is_row else whole, dtype=object)
        except ValueError as error:
            raise ValueError(f"{path} is JSON of another form ({error}): {_INSTEAD}") from None
    else:
        frame = pd.DataFrame(_triples(path, whole), columns=NESTED, dtype=object)
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="line" if is_row else "record"))


def _triples(path: Path, whole: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """Query, document and value of JSON of two levels."""
    triples = []
    for outer, documents in whole.items():
        if not isinstance(documents, dict):
            form = "query -> list of documents" if isinstance(documents, list) else "another form"
            raise ValueError(
                f"{path} is JSON of {form} ({outer!r}: {excerpt(documents)}): {_INSTEAD}"
            )
        for inner, value in documents.items():
            if isinstance(value, (dict, list)):
                raise ValueError(
                    f"{path} is JSON of three levels ({outer!r} -> {inner!r} -> ...): save the two "
                    f"levels below {outer!r} in a separate file"
                )
            triples.append((outer, inner, value))
    return triples


def json_object(line: str | bytes, where: str) -> dict[str, Any]:
    """The object in a line of JSON lines.

    Raises:
        ValueError: with the place, for a line that is no object, or nested too deeply for Python.

    >>> json_object('{"qid": "1"}', "a.jsonl, line 1")
    {'qid': '1'}
    """
    reason = "it has no names and values"
    try:
        if isinstance(row := json.loads(line), dict):
            return row
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:  # UnicodeDecodeError is one
        reason = str(error)
    raise ValueError(f"{where}: this is not a JSON object ({reason}): {excerpt(line.strip())}")


def cells_of(
    path: Path, rows: pd.DataFrame, name: Any, key: str, grades: Mapping[str, float]
) -> pa.Array:
    """A column of rows from :func:`read_rows`: ids, numbers, or null for optional values.

    Raises:
        ValueError: for a cell that is no id or number, with its line and its text.
    """
    cells, values = rows[name], []
    kind = _TYPES.get(key, pa.large_string())
    with suppress(pa.ArrowException, TypeError):  # most columns hold text only
        column = pa.array(cells, pa.large_string())
        typed = pc.cast(column, kind)
        # Text must be neither empty nor broken into lines, as a wrong quotation mark causes.
        is_good = (
            pc.is_finite(typed)
            if key in _NUMBERS
            else pc.match_substring_regex(column, r"\A[^\r\n]+\z")
        )
        if not column.null_count and pc.all(is_good).as_py() and not (grades and key == "label"):
            return typed
    for line, cell in cells.items():
        try:
            values.append(_value_of(cell, key, grades))
        except ValueError as error:
            row = excerpt(" ".join(map(str, rows.loc[line])))
            hint = grades_hint(cells, grades) if key == "label" else ""
            raise ValueError(f"{path}, {rows.index.name} {line}: {error}: {row}{hint}") from None
    return pa.array(values, kind)


def _value_of(cell: Any, key: str, grades: Mapping[str, float]) -> Any:
    if key in _NUMBERS:
        number = grade_of(cell, grades) if key == "label" else number_of(cell, key, infinite=True)
        if not math.isnan(number):
            return number
        raise ValueError(
            f"the {key} is missing{' (-1 if the document is not judged)' * (key == 'label')}"
        )
    if isinstance(cell, str) and re.search("[\r\n]", cell):
        raise ValueError(f"the {key} has a line break: is a quotation mark wrong?")
    if isinstance(cell, (str, int)) and not isinstance(cell, bool) and cell != "":
        return whole_number(str(cell).encode()) if key == "rank" else str(cell)
    if key in OPTIONAL:
        return None
    is_other = "" if cell in ("", None) else f"{cell!r}, which is neither text nor a whole number"
    raise ValueError(f"the {key} is {is_other or 'missing'}")
