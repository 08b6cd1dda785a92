"""Scores that other programs computed: tables of values per system, topic and measure.

These forms can be read (``.csv``, ``.tsv``, ``.parquet``, compressed or not):

* long tables ``name, qid, measure, value``, with ``track`` for several collections, like
  PyTerrier's ``perquery`` frames; without ``name`` the name of the file is the system;
* tables with ``name``, ``qid`` and a column per measure, like the frames of
  :func:`~pyterrier_asl.evaluate`;
* the output of ``trec_eval -q`` and ``ir_measures -q``, one file per system;
* wide tables of one measure: ``qid`` and a column per system;
* the folder of an experiment (``save_dir``): its ``perquery.csv``.

Rows of a topic ``all``, ``average``, ``avg`` or ``mean`` are means and are left out.

Other names of the columns are ``run``, ``system``, ``model`` or ``method``; ``query_id``,
``query``, ``topic`` or ``task``; ``metric``; ``score`` or ``main_score``; ``collection`` or
``dataset``. Rename others with pandas.

The measure of a table without a measure is the name of the file, if it is a measure
(``nDCG@10.csv``), otherwise the name of the column of values, or ``score`` in a wide table.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ..io.files import BY_QUERY, check_file, file_format, local_path, read_arrow
from ..io.lazy import pd
from ..io.names import check_names
from ..io.notices import counted, excerpt
from ..io.runs import run_name
from ..io.tables import ALL
from ..io.trec_text import open_text
from ..measures.directions import higher_is_better
from ..measures.names import measure_named, words
from ..scoring.arrays import Floats

#: The names that columns can have; the names here first.
_ALIASES = {
    "name": ("name", "run", "system", "model", "method"),
    "qid": ("qid", "query_id", "query", "topic", "task"),
    "measure": ("measure", "metric"),
    "value": ("value", "score", "main_score"),
    "track": ("track", "collection", "dataset"),
}
_KEYS = ("track", "name", "qid", "measure")
#: Columns of a table without a header, by their number.
_PRINTED = {4: ["name", "qid", "measure", "value"], 5: ["track", "name", "qid", "measure", "value"]}
#: Names of means in the place of a topic.
_MEANS = frozenset({ALL, "average", "avg", "mean"})
#: The measure of a wide table without a measure.
_SCORE = "score"


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Values of systems for topics, by measure and collection.

    Attributes:
        rows: ``track`` ('' for a single collection), ``name``, ``qid``, ``measure``, all text, and
            ``value``; each key once.
        lower_is_better: unknown measures for which lower values are better.
        higher_is_better: unknown measures for which higher values are better.
        fill: value used for missing scores; None: missing scores are an error.
    """

    rows: pd.DataFrame
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()
    fill: float | None = None

    @property
    def measures(self) -> list[str]:
        """The measures of the table."""
        return list(pd.unique(self.rows["measure"]))

    @property
    def tracks(self) -> list[str]:
        """The collections; [''] for a single one without a name."""
        return list(pd.unique(self.rows["track"]))

    def systems(self, names: Sequence[str]) -> ScoreTable:
        """The table of some of the systems, in this order.

        Raises:
            ValueError: for a system that the table lacks, or that is named twice.
        """
        check_names("scores", names, pd.unique(self.rows["name"]), "systems")
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"the system {twice[0]!r} is named twice: name different systems")
        parts = [self.rows[self.rows["name"] == name] for name in names]
        return replace(self, rows=pd.concat(parts, ignore_index=True))

    def measure_or(self, default: str) -> str:
        """The only measure of the table; a default if it has several."""
        return self.measures[0] if len(self.measures) == 1 else default

    def names_in(self, measures: Any) -> list[str]:
        """The names of one or several measures; a text can name several that the table has.

        >>> frame = pd.DataFrame({"name": ["a"], "qid": ["q"], "AP": [0.5], "my score": [1.0]})
        >>> read_scores(frame).names_in(["my score", "map RR"])
        ['my score', 'map', 'RR']
        """
        several = not isinstance(measures, str) and isinstance(measures, Iterable)
        known = {canonical_name(name) for name in self.measures}
        texts = map(str, measures if several else [measures])
        names = ([text] if canonical_name(text) in known else words(text) for text in texts)
        return list(chain.from_iterable(names))

    def direction(self, measure: str) -> bool:
        """Whether higher values of a measure are better.

        Raises:
            ValueError: for an unknown measure without a given direction.
        """
        given = dict.fromkeys(self.higher_is_better, True)
        given |= dict.fromkeys(self.lower_is_better, False)
        named = measure_named(measure)
        up = given.get(measure, None if named is None else higher_is_better(named))
        if up is None:
            raise ValueError(
                f"the direction of {measure!r} is not known: use lower_is_better=[{measure!r}] "
                "(--lower-is-better) or higher_is_better (--higher-is-better)"
            )
        return up

    def matrix(self, measure: str, track: str = "") -> pd.DataFrame:
        """The values of systems (rows) and topics (columns) of a collection.

        Raises:
            ValueError: for a measure or a collection that the table lacks, or missing values.

        >>> table = read_scores(pd.DataFrame({"qid": [1, 2], "a": [0.5, 1.0], "b": [0.0, 0.25]}))
        >>> table.matrix("score").loc["b"].tolist()
        [0.0, 0.25]
        """
        if track not in self.tracks:
            raise ValueError(f"the scores have no collection {track!r}; they have {self.tracks}")
        named = {canonical_name(name): name for name in reversed(self.measures)}
        column = named.get(canonical_name(measure))
        rows = self.rows[(self.rows["track"] == track) & (self.rows["measure"] == column)]
        if rows.empty:
            raise ValueError(
                f"the scores have no measure {measure!r}{f' in {track}' if track else ''}; they "
                f"have {', '.join(self.measures)}: choose one of them, or rename it in the table"
            )
        names, qids = (list(pd.unique(rows[key])) for key in ("name", "qid"))
        wide = rows.pivot(index="name", columns="qid", values="value").loc[names, qids]
        missing = np.argwhere(wide.isna().to_numpy())
        if len(missing) and self.fill is None:
            system, topic = missing[0].tolist()
            raise ValueError(
                f"{counted(len(missing), 'value')} of {measure} missing, the first of system "
                f"{names[system]!r} for topic {qids[topic]!r}: add the missing values, or pass a "
                "value to use instead (fill=0, --fill 0)"
            )
        return wide if self.fill is None else wide.fillna(self.fill)

    def values(self, measure: str, track: str = "") -> Floats:
        """The values of :meth:`matrix` as an array, shape (S, Q)."""
        return self.matrix(measure, track).to_numpy(dtype=np.float64)


