"""Files in, scores out: what a command line does with runs, judgements, a pool and groups."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from .evaluation import evaluate, judgements_of, means
from .io import (
    RunSource,
    iter_run_tables,
    official_measures,
    read_run_table,
    run_name,
)
from .judging import Judgements
from .lengths import DocLengths
from .partitions import PartitionedRun, is_partitioned, partitioned_runs
from .pools import RarenessPool
from .requested import Requested, default_measures, grades_hint, needs_pool, parse_measures, unique
from .tables import ALL, Scores


@dataclass(frozen=True)
class Measured:
    """What came out.

    Attributes:
        by_query: a row per run and query; see :func:`evaluate`.
        asked: the measures, by the names of their columns.
        failures: why a file could not be measured, by run; the others were.
        hint: what else to tell, '' for nothing.
    """

    by_query: pd.DataFrame
    asked: list[Requested]
    failures: dict[str, str]
    hint: str

    def scores(self, *, by_query: bool = False, summary: bool = True, sort: str = "") -> Scores:
        """The values to be shown.

        Args:
            by_query: a row per run and query instead of one per run.
            summary: then, whether a row of means, called ``all``, follows each run's queries.
            sort: the measure by which runs are ordered, best first; '': as they were given.

        Raises:
            ValueError: where ``sort`` is not one of the measures.
        """
        directions = {one.name: one.higher_is_better for one in self.asked}
        if sort and sort not in directions:
            raise ValueError(f"cannot sort by {sort!r}, only by one of {', '.join(directions)}")
        measures = {one.name: one.measure for one in self.asked}
        mean = means(self.by_query, measures).rename_axis("run").reset_index()
        if sort:
            up = directions[sort] is False
            mean = mean.sort_values(sort, ascending=up, kind="stable", ignore_index=True)
        values = self._by_query(mean, summary) if by_query else mean
        higher = {name: up for name, up in directions.items() if up is not None}
        return Scores(values, higher)

    def _by_query(self, mean: pd.DataFrame, summary: bool) -> pd.DataFrame:
        """Each run's queries, and then their mean, in the order of the means."""
        place = {run: number for number, run in enumerate(mean["run"])}
        parts = [self.by_query.rename(columns={"name": "run"}).astype({"qid": object})]
        if summary:
            summaries = mean.copy()
            summaries.insert(1, "qid", pd.Series(ALL, index=mean.index, dtype=object))
            parts.append(summaries)
        both = pd.concat(parts, ignore_index=True)
        order = np.argsort(both["run"].map(place).to_numpy(), kind="stable")
        return both.iloc[order].reset_index(drop=True)


def measure_files(
    qrels: str,
    runs: Iterable[str | os.PathLike[str]],
    measures: Iterable[str] = (),
    *,
    pool: str | None = None,
    lengths: str | None = None,
    rel: float | None = None,
    jobs: int = 1,
) -> Measured:
    """Measures run files. One that cannot be measured does not keep the others from it.

    Args:
        qrels: file or ir_datasets id.
        runs: files and folders.
        measures: names; see :func:`~pyterrier_asl.requested.parse_measures`. None at all: those of
            :func:`~pyterrier_asl.requested.default_measures`.
        pool: file of a pool, or folder of runs, for the rareness measures that name none; None: the
            runs themselves.
        lengths: for TBG; what ``TBG(lengths=...)`` takes.
        rel: minimum grade of a relevant document, for measures that do not say it.
        jobs: how many runs to judge at a time.

    Raises:
        ValueError: for what is no run, qrels or measure; where not one run can be measured.
        OSError: for a file that cannot be read.
    """
    files = measurable(runs)
    typed = parse_measures(measures) if (measures := list(measures)) else None
    judgements = read_judgements(qrels)
    if typed is None:
        several = len(files) > 1 or pool is not None
        typed = measures_for(qrels, several=several, lengths=lengths is not None, rel=rel)
    asked = unique(completed(typed, pool=pool, lengths=lengths, rel=rel))
    by_query, failures = _evaluated(files, judgements, asked, jobs)
    return Measured(by_query, asked, failures, grades_hint(float(judgements.grades.max()), asked))


def read_judgements(qrels: str) -> Judgements:
    """Judgements from a file or an ir_datasets id.

    Raises:
        ValueError: where it holds none.
    """
    judgements = judgements_of(qrels)
    if not len(judgements):
        raise ValueError(f"{qrels} holds no judgements: there is nothing to judge by")
    return judgements


def measures_for(
    qrels: str, *, several: bool, lengths: bool, rel: float | None = None
) -> list[Requested]:
    """The measures for someone who names none: for an ir_datasets id its official ones, too."""
    official = [] if Path(qrels).is_file() or rel is not None else official_measures(qrels)
    return default_measures(official, several=several, lengths=lengths)


