"""Lists of documents to judge, saved as a table or as JSON lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pandas as pd

from ..common.notices import counted
from ..io.atomic import check_replaceable, kind_error, replacing
from ..io.label_files import label_rows, read_labels
from ..io.texts import Texts
from ..printing.table_lines import jsonl_lines, separated_lines
from .holes import Holes

#: Forms of a list with the first bytes of a file.
_FORMS = {"tsv": b"qid\t", "jsonl": b'{"qid"'}

#: Number of bytes of a file that are read to recognise a list of documents to judge.
_HEADER = 1000


def export(
    holes: Holes,
    path: str | os.PathLike[str],
    *,
    most: int | None = None,
    texts: Callable[[list[str]], Texts] | None = None,
    force: bool = False,
    keep: bool = False,
) -> int:
    """Saves the documents to judge next, in this order, with an empty ``label`` to fill in.

    :func:`~pyterrier_asl.read_labels` reads the completed file.

    Args:
        holes: the comparison.
        path: the file: JSON lines if it ends in ``.jsonl``, else a table with tabs. An existing
            file is replaced in one step (see :func:`check_export`).
        most: the largest number of documents.
        texts: returns the texts of queries and documents by document ids.
        force: whether a file of another kind is overwritten.
        keep: whether the file may hold labels; their rows are kept and come first (a second round
            with the same file).

    Returns:
        The number of documents to judge in the file.

    Raises:
        OSError: for a file that cannot be written, is of another kind, or holds labels.
    """
    check_export(path, force=force, keep=keep)
    frame = holes.todo
    kept = pd.DataFrame(columns=["qid", "docno", "label"])
    if keep and os.path.exists(path):
        kept = _rows_to_keep(path, frame)
    keys = pd.MultiIndex.from_arrays([frame["qid"].astype(str), frame["docno"]])
    frame = frame[~keys.isin([*zip(kept["qid"], kept["docno"])])][:most]
    of = Texts() if texts is None else texts(frame["docno"].tolist())
    frame = frame.assign(
        query=[of.queries.get(str(qid), "") for qid in frame["qid"]],
        text=[of.documents.get(docno, "") for docno in frame["docno"]],
        label="",
    )
    # The columns of the list come first.
    rows = pd.concat([of.astype(object) for of in (frame[:0], kept, frame)]).where(pd.notna, None)
    with replacing(path, force=True) as beside, open(beside, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in _lines(rows, _form(path)))
    return len(frame) + int((kept["label"] == "").sum())


def _form(path: str | os.PathLike[str]) -> str:
    return "jsonl" if Path(path).suffix == ".jsonl" else "tsv"


def _rows_to_keep(path: str | os.PathLike[str], listed: pd.DataFrame) -> pd.DataFrame:
    """The rows of a file with a label, with -1, or with a note in a further column."""
    rows = label_rows(path)
    notes = rows.drop(columns=[*listed, "query", "text", "label", "source"], errors="ignore")
    kept = rows[rows["label"].notna() | (notes.fillna("") != "").any(axis=1)].drop_duplicates()
    shown = [int(label) if label.is_integer() else label for label in kept["label"].fillna(-1)]
    return kept.assign(
        label=pd.Series(shown, kept.index, dtype=object).where(kept["label"].notna(), "")
    )


def check_export(
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    keep: bool = False,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Checks that a list can be saved.

    Args:
        path: see :func:`export`.
        force: see :func:`export`.
        keep: see :func:`export`.
        inputs: files and folders that are read; they are not overwritten.

    Raises:
        OSError: for a file that cannot be written, is of another kind, or holds labels.
    """
    check_replaceable(path, inputs=inputs, begins=_FORMS[_form(path)], force=force or keep)
    if not os.path.exists(path) or not os.path.getsize(path):
        return
    if keep:
        label_rows(path)
    elif labels := _number_of_labels(path, force):
        raise FileExistsError(
            f"cannot write {path}: it holds {counted(labels, 'label')}; to keep them read the file "
            "by --labels (in Python merge_labels and keep=True), or name another file"
        )


def _number_of_labels(path: str | os.PathLike[str], force: bool) -> int:
    """The number of labels in a file; with force 0 for a file of another kind.

    Raises:
        FileExistsError: for a list with a row that cannot be understood, and, without force, for
            another kind.
    """
    try:
        return len(read_labels(path))
    except (ValueError, OSError) as error:
        with open(path, "rb") as file:
            if b"docno" in file.read(_HEADER):
                raise FileExistsError(
                    f"cannot write {path}: not every label that it holds can be read ({error})"
                ) from None
        if not force:
            raise kind_error(path) from None
        return 0


def _lines(frame: pd.DataFrame, form: str) -> Iterator[str]:
    if form == "jsonl":
        return jsonl_lines(frame)
    one_line = frame[["query", "text"]].map(lambda text: " ".join((text or "").split()))
    return separated_lines(frame.assign(**one_line), places=6)
