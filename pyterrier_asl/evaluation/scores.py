"""Scores that others computed: tables of a value for each system, topic and measure, without runs.

Read are (``.csv``, ``.tsv``, ``.parquet``, ``.jsonl``, compressed or not):

* long tables ``name, qid, measure, value``, with ``track`` where there are several collections, as
  PyTerrier's ``perquery`` frames are; a file without ``name`` is about the system it is called by,
  one without ``measure`` about one measure that has no name there;
* tables with a column for each measure beside ``name`` and ``qid``, as of
  :func:`~pyterrier_asl.evaluate`;
* what ``trec_eval -q`` and ``ir_measures -q`` print, one file a system;
* wide tables of one measure that has no name there: a column for each system beside ``qid``.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ..io.files import check_file, file_format, local_path, read_arrow
from ..io.lazy import pd
from ..io.names import check_names
from ..io.runs import run_name
from ..io.tables import ALL, counted
from ..io.trec_text import open_text
from ..measures.names import higher_is_better, measure_named
from ..scoring.arrays import Floats

#: What columns may be called; ours first.
_ALIASES = {
    "name": ("name", "run", "system"),
    "qid": ("qid", "query_id", "query", "topic"),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
    "track": ("track", "collection", "dataset"),
}
_KEYS = ("track", "name", "qid", "measure")


@dataclass(frozen=True)
class ScoreTable:
    """Values of systems for topics, by measure and collection.

    Attributes:
        rows: ``track`` ('' where there is one collection), ``name``, ``qid``, ``measure`` ('' where
            the table does not name it), all text, and ``value``; each key once.
        lower_is_better: measures of which less is better, where that is not known by their names.
        higher_is_better: measures of which more is better, where that is not known by their names.
        fill: what stands for a missing value; None: that is an error.
    """

    rows: pd.DataFrame
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()
    fill: float | None = None

    @property
    def measures(self) -> list[str]:
        """The measures that it has."""
        return [name for name in pd.unique(self.rows["measure"]) if name]

    @property
    def tracks(self) -> list[str]:
        """The collections; [''] where there is one without a name."""
        return list(pd.unique(self.rows["track"]))

    def systems(self, names: Sequence[str]) -> ScoreTable:
        """The same of some of the systems, in this order.

        Raises:
            ValueError: for a system that is not there.
        """
        check_names("scores", names, pd.unique(self.rows["name"]), "systems")
        parts = [self.rows[self.rows["name"] == name] for name in names]
        return replace(self, rows=pd.concat(parts, ignore_index=True))

    def direction(self, measure: str) -> bool:
        """Whether more of a measure is better.

        Raises:
            ValueError: where that is not known.
        """
        for names, up in ((self.lower_is_better, False), (self.higher_is_better, True)):
            if measure in names:
                return up
        usual = None if (named := measure_named(measure)) is None else higher_is_better(named)
        if usual is None:
            raise ValueError(
                f"whether more of {measure!r} is better is not known: say "
                f"lower_is_better=[{measure!r}] (--lower-is-better) or higher_is_better "
                "(--higher-is-better)"
            )
        return usual

    def matrix(self, measure: str, track: str = "") -> pd.DataFrame:
        """The values of systems (rows) for the topics (columns) of a collection.

        Raises:
            ValueError: for a measure or a collection that the table lacks, or missing values.

        >>> table = read_scores(pd.DataFrame({"qid": [1, 2], "a": [0.5, 1.0], "b": [0.0, 0.25]}))
        >>> table.matrix("AP").loc["b"].tolist()
        [0.0, 0.25]
        """
        if track not in self.tracks:
            raise ValueError(f"there is no collection {track!r}; there are {self.tracks}")
        named = {"": "", **{canonical_name(name): name for name in reversed(self.measures)}}
        column = named.get(canonical_name(measure), "")
        rows = self.rows[(self.rows["track"] == track) & (self.rows["measure"] == column)]
        if rows.empty:
            raise ValueError(
                f"the scores have no measure {measure!r}{f' in {track}' if track else ''}; they "
                f"have {', '.join(pd.unique(self.rows['measure']))}"
            )
        names, qids = (list(pd.unique(rows[key])) for key in ("name", "qid"))
        wide = rows.pivot(index="name", columns="qid", values="value").loc[names, qids]
        missing = np.argwhere(wide.isna().to_numpy())
        if len(missing) and self.fill is None:
            system, topic = missing[0].tolist()
            raise ValueError(
                f"{counted(len(missing), 'value')} of {measure} missing, the first of system "
                f"{names[system]!r} for topic {qids[topic]!r}: add them, or say what stands for "
                "them (fill=0, --fill 0)"
            )
        return wide if self.fill is None else wide.fillna(self.fill)

    def values(self, measure: str, track: str = "") -> Floats:
        """The same as an array, shape (S, Q)."""
        return self.matrix(measure, track).to_numpy(dtype=np.float64)


def read_scores(
    scores: Any,
    *,
    lower_is_better: Iterable[str] = (),
    higher_is_better: Iterable[str] = (),
    fill: float | None = None,
) -> ScoreTable:
    """Reads scores by topic that were computed before, by whatever program.

    Args:
        scores: a file, several, or a folder of them, in one of the forms that are listed at the top
            of :mod:`pyterrier_asl.evaluation.scores`; or a frame.
        lower_is_better: measures of which less is better, where that is not known by their names.
        higher_is_better: measures of which more is better, where that is not known by their names.
        fill: what stands for a missing value; None: that is an error.

    Raises:
        ValueError: for what is no table of scores, a value that is no number, or one that is there
            twice; with the file.
        OSError: for a file that cannot be read.

    >>> rows = {"name": ["a", "a"], "qid": ["1", "2"], "measure": ["AP", "AP"], "value": [0.5, 1.0]}
    >>> table = read_scores(pd.DataFrame(rows))
    >>> table.measures, table.direction("AP"), table.values("map").tolist()
    (['AP'], True, [[0.5, 1.0]])
    """
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, pd.DataFrame):
        sources = ["the frame of scores"]
        parts = [_long(scores, "", sources[0])]
    else:
        paths = [scores] if isinstance(scores, (str, os.PathLike)) else list(scores)
        files = [
            file
            for path in map(local_path, paths)
            for file in (sorted(path.glob("[!.]*")) if path.is_dir() else [path])
        ]
        sources = [str(file) for file in files]
        parts = [_long(_frame(file), run_name(file), str(file)) for file in files]
    rows = pd.concat(parts, keys=sources)
    twice = rows.duplicated(list(_KEYS))
    if twice.any():
        track, name, qid, measure = rows[list(_KEYS)][twice].iloc[0]
        where = f" in {track}" if track else ""
        raise ValueError(
            f"the scores have two values of {measure or 'system'} {name!r} for topic {qid!r}"
            f"{where}, the second in {rows.index[twice][0][0]}"
        )
    rows = rows.reset_index(drop=True)
    return ScoreTable(rows, tuple(lower_is_better), tuple(higher_is_better), fill)


def canonical_name(name: str) -> str:
    """A measure's name as ir_measures prints it; of what it does not know the name itself."""
    measure = measure_named(name)
    return name if measure is None else str(measure)


