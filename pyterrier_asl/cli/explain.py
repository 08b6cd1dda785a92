"""The command ``explain``: which convention gives the values of another program?

\b
Examples:
  pyterrier-asl explain qrels.txt hybrid.run -m nDCG@10 --value 0.4212
  pyterrier-asl explain qrels.txt hybrid.run -m nDCG@10 --scores theirs.tsv
  pyterrier-asl explain qrels.txt a.run b.run -m AP --value a=0.2812 --value b=0.3104
  pyterrier-asl explain qrels.txt hybrid.run -m map --scores theirs.txt -q -o tsv

\b
How to read the table of conventions:
  changes    number of options that differ from trec_eval's
  mean       mean of the values by this convention
  deviation  largest difference between the given values and those by this convention
  fit, of    number of given values that agree with it in all their decimals, and of all
The values of every query explain more than a mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ..evaluation import explanation as library
from ..evaluation.scores import read_scores
from ..printing.tables import write
from . import epilog, options, outputs, print_notes


@click.command(name="explain", cls=outputs.Command, epilog=epilog(__doc__))
@options.qrels
@options.runs
@click.option("-m", "--measure", required=True, metavar="NAME", help="nDCG, AP, RR, P or R.")
@options.repeated(
    "--value",
    metavar="[RUN=]MEAN",
    help="The mean that the other program gives, with all its decimals; of several runs with the "
    "name of each run.",
)
@options.repeated(
    "--scores",
    metavar="FILE",
    help="Instead of --value: values by query, in a table with the names of several runs, or as "
    "trec_eval -q prints them; can be given again.",
)
@options.matching
@options.switch("-q", "--by-query", "--by_query", help="Print the queries, not the conventions.")
@outputs.places
@outputs.table_size
@outputs.output("tsv, csv, jsonl: one row per convention, with -q per query.")
def command(
    qrels: str,
    runs: Sequence[str],
    measure: str,
    value: Sequence[str],
    scores: Sequence[str],
    by_query: bool,
    form: str,
    places: int,
    **_: Any,
) -> None:
    """Explain why another program's value differs from trec_eval's.

    QRELS is a file or the id of an ir_datasets dataset; RUN... are files and folders. Programs
    differ in gains, ideal rankings, ties, cut-offs, unjudged documents and queries: every
    combination is tried, and the combinations with the fewest changes that give the value are
    named.
    """
    if bool(value) == bool(scores):
        raise click.UsageError("give --value or --scores")
    values: Any = read_scores(scores) if scores else value[0]
    if value and (len(value) > 1 or "=" in value[0]):
        values = {name: mean for name, _, mean in (text.rpartition("=") for text in value)}
    explanation = library.explain(runs, options.qrels_of(qrels), measure, values)
    if form == "table" and not by_query:
        explanation.show(**outputs.style())
    else:
        write(explanation.by_query if by_query else explanation.table, form, **outputs.style())
    print_notes(explanation.notes)