def read_scores(
    scores: Any,
    *,
    lower_is_better: Iterable[str] = (),
    higher_is_better: Iterable[str] = (),
    fill: float | None = None,
) -> ScoreTable:
    """Reads scores per topic that another program computed.

    Args:
        scores: a file, several, or a folder of them, in a form that is listed in
            :mod:`pyterrier_asl.evaluation.scores`; or a frame.
        lower_is_better: unknown measures for which lower values are better.
        higher_is_better: unknown measures for which higher values are better.
        fill: value used for missing scores; None: missing scores are an error.

    Raises:
        ValueError: for a file that is not a table of scores, a row with more or fewer fields than
            the header, a value that is not a number or occurs twice, with the file.
        OSError: for a file that cannot be read.

    >>> rows = {"name": ["a", "a"], "qid": ["1", "2"], "measure": ["AP", "AP"], "value": [0.5, 1.0]}
    >>> table = read_scores(pd.DataFrame(rows))
    >>> table.measures, table.direction("AP"), table.values("map").tolist()
    (['AP'], True, [[0.5, 1.0]])
    """
    if isinstance(scores, pd.DataFrame):
        source = "the frame of scores"
        parts = [(source, _long(scores, "", source))]
    else:
        files = _files([scores] if isinstance(scores, (str, os.PathLike)) else list(scores))
        parts = [
            (str(file), _long(_frame(file), run_name(file).removesuffix(".csv"), str(file)))
            for file in files
        ]
    rows = pd.concat([part for _, part in parts], keys=[source for source, _ in parts])
    twice = rows.duplicated(list(_KEYS))
    if twice.any():
        track, name, qid, measure = rows[list(_KEYS)][twice].iloc[0]
        where = f" in {track}" if track else ""
        raise ValueError(
            f"the scores have two values of {measure} of {name!r} for topic {qid!r}"
            f"{where}, the second in {rows.index[twice][0][0]}"
        )
    table = ScoreTable(
        rows.reset_index(drop=True), tuple(lower_is_better), tuple(higher_is_better), fill
    )
    for names in (table.lower_is_better, table.higher_is_better):
        check_names("the direction", names, table.measures, "measures of the scores")
    return table


