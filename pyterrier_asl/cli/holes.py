"""``pyterrier-asl holes``.

\b
Examples:
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100 --export todo.tsv
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100 --labels todo.tsv
  pyterrier-asl holes irds:vaswani bm25.run dense.run -m nDCG@10 --export todo.jsonl
  pyterrier-asl holes qrels.txt runs/ -m ASL@100 --chart pairs.html

\b
How to read it: unjudged documents count as not relevant; the bounds are the least and the greatest
A - B over all ways in which the unjudged documents that a run shows could be labelled.
  settled   all labellings agree on which run is better
  open      some labelling would turn the result; this does not say that it is likely
  certain   the t-test is significant under every labelling; impossible: under none

\b
What to judge (--export): a table (.tsv), JSON lines (.jsonl), UMBRELA's requests (.umbrela), or
qrels to be filled in. Labels come back by --labels, in any of these forms: they are merged with the
judgements, whose grades stay as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import epilog, options


@click.command(name="holes", epilog=epilog(__doc__))
@options.qrels
@options.runs
@click.option(
    "-m",
    "--measure",
    default="nDCG@10",
    show_default=True,
    metavar="NAME",
    help="P, R, RR, Success, AP, nDCG, RBP(rel=...), ASL, nASL, LexiP, TBG or a rareness measure.",
)
@options.text_option("--labels", "FILE", "Labels of documents that QRELS does not judge.")
@click.option(
    "--conflicts",
    type=click.Choice(["error", "official"]),
    default="error",
    show_default=True,
    help="Where a label contradicts an official grade: stop, or leave the label out.",
)
@click.option("--export", "export_to", metavar="FILE", help="Save the documents to judge next.")
@click.option(
    "--form",
    type=click.Choice(["tsv", "jsonl", "umbrela", "trec"]),
    help="Form of the exported file.  [default: by its ending]",
)
@click.option("--most", type=options.NUMBER, metavar="N", help="Export N documents at most.")
@options.force
@options.text_option("--others", "FOLDER", "Runs whose unjudged documents could be relevant, too.")
@click.option("--depth", type=options.NUMBER, help="Label down to this rank, if deeper.")
@click.option(
    "--highest",
    type=click.FloatRange(min=0),
    help="The best grade that a label can give in nDCG.  [default: the best of QRELS]",
)
@options.text_option(
    "--texts", "ID", "Collection of ir_datasets with the texts.  [default: QRELS, where it is one]"
)
@options.switch("--likely", help="How likely A is better, under a model.")
@options.chart("Draw the matrix of all pairs")
@options.by_query("The bounds of each query.")
@options.duplicates
@options.alpha
@options.places
@options.output_format("Two runs: a row, or a row a query with -q. More: a row a pair.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    labels: str | None,
    conflicts: str,
    export_to: str | None,
    form: str | None,
    most: int | None,
    others: str | None,
    force: bool,
    texts: str | None,
    likely: bool,
    chart: str | None,
    width: str | None,
    title: bool,
    by_query: bool,
    duplicates: str,
    places: int,
    output_format: str,
    **given: Any,
) -> None:
    """Say which conclusions hold whatever the unjudged documents are, and what to judge next.

    Two runs are compared with each other; a folder, or more runs, in all pairs.
    """
    from ..charts.saving import check_path, save_chart
    from ..io.runs import list_runs
    from ..io.tables import write
    from ..io.texts import Texts
    from ..judging.judgements import Judgements
    from ..unjudged.export import check_export, export
    from ..unjudged.holes import holes
    from ..unjudged.labels import merge_labels
    from ..unjudged.pairs import all_pairs

    read = [name for name in (qrels, *runs, labels, others) if name]
    if export_to:
        check_export(export_to, form, inputs=read, force=force)
    if chart:
        check_path(chart, inputs=read, force=force)
    judged = merge_labels(qrels, labels, conflicts=conflicts) if labels else qrels
    judgements = Judgements.of(judged, duplicates)
    named = list_runs(runs)
    if len(named) < 2:
        raise click.UsageError("holes compares runs with each other: give two or more")
    if len(named) != 2:
        if export_to or by_query or likely:
            raise click.UsageError("--export, --likely and -q take two runs")
        found = all_pairs(named, judgements, measure, **given)
        write(found.pairs, output_format, places=places)
        click.echo(", ".join(f"{n} {what}" for what, n in found.counts().items()), err=True)
        if chart:
            save_chart(found.chart(), chart, width=width, title=title, force=force)
        return
    if chart:
        raise click.UsageError("--chart draws all pairs of three runs or more")
    (a, run_a), (b, run_b) = named.items()
    pair = holes(run_a, run_b, judgements, measure, runs=others, names=(a, b), **given)
    write(pair.difference.by_query if by_query else pair.row(), output_format, places=places)
    if output_format == "table":
        click.echo(pair.describe())
    if likely:
        click.echo(pair.likely().sentence(a))
    if export_to:
        collection = texts or (None if Path(qrels).exists() else qrels)

        def of_collection(docnos: list[str]) -> Texts:
            return Texts.of(dataset=collection, docnos=docnos, whole=True)

        written = export(pair, export_to, form=form, most=most, texts=of_collection, force=force)
        click.echo(f"{export_to}: {written} documents to judge", err=True)
