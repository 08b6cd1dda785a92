"""Recorders of the results of the systems of an experiment, new or saved.

``pt.Experiment`` runs the systems and keeps only values. A recorder at the end of each pipeline
matches the results that pass with the qrels, and keeps the rows that are needed again.
"""

from __future__ import annotations

import os
import types
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyterrier as pt

from ..judging.judged_run import JudgedRun, join_parts, judge
from ..judging.judgements import Judgements


def text_ids(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of the frame with query and document ids as text."""
    ids = [name for name in ("qid", "docno") if name in frame.columns]
    return frame.astype({name: str for name in ids if frame[name].dtype != object})


@dataclass(frozen=True)
class Saving:
    """The options of pt.Experiment for saving results."""

    folder: str | os.PathLike[str] | None
    mode: str
    format: Any

    @property
    def options(self) -> dict[str, Any]:
        """The options by their names in pt.Experiment."""
        folder = None if self.folder is None else os.fspath(self.folder)
        return {"save_dir": folder, "save_mode": self.mode, "save_format": self.format}

    def saved(self, name: str) -> pd.DataFrame | None:
        """The saved results, which pt.Experiment reads instead of running the system."""
        if self.folder is None or self.mode != "reuse":
            return None
        extension, read = self._how()
        path = Path(self.folder) / f"{name}.{extension}"
        if not path.exists():
            return None
        if read is None:
            return pd.DataFrame(pt.io.read_results(str(path)))
        with pt.io.autoopen(str(path), "rb") as file:
            return pd.DataFrame(read(file))

    def _how(self) -> tuple[str, Any]:
        """The extension of the files, and the function that reads them; None: TREC format."""
        if isinstance(self.format, types.ModuleType):
            return "mod", self.format.load
        return ("custom", self.format[0]) if isinstance(self.format, tuple) else ("res.gz", None)


class _RecordResults(pt.Transformer):  # type: ignore[misc]
    """The end of a pipeline, which records the results and returns them unchanged."""

    def __init__(self, recorder: ResultRecorder) -> None:
        self.recorder = recorder

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        self.recorder.add(inp)
        return inp

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        return input_columns

    def __repr__(self) -> str:
        return "results"


@dataclass
class ResultRecorder:
    """The results of a system.

    Attributes:
        name: the name of the system.
        judgements: the judgements that the results are matched with; Q queries.
        keep: the columns to keep until all results have arrived; none: results are matched on
            arrival, and their rows are dropped.
        batch_size: the number of topics per batch; None: there is one batch.
        judged_run: all results, matched with the judgements; None before :meth:`close`.
    """

    name: str
    judgements: Judgements
    keep: list[str]
    batch_size: int | None = None
    judged_run: JudgedRun | None = None
    _parts: list[pd.DataFrame] = field(default_factory=list)
    _judged_parts: list[JudgedRun] = field(default_factory=list)

    def add(self, results: pd.DataFrame) -> None:
        """Records the results of some or all queries.

        Raises:
            ValueError: naming the system, for empty or invalid results.
        """
        if not len(results):
            batch = " for a batch of topics: make batch_size larger, or leave it out"
            reason = "" if self.batch_size is None else batch
            raise ValueError(f"system {self.name!r} has no results{reason}")
        if "score" not in results.columns:  # pt.Experiment needs it
            there = ", ".join(map(str, results.columns))
            raise ValueError(
                f"system {self.name!r}: the run: there is no column score; there are {there}"
            )
        if self.keep:  # matched later, so that response times are not longer
            self._parts.append(results[[c for c in self.keep if c in results.columns]])
        else:
            self._judged_parts.append(self._judge(results).without_rows())

    def close(self) -> None:
        """Matches the kept results, and joins parts.

        Raises:
            ValueError: naming the system, for invalid results, and where no document is judged.
        """
        if self._parts and self.judged_run is None:
            self._parts = [pd.concat(self._parts, ignore_index=True)]
            self.judged_run = self._judge(self.frame)
        elif self._judged_parts and self.judged_run is None:
            self.judged_run = join_parts(self._judged_parts)
        run = self.judged_run
        if run is not None and not len(run.pairs) and len(self.judgements):
            judged = f"the {len(self.judgements)} judged queries"
            fault = f"it retrieved no document for {judged}"
            if retrieved := int(run.retrieved.sum()):
                fault = (
                    f"none of the {retrieved} documents that it retrieved for {judged} is judged"
                )
            raise ValueError(
                f"system {self.name!r}: {fault}: are its document ids as in the qrels "
                f"(e.g. {self.judgements.docnos[0].as_py()!r}), "
                f"and its query ids (e.g. {self.judgements.qid_text[0].as_py()!r})?"
            )

    @property
    def frame(self) -> pd.DataFrame:
        """The kept results."""
        return self._parts[0] if self._parts else pd.DataFrame(columns=self.keep)

    def _judge(self, results: pd.DataFrame) -> JudgedRun:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pt.Experiment warns of the same
            try:
                return judge(self.judgements, results)
            except (TypeError, ValueError) as error:
                raise ValueError(f"system {self.name!r}: {error}") from None


def with_recorders(
    systems: Sequence[Any],
    recorders: Sequence[ResultRecorder],
    saving: Saving,
) -> list[Any]:
    """Appends a recorder to each system, and records results that exist.

    Raises:
        ValueError: for results that cannot be scored, before any system is run.
    """
    recorded = []
    for system, recorder in zip(systems, recorders):
        if isinstance(system, pd.DataFrame):
            system = text_ids(system)  # a copy: pt.Experiment changes the frame it is given
        results = saving.saved(recorder.name)
        if results is None and isinstance(system, pd.DataFrame):
            results = system
        if results is not None:
            recorder.add(results)
            recorder.close()
        elif isinstance(system, pt.Transformer):
            system = system >> _RecordResults(recorder)
        recorded.append(system)
    return recorded