def _frame(path: Path) -> pd.DataFrame:
    """The table in a file, ids as text."""
    check_file(path)
    form = file_format(path)
    try:
        if form is None:
            return _text_frame(path)
        table = pq.ParquetFile(path).read() if form == "Parquet" else read_arrow(path)
        table.validate(full=True)  # pandas does not look whether offsets lie in the file
        return pd.DataFrame(table.to_pandas())
    except Exception as error:  # of Arrow, pandas or a decompressor: of a damaged file, anything
        if str(path) in str(error):
            raise
        what = str(error) or type(error).__name__
        raise ValueError(f"{path} cannot be read as a table of scores: {what}") from error


def _text_frame(path: Path) -> pd.DataFrame:
    with open_text(path) as stream:
        text = stream.read().decode("utf-8-sig")
    first = text.lstrip().partition("\n")[0]
    if first.startswith("{"):
        return pd.DataFrame(pd.read_json(io.StringIO(text), lines=True, dtype=False))
    header = first.replace("\t", ",").split(",")
    options: dict[str, Any] = {"dtype": str, "keep_default_na": False, "na_values": [""]}
    if not header[0].strip() or _column(header, "qid") is not None:
        separator = "\t" if "\t" in first else ","
        return pd.DataFrame(pd.read_csv(io.StringIO(text), sep=separator, **options))
    table = pd.DataFrame(pd.read_csv(io.StringIO(text), sep=r"\s+", header=None, **options))
    if table.shape[1] == 4:
        return table.set_axis(["name", "qid", "measure", "value"], axis=1)
    if table.shape[1] != 3:
        raise ValueError(
            f"{path} is no table of scores: its first line is {first[:80]!r}, and not a header "
            "with qid, nor what trec_eval -q or ir_measures -q print"
        )
    by_trec_eval = (table[1] == ALL).any() and not (table[0] == ALL).any()
    by_trec_eval |= not (table[0] == ALL).any() and _are_measures(table[0])
    names = ["measure", "qid"] if by_trec_eval else ["qid", "measure"]
    return table.set_axis([*names, "value"], axis=1)