def canonical_name(name: str) -> str:
    """The name of a measure as ir_measures prints it; an unknown name does not change."""
    measure = measure_named(name)
    return name if measure is None else str(measure)


def _files(paths: Iterable[Any]) -> list[Path]:
    """The files at these paths; the files of a folder are ordered by name."""
    files = []
    for path in map(local_path, paths):
        found = sorted(path.glob("[!.]*")) if path.is_dir() else [path]
        if path / BY_QUERY in found:  # of an experiment, beside its runs
            found = [path / BY_QUERY]
        if not found:
            raise ValueError(f"the folder {path} holds no files")
        files += found
    if not files:
        raise ValueError("no files of scores are given: give at least one")
    return files


def _frame(path: Path) -> pd.DataFrame:
    """The table in a file, ids as text."""
    check_file(path)
    form = file_format(path)
    try:
        if form is None:
            return _text_frame(path)
        table = pq.ParquetFile(path).read() if form == "Parquet" else read_arrow(path)
        table.validate(full=True)  # pandas does not check offsets
        return pd.DataFrame(table.to_pandas())
    except Exception as error:  # a damaged file can raise any error
        if str(path) in str(error):
            raise
        what = str(error) or type(error).__name__
        raise ValueError(f"{path} cannot be read as a table of scores: {what}") from error


def _text_frame(path: Path) -> pd.DataFrame:
    with open_text(path) as stream:
        text = stream.read().decode("utf-8-sig")
    first = text.lstrip().partition("\n")[0]
    if not text.strip(", \t\r\n"):
        raise ValueError(f"{path} is blank: give a table of scores")
    if not text.endswith(("\n", "\r")):
        raise ValueError(
            f"{path}, line {len(text.splitlines())}: the last line has no line feed, so the table "
            "may be cut off: complete it, or add a line feed"
        )
    separator = "\t" if "\t" in first else "," if "," in first else None
    lines: Iterable[tuple[int, list[str]]] = enumerate(map(str.split, text.splitlines()), 1)
    if separator is not None:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        lines = ((reader.line_num, list(map(str.strip, row))) for row in reader)
    header, *rows = _rows(path, ((n, row) for n, row in lines if any(row)))
    if separator is not None and (
        not header[0] or any(_column(header, key) is not None for key in ("qid", "name"))
    ):
        return pd.DataFrame(rows, columns=header, dtype=object).replace("", np.nan)
    table = pd.DataFrame([header, *rows], dtype=object)
    if names := _PRINTED.get(table.shape[1]):
        return table.set_axis(names, axis=1)
    if table.shape[1] != 3:
        raise ValueError(
            f"{path} is not a table of scores: its first line is {excerpt(first)}, neither a "
            "header with qid or name, nor output of trec_eval -q or ir_measures -q. If it is a "
            "header, rename its columns to name, qid, measure and value"
        )
    by_trec_eval = not (table[0] == ALL).any() and (
        (table[1] == ALL).any()
        or all(canonical_name(name) != name or name[:1].isalpha() for name in pd.unique(table[0]))
    )
    names = ["measure", "qid"] if by_trec_eval else ["qid", "measure"]
    return table.set_axis([*names, "value"], axis=1)


