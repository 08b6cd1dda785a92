"""The command ``labels``: qrels merged with labels of unjudged documents.

\b
Examples:
  pyterrier-asl labels qrels.txt todo.tsv ann.jsonl -o merged.txt
  pyterrier-asl labels qrels.txt todo.csv --conflicts official > merged.txt

\b
A file of labels is a table with the columns qid, docno and label (or query, docid and rating), JSON
lines with these keys, or qrels. A row without a label, or with a negative one, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..io.atomic import check_replaceable, replacing
from ..judging.qrels import OFFICIAL, Qrels, merge_labels
from ..printing.tables import MACHINE_READABLE, lines_of
from . import epilog, options, outputs, print_notes
from .option_table import declared, read_labels

if TYPE_CHECKING:
    import pandas as pd


@click.command(name="labels", cls=outputs.Command, epilog=epilog(__doc__))
@options.qrels
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-o",
    "--output",
    metavar="tsv|csv|jsonl|FILE",
    help="The form to print instead of lines of qrels, or a file: .tsv, .csv, .jsonl; others hold "
    "lines of qrels.",
)
@options.of(merge_labels, labels=None, add_queries=None)
@options.of(Qrels, "columns", "grades")
@outputs.force
def command(
    qrels: str,
    files: tuple[str, ...],
    output: str | None,
    force: bool,
    **_: Any,
) -> None:
    """Merge labels of unjudged documents with QRELS, and write the merged qrels.

    Official grades do not change. Labels that contradict each other are an error.
    """
    form = output if output in MACHINE_READABLE else Path(output or "").suffix[1:]
    if output and output != form:
        check_replaceable(output, inputs=options.inputs(), force=force)
    merged = merge_labels(declared(qrels), read_labels(files), add_queries=True, **options.given())
    lines = lines_of(merged, form, places=-1) if form in MACHINE_READABLE else _trec_lines(merged)
    text = "".join(f"{line}\n" for line in lines)
    if output and output != form:
        with replacing(output, force=True) as path:
            path.write_text(text, encoding="utf-8")
    else:
        click.echo(text, nl=False)
    print_notes(merged.attrs["notes"])
    added, judged = (merged["source"] != OFFICIAL).sum(), (merged["label"] >= 0).sum()
    click.echo(f"{output or 'merged'}: {judged} judgements, {added} of them labels", err=True)


def _trec_lines(qrels: pd.DataFrame) -> Iterator[str]:
    """Lines of qrels; ValueError for an id with a blank, which they cannot hold."""
    for qid, docno, label in zip(qrels["qid"], qrels["docno"], qrels["label"]):
        if len(f"{qid} {docno}".split()) != 2:
            raise ValueError(
                f"document {docno!r} of query {qid!r}: lines of qrels cannot hold ids with blanks; "
                "write a table, such as -o merged.csv"
            )
        yield f"{qid} 0 {docno} {label:g}"
