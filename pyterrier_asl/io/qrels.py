"""Qrels from files, frames, and ir_datasets, and the official measures of its datasets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..common.lazy import pd
from .columns import typed_table
from .declared import DeclaredFile, GradesOfLabels, NamesOfColumns
from .files import read_table
from .opening import StrPath
from .trec_text import QRELS
from .values import as_integers

_QRELS = ("qid", "docno", "label", "iteration", "judge")


class UnknownDatasetError(ValueError):
    """ir_datasets has no dataset of this name."""


def read_qrels(
    source: StrPath | pd.DataFrame | pa.Table,
    *,
    columns: NamesOfColumns = None,
    grades: GradesOfLabels = None,
) -> pd.DataFrame:
    """Reads qrels.

    Args:
        source: A qrels file; or an ir_datasets id such as ``"vaswani"`` (a file of that name is
            preferred) or ``"irds:vaswani"``; or a frame or Arrow table. A file has lines of TREC, a
            table with a header, JSON lines, or JSON of query -> document -> grade; columns have the
            names of PyTerrier (``qid docno label``), of ir_measures, or others in use, such as
            ``query-id corpus-id score`` and ``query docid rating``.
        columns: other names of columns, ``{"docno": "_id"}`` or ``"docno=_id"``; ``"_id|id"`` where
            a table has one or the other. Lines without names of columns do not need them.
        grades: the grades of labels that are words, ``{"E": 3, "I": 0}`` or ``"E=3 I=0"``.

    Returns:
        The judgements in their order, with columns ``qid`` (str), ``docno`` (str) and ``label``
        (int64 if every grade is a whole number, else float64); ``iteration`` (str), the subtopic,
        and ``judge`` (str), where a file has several.

    Raises:
        ValueError: If the content is not qrels; the message has the file, the line and its text.
        OSError: If the file cannot be read, or if it is neither a file nor an id.

    Example:
        >>> import pandas as pd
        >>> read_qrels(pd.DataFrame({"query_id": [7], "doc_id": ["d3"], "relevance": [1.5]}))
          qid docno  label
        0   7    d3    1.5
    """
    return _frame(read_qrels_table(source, columns=columns, grades=grades))


def _frame(table: pa.Table) -> pd.DataFrame:
    """A table of qrels as a frame, whole grades as integers."""
    whole = table.set_column(2, "label", as_integers(table["label"]))
    return whole.to_pandas()  # type: ignore[no-any-return]


def read_qrels_table(
    source: StrPath | pd.DataFrame | pa.Table,
    *,
    columns: NamesOfColumns = None,
    grades: GradesOfLabels = None,
) -> pa.Table:
    """Reads qrels as an Arrow table.

    Args:
        source: A source of `read_qrels`.
        columns: See `read_qrels`.
        grades: See `read_qrels`.

    Returns:
        The judgements in their order, with columns ``qid`` and ``docno`` (Arrow text) and
        ``label`` (float64), none of them null.

    Raises:
        ValueError: If the content is not qrels; the message has the file, the line and its text.
        OSError: If the file cannot be read, or if it is neither a file nor an id.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "qrels"
        >>> _ = path.write_text("q1 0 d7 2\\nq1 0 d3 0\\n")
        >>> read_qrels_table(path)["label"].to_pylist()
        [2.0, 0.0]
    """
    if isinstance(source, DeclaredFile):
        return read_qrels_table(source.path, columns=source.columns, grades=source.grades)
    if isinstance(source, str) and not Path(source).is_file():
        try:
            return _irds_qrels_table(source)
        except UnknownDatasetError as error:
            if not Path(source).exists():  # Else it is a folder, say, which read_table refuses.
                raise FileNotFoundError(f"there is no file {source!r}, and {error}") from None
    return read_table(source, QRELS, _QRELS, columns=columns, grades=grades)


def irds_qrels(dataset: str) -> pd.DataFrame:
    """The judgements of an ir_datasets dataset, downloaded if they are not on this machine.

    Args:
        dataset: The dataset's id, with or without ``irds:`` before it.

    Returns:
        The judgements, as from `read_qrels`.

    Raises:
        UnknownDatasetError: If there is no such dataset, a ValueError.
        ValueError: If it has no judgements with a grade per query and document.
        OSError: If they cannot be downloaded.

    ``irds_qrels("vaswani")`` has the columns ``qid``, ``docno`` and ``label``, and 2,083 rows.
    """
    return _frame(_irds_qrels_table(dataset))


def official_measures(dataset: str) -> list[str]:
    """The official measures of a dataset, with their lowest relevant grades.

    Args:
        dataset: The ir_datasets id, with or without ``irds:`` before it.

    Returns:
        Their names, in the order of the documentation; empty if it has none.

    Raises:
        UnknownDatasetError: If there is no such dataset, a ValueError.

    Example:
        >>> official_measures("msmarco-passage/trec-dl-2020/judged")
        ['nDCG@10', 'RR(rel=2)', 'AP(rel=2)']
        >>> official_measures("vaswani")
        []
    """
    return list((load_irds(dataset).documentation() or {}).get("official_measures", []))


def load_irds(dataset: str) -> Any:
    """A dataset of ir_datasets, with or without ``irds:`` before its id."""
    # Importing ir_datasets takes half a second and makes folders in the user's home.
    import ir_datasets

    name = dataset.removeprefix("irds:")
    try:
        return ir_datasets.load(name)
    except KeyError:
        raise UnknownDatasetError(f"ir_datasets has no dataset {name!r}") from None


@contextmanager
def explain_downloads(dataset: str) -> Iterator[None]:
    """Explains in one sentence why files of an ir_datasets dataset cannot be downloaded.

    Raises:
        OSError: For the RuntimeError of ir_datasets after every source has failed.
    """
    try:
        yield
    except RuntimeError as error:
        if "download" not in str(error):
            raise
        import ir_datasets

        reasons = {
            type(failure).__name__: None for failures in error.args[1:2] for _, failure in failures
        }
        raise OSError(
            f"{dataset.removeprefix('irds:')} of ir_datasets is not on this machine and could not "
            f"be downloaded ({', '.join(reasons) or error}): connect to the internet, copy its "
            f"files into {ir_datasets.util.home_path()}, or give files instead"
        ) from error


def irds_documents(dataset: str) -> tuple[Iterator[Any], int | None]:
    """The documents of an ir_datasets dataset, and their number or None.

    Args:
        dataset: The dataset's id, with or without ``irds:`` before it.

    Raises:
        ValueError: If there is no such dataset, or it has no documents.
        OSError: If they cannot be downloaded.
    """
    loaded = load_irds(dataset)
    if not loaded.has_docs():
        raise ValueError(f"the ir_datasets dataset {dataset!r} has no documents")

    def documents() -> Iterator[Any]:
        with explain_downloads(dataset):
            yield from loaded.docs_iter()

    with explain_downloads(dataset):
        return documents(), loaded.docs_count()


def _irds_qrels_table(dataset: str) -> pa.Table:
    loaded = load_irds(dataset)
    fields = loaded.qrels_cls()._fields if loaded.has_qrels() else ()
    if not {"query_id", "doc_id", "relevance"}.issubset(fields):
        raise ValueError(
            f"the ir_datasets dataset {dataset!r} has no judgements with a grade per query and "
            "document; some of the datasets below it may"
        )
    with explain_downloads(dataset):
        judgements = pd.DataFrame(loaded.qrels_iter(), columns=list(fields))
        return typed_table(judgements, _QRELS, f"the qrels of {dataset!r}")