def _rows(path: Path, lines: Iterable[tuple[int, list[str]]]) -> list[list[str]]:
    """The rows of lines, which must all have as many fields as the first.

    Raises:
        ValueError: for another number of fields, and for a field with a line break, with file and
            line.
    """
    rows: list[list[str]] = []
    for number, row in lines:
        if broken := [field for field in row if "\n" in field or "\r" in field]:
            raise ValueError(
                f"{path}, line {number}: a field has a line break ({excerpt(broken[0])}): remove "
                "it, or a quotation mark that does not belong there"
            )
        if rows and len(row) != len(rows[0]):
            raise ValueError(
                f"{path}, line {number}: found {counted(len(row), 'field')} ({excerpt(row)}), "
                f"but the first line has {len(rows[0])} ({excerpt([*rows[0]])})"
            )
        rows.append(row)
    return rows


def _column(columns: Iterable[Any], key: str) -> Any:
    """The column of a key, by one of its usual names."""
    there = {str(column).strip().lower(): column for column in columns}
    return next((there[alias] for alias in _ALIASES[key] if alias in there), None)


def _long(table: pd.DataFrame, name: str, source: str) -> pd.DataFrame:
    """A table of scores with one row per value."""
    if (first := table.columns[:1].tolist()) and first[0] in ("", "Unnamed: 0"):
        if _column(table.columns, "qid") is None:
            table = table.rename(columns={first[0]: "qid"})
        else:
            table = table.drop(columns=first)  # the index of a frame
    named = {_column(table.columns, key): key for key in _ALIASES}
    header = _column(table.columns, "value")
    table = table.rename(columns={old: key for old, key in named.items() if old is not None})
    if len(twice := table.columns[table.columns.duplicated()]):
        raise ValueError(f"{source} has more than one column {twice[0]}")
    own = name if measure_named(name) is not None else _SCORE if header is None else str(header)
    table = _melted(table, source)
    filled = {"track": "", "name": name, "measure": own}
    table = table.assign(**{key: text for key, text in filled.items() if key not in table})
    for key in _KEYS:
        if missing := int(table[key].isna().sum()):
            raise ValueError(f"{source} has {counted(missing, 'row')} without {key}")
    table = table.astype({key: str for key in _KEYS})
    table = table.loc[~table["qid"].str.lower().isin(_MEANS), [*_KEYS, "value"]]
    values = pd.to_numeric(table["value"], errors="coerce").astype(float)
    wrong = values.isna() & table["value"].notna()
    if wrong.any():
        row = table[wrong].iloc[0]
        raise ValueError(
            f"{source}: the {row['measure']} of {row['name'] or 'the system'} for topic "
            f"{row['qid']!r} is {row['value']!r}, which is not a number"
        )
    if not len(table):
        raise ValueError(f"{source} has no value of a topic: print values per topic (-q)")
    return table.assign(value=values).reset_index(drop=True)


def _melted(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """A table with a column ``value``: columns of measures or systems become rows."""
    has = ", ".join(map(str, table.columns))
    keys = [key for key in _KEYS if key in table]
    if "qid" not in keys:
        raise ValueError(f"{source} has no column qid; it has {has}: give the values of each topic")
    if "value" in table:
        return table
    if "measure" in keys:
        raise ValueError(f"{source} has a column measure, but no column value; it has {has}")
    rest = [column for column in table.columns if column not in keys]
    measures = "name" in keys or all(measure_named(str(name)) is not None for name in rest)
    return table.melt(keys, var_name="measure" if measures else "name", value_name="value")
