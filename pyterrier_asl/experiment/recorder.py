"""Recorders of the results of the systems of an experiment, new or saved.

``pt.Experiment`` runs the systems. A recorder at the end of each pipeline keeps the results that
pass, from which all values are computed.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyterrier as pt

from ..io.columns import typed_table
from ..io.values import text

#: The columns of results that are kept, the last two if there are any.
_COLUMNS = ("qid", "docno", "score", "rank", "doc_len")


def text_ids(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of the frame with query and document ids as text."""
    ids = [name for name in ("qid", "docno") if name in frame.columns]
    others = [name for name in ids if pd.api.types.infer_dtype(frame[name]) != "string"]
    return frame.assign(**{name: text(frame[name], name).to_numpy(False) for name in others})


@dataclass(frozen=True)
class Saving:
    """The options of pt.Experiment for saving results."""

    save_dir: str | None
    save_mode: str
    save_format: Any

    def saved(self, name: str) -> pd.DataFrame | None:
        """The saved results, which pt.Experiment reads instead of running the system."""
        extension, read = "res.gz", None
        if isinstance(self.save_format, types.ModuleType):
            extension, read = "mod", self.save_format.load
        elif isinstance(self.save_format, tuple):
            extension, read = "custom", self.save_format[0]
        path = Path(self.save_dir or "", f"{name}.{extension}")
        if self.save_dir is None or self.save_mode != "reuse" or not path.exists():
            return None
        if read is None:
            return pd.DataFrame(pt.io.read_results(str(path)))
        with pt.io.autoopen(str(path), "rb") as file:
            return pd.DataFrame(read(file))


@dataclass(eq=False, repr=False)
class ResultRecorder(pt.Transformer):  # type: ignore[misc]
    """The end of a pipeline, which records the results of a system and returns them unchanged.

    Attributes:
        name: the name of the system.
        batch_size: the number of topics per batch; None: there is one batch.
        timed: whether results are read when all have arrived, so that response times are not
            longer.
    """

    name: str
    batch_size: int | None = None
    timed: bool = False
    _parts: list[Any] = field(default_factory=list)

    def transform(self, results: pd.DataFrame) -> pd.DataFrame:
        """Records the results of some or all queries.

        Raises:
            ValueError: naming the system, for empty or invalid results.
        """
        if not len(results):
            batch = " for a batch of topics: make batch_size larger, or leave it out"
            raise ValueError(f"system {self.name!r} has no results{batch * bool(self.batch_size)}")
        if "score" not in results.columns:  # pt.Experiment needs it
            raise ValueError(
                f"system {self.name!r}: the run: there is no column score; there are "
                + ", ".join(map(str, results.columns))
            )
        self._parts.append(results if self.timed else self._read(results))
        return results

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        return input_columns

    def __repr__(self) -> str:
        return "results"

    def _read(self, results: pd.DataFrame) -> pa.Table:
        try:
            return typed_table(results, _COLUMNS, "the run")
        except (TypeError, ValueError) as error:
            raise ValueError(f"system {self.name!r}: {error}") from None

    @property
    def run(self) -> pa.Table | None:
        """All results; None: there are none yet."""
        parts = [self._read(part) if self.timed else part for part in self._parts]
        return pa.concat_tables(parts, promote_options="permissive") if parts else None


def with_recorders(
    systems: Sequence[Any],
    recorders: Sequence[ResultRecorder],
    saving: Saving,
) -> list[Any]:
    """Appends a recorder to each system, and records results that exist.

    Raises:
        ValueError: for results that cannot be read, before any system is run.
    """
    recorded = []
    for system, recorder in zip(systems, recorders):
        results = saving.saved(recorder.name)
        if isinstance(system, pd.DataFrame):
            system = text_ids(system)  # a copy: pt.Experiment changes the frame it is given
            results = system if results is None else results
        if results is not None:
            recorder.transform(results)
        elif isinstance(system, pt.Transformer):
            system = system >> recorder
        recorded.append(system)
    return recorded
