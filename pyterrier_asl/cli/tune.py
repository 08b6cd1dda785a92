"""``pyterrier-asl tune``."""

from __future__ import annotations

from typing import Any

import click

from . import options

EPILOG = """\b
Examples:
  pyterrier-asl tune vaswani --trials 100
  pyterrier-asl tune vaswani --split --metric TBG
  pyterrier-asl tune corpora/time --transfer corpora/cacm --out results
  pyterrier-asl tune disks45/nocr/trec7 --transfer disks45/nocr/trec8 --jobs -1
  pyterrier-asl tune vaswani --metric ASL@1000 --storage sqlite:///search.db

\b
The stages (Clarke 2019), each with the best of those before it:
  initial retrieval  BM25: b from (0, 1), k1 from (.01, 1000), log-uniform
  feedback           Robertson's: documents m (8 to 32), terms n (4 to 32), weight gamma (0, 1)
  final retrieval    of the expanded query: b and k1 of its own

\b
COLLECTION is an ir_datasets id, or a folder with
  docs.jsonl.gz      objects with docno, text and, where there is one, title
  queries.tsv        query id, tab, query
  qrels.txt          judgements
It is indexed without Java. The same seed makes the same trials, whatever --jobs.

Needs pyterrier-asl[tune]."""


@click.command(name="tune", epilog=EPILOG)
@click.argument("collection")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    default=("AP", "TBG"),
    show_default=True,
    help="Tune for this measure, any of 'evaluate'; can be given again. AP, TBG and all that are "
    "tuned for are reported.",
)
@click.option(
    "--trials", type=click.IntRange(min=1), default=1000, show_default=True,
    help="Random settings of each stage.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the settings."
)
@click.option("--transfer", metavar="COLLECTION", help="Measure what was found on this one, too.")
@click.option("--split", is_flag=True, help="Tune on every other topic; transfer to the rest.")
@options.jobs("Trials")
@click.option(
    "--storage", metavar="URL", help="Keep trials in this database, and resume from it."
)
@click.option(
    "--out", metavar="FOLDER",
    help="Write the table, all trials and, with pyterrier-asl[charts], their chart here.",
)
@options.places
@options.output_format("tsv begins with the names of the columns.")
def command(
    collection: str,
    metrics: tuple[str, ...],
    trials: int,
    transfer: str | None,
    split: bool,
    out: str | None,
    places: int,
    output_format: str,
    **search: Any,
) -> None:
    """Tune BM25 with feedback by random search in stages, for AP, for TBG, for any measure.

    Prints the best and the worst setting of each stage and, with --transfer or --split, how the
    best does on topics that it was not tuned on (Clarke 2019, Table 2).
    """
    import sys

    from .. import frames
    from ..collection import load_collection

    try:
        from .. import staged_tuning
    except ImportError as error:  # it says what to install
        raise click.ClickException(str(error)) from error
    if split and transfer:
        raise click.UsageError("--split and --transfer exclude each other")
    watched = sys.stderr.isatty()
    tuned_on = load_collection(collection, verbose=watched)
    other = load_collection(transfer, tuned_on, verbose=watched) if transfer else None
    if split:
        tuned_on, other = tuned_on.every_other_topic(0), tuned_on.every_other_topic(1)
    results = staged_tuning.tune_for_each(
        tuned_on, metrics, transfer=other, n_trials=trials, verbose=watched, **search
    )
    table = staged_tuning.side_by_side(results)
    if output_format == "table":
        click.echo(f"{tuned_on.name}: BM25 with feedback, {trials} trials a stage (Clarke 2019)\n")
    if output_format in ("table", "latex"):
        table = staged_tuning.in_the_papers_words(table)
    frames.write(table, output_format, places=places, group_by="stage")
    if out:
        for path in staged_tuning.save(results, out):
            click.echo(f"wrote {path}", err=True)
