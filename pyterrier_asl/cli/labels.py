"""The command ``labels``: qrels merged with labels of unjudged documents.

\b
Examples:
  pyterrier-asl labels qrels.txt todo.tsv ann.jsonl -o merged.txt
  pyterrier-asl labels qrels.txt todo.csv --conflicts official > merged.txt

\b
A file of labels is a table (tabs, commas or semicolons) with the columns qid, docno and label, JSON
lines with these keys, or qrels. A row without a label, or with a negative one, is left out.
"""

from __future__ import annotations

from typing import Any

import click

from ..io.atomic import check_replaceable, replacing
from ..judging.qrels import OFFICIAL, merge_labels
from . import Command, epilog, options


@click.command(name="labels", cls=Command, epilog=epilog(__doc__))
@options.qrels
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "--output", metavar="FILE", help="File for the merged qrels.  [default: print]")
@options.of(merge_labels, labels=None)
@options.force
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
    if output:
        check_replaceable(output, inputs=options.inputs(), force=force)
    merged = merge_labels(qrels, options.read_labels(files), **options.given())
    rows = zip(merged["qid"], merged["docno"], merged["label"])
    text = "".join(f"{qid} 0 {docno} {label:g}\n" for qid, docno, label in rows)
    if output:
        with replacing(output, force=True) as path:
            path.write_text(text, encoding="utf-8")
    else:
        click.echo(text, nl=False)
    added = int((merged["source"] != OFFICIAL).sum())
    click.echo(f"{output or 'merged'}: {len(merged)} judgements, {added} of them labels", err=True)