def completed(
    typed: list[Requested],
    *,
    pool: str | None = None,
    lengths: str | None = None,
    rel: float | None = None,
) -> list[Requested]:
    """Each measure with what it does not say itself; arguments as of :func:`measure_files`."""
    given: dict[str, Any] = {"rel": rel}
    if lengths is not None:
        given["lengths"] = DocLengths.resolve(lengths)
    if pool is not None and needs_pool(typed):
        given["pool"] = (
            RarenessPool.from_runs(pool) if Path(pool).is_dir() else RarenessPool.resolve(pool)
        )
    asked = [one.given(**given) for one in typed]
    for one in asked:
        params = one.measure.params
        if one.measure.NAME == "TBG" and not {"lengths", "missing_length"} & params.keys():
            raise ValueError(
                f"{one.name} needs the lengths of the documents: --lengths irds:ID counts those "
                "of an ir_datasets collection, --lengths FILE has them on lines 'docno words', or "
                "as DocLengths.save() saved them; or write TBG(missing_length=500)"
            )
    return asked


def _evaluated(
    files: Mapping[str, RunSource], judgements: Judgements, asked: list[Requested], jobs: int
) -> tuple[pd.DataFrame, dict[str, str]]:
    """The values of the runs that can be measured, and why others cannot."""
    measures = {one.name: one.measure for one in asked}
    try:
        return evaluate(files, judgements, measures, jobs=jobs), {}
    except (ValueError, OSError) as error:
        wrong = {
            name: reason for name, run in files.items() if (reason := _reason(run, judgements))
        }
        good = {name: run for name, run in files.items() if name not in wrong}
        if not wrong:  # it is not the runs' fault
            raise
        if not good:
            first, *others = wrong.values()
            raise ValueError(
                first + (f" (nor can any of {len(others)} further runs be used)" if others else "")
            ) from error
    return evaluate(good, judgements, measures, jobs=jobs), wrong


def _reason(run: Any, judgements: Judgements) -> str:
    """Why a run cannot be judged; '' where it can."""
    place = run.folder if isinstance(run, PartitionedRun) else run
    try:
        judgements.judge_whole(read_run_table(run))
    except (ValueError, OSError) as error:
        return str(error) if str(place) in str(error) else f"{place}: {error}"
    return ""


def measurable(runs: Iterable[str | os.PathLike[str]]) -> dict[str, RunSource]:
    """What `find_runs` finds, and the runs of folders that are partitioned data sets.

    Raises:
        ValueError: as `find_runs`.
        FileNotFoundError: where there is no such file.
    """
    paths = [Path(run) for run in runs]
    data_sets = [path for path in paths if path.is_dir() and is_partitioned(path)]
    files = [path for path in paths if path not in data_sets]
    found: dict[str, RunSource] = dict(find_runs(files)) if files or not data_sets else {}
    for folder in data_sets:
        for name, run in partitioned_runs(folder).items():
            if found.setdefault(name, run) is not run:
                raise ValueError(f"two runs are named {name!r}, one in {folder}; rename one")
    return found


def find_runs(runs: Iterable[str | os.PathLike[str]]) -> dict[str, Path]:
    """Run files by name; of a folder all that it holds but hidden files.

    Raises:
        ValueError: where two have one name, a folder holds none, or there is none at all.
        FileNotFoundError: where there is no such file.
    """
    found: dict[str, Path] = {}
    for path in (file for run in runs for file in _files(Path(run))):
        name = run_name(path)
        if found.setdefault(name, path) is not path:
            raise ValueError(f"{found[name]} and {path} are both named {name!r}; rename one")
    if not found:
        raise ValueError("there are no runs")
    return found


def tables_of(files: Mapping[str, Path]) -> dict[str, pa.Table]:
    """What is in run files, by name."""
    return dict(iter_run_tables(files))


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.is_file() and file.name[0] != ".")
    if not files:
        raise ValueError(f"the folder {path} holds no files")
    return files


def read_groups(path: str | os.PathLike[str]) -> Mapping[str, str]:
    """The group of each run, from lines ``run<TAB>group``.

    A run may be named as its file is: ``input.bm25.gz`` is ``bm25``.

    Raises:
        ValueError: for a line that is not two columns, or a run with two groups.
    """
    groups: dict[str, str] = {}
    for number, (file, group) in _pairs(path, "run", "group"):
        name = run_name(file)
        if groups.setdefault(name, group) != group:
            raise ValueError(
                f"{path}, line {number}: run {name!r} is in group {groups[name]!r} already"
            )
    return groups


def read_pairs(path: str | os.PathLike[str], key: str, value: str) -> dict[str, str]:
    """What stands beside each key, from lines ``key<TAB>value``.

    Args:
        path: the file.
        key: what an error calls the first column.
        value: what it calls the second.

    Raises:
        ValueError: for a line that is not two columns, or a key that is there twice.
    """
    pairs: dict[str, str] = {}
    for number, (name, beside) in _pairs(path, key, value):
        if name in pairs:
            raise ValueError(f"{path}, line {number}: {key} {name!r} is there already")
        pairs[name] = beside
    return pairs


def _pairs(
    path: str | os.PathLike[str], key: str, value: str
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Both columns of each line, and its number."""
    with open(path, encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.reader(file, delimiter="\t"), 1):
            if not any(row):
                continue
            if len(row) != 2 or not all(row):
                raise ValueError(f"{path}, line {number}: expected {key}<TAB>{value}, found {row}")
            yield number, (row[0], row[1])