def _are_measures(names: pd.Series[str]) -> bool:
    return all(canonical_name(name) != name or name[:1].isalpha() for name in pd.unique(names))


def _column(columns: Iterable[Any], key: str) -> Any:
    """The column of a key, by any of its names; None where there is none."""
    there = {str(column).strip().lower(): column for column in columns}
    return next((there[alias] for alias in _ALIASES[key] if alias in there), None)


def _long(table: pd.DataFrame, name: str, source: str) -> pd.DataFrame:
    """A table of scores with a row for each value."""
    if (first := table.columns[:1].tolist()) and first[0] in ("", "Unnamed: 0"):
        if _column(table.columns, "qid") is None:
            table = table.rename(columns={first[0]: "qid"})
        else:
            table = table.drop(columns=first)  # the index of a frame
    named = {_column(table.columns, key): key for key in _ALIASES}
    table = table.rename(columns={old: key for old, key in named.items() if old is not None})
    keys = [key for key in _KEYS if key in table]
    for key in [*keys, "value"]:
        if list(table.columns).count(key) > 1:
            raise ValueError(f"{source} has more than one column {key}")
    if "qid" not in keys:
        raise ValueError(f"{source} has no column qid; it has {', '.join(map(str, table.columns))}")
    for key in keys:
        if missing := int(table[key].isna().sum()):
            raise ValueError(f"{source} has {counted(missing, 'row')} without {key}")
    if "value" not in table:
        if "measure" in keys:
            has = ", ".join(map(str, table.columns))
            raise ValueError(f"{source} has a column measure, but none called value; it has {has}")
        column = "measure" if "name" in keys else "name"
        table = table.melt([*keys], var_name=column, value_name="value")
    filled = {"track": "", "name": name, "measure": ""}
    table = table.assign(**{key: text for key, text in filled.items() if key not in table})
    table = table.astype({key: str for key in _KEYS})
    table = table.loc[table["qid"] != ALL, [*_KEYS, "value"]]
    values = pd.to_numeric(table["value"], errors="coerce").astype(float)
    wrong = values.isna() & table["value"].notna()
    if wrong.any():
        row = table[wrong].iloc[0]
        raise ValueError(
            f"{source}: the value of {row['measure'] or row['name']} for topic {row['qid']!r} is "
            f"{row['value']!r}, which is no number"
        )
    if not len(table):
        raise ValueError(f"{source} holds no value of a topic: print them with -q")
    return table.assign(value=values).reset_index(drop=True)
