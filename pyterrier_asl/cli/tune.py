"""The command ``tune``: random search of the parameters of BM25 with feedback.

\b
Examples:
  pyterrier-asl tune vaswani --trials 100
  pyterrier-asl tune vaswani --split -m TBG --weights rsj
  pyterrier-asl tune corpora/time --transfer corpora/cacm --out results
  pyterrier-asl tune disks45/nocr/trec7 --transfer disks45/nocr/trec8 --jobs -1
  pyterrier-asl tune vaswani -m ASL@1000 --storage sqlite:///search.db

\b
The stages (Clarke 2019). Each uses the best setting of the stage before it, and also tries the
defaults and the parameters that an earlier stage gave to it (carried over):
  initial retrieval  BM25: b from (0, 1), k1 from (.01, 1000), log-uniform
  feedback           Robertson's: documents m (8 to 32), terms n (4 to 32), weight gamma (0, 1)
  final retrieval    other b and k1 for the expanded query

\b
COLLECTION is an ir_datasets id, or a folder with
  docs.jsonl.gz      objects with docno, text and perhaps title
  queries.tsv        query id, tab, query
  qrels.txt          judgements
It is indexed without Java. The same seed gives the same trials for any --jobs.

Needs Optuna: pip install '.[tune]'.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import Any

import click

from ..common.notices import DoubtfulInput
from ..printing import tables
from ..tuning import clarke
from ..tuning.collection import load_collection
from ..tuning.stages import StagedSearch
from . import epilog, options, outputs, print_notes


@click.command(name="tune", cls=outputs.Command, epilog=epilog(__doc__))
@click.argument("collection")
@options.of(
    clarke.tune_for_each,
    measures={"help": "Measures to tune for; the table has AP, TBG and all of these."},
    transfer={
        "help": "Also measure the tuned pipelines on this collection.",
        "metavar": "COLLECTION",
    },
    split={"help": "Tune on every other query and measure the rest."},
    weights={
        "help": "Term weights of feedback: BM25's, or relevance weights (Robertson, Sparck Jones).",
        "type": click.Choice(["idf", "rsj"]),
    },
)
@options.of(
    StagedSearch,
    "n_trials",
    "trials_only",
    "seed",
    "jobs",
    "storage",
    n_trials={"names": ("--trials",)},
    seed={"default": 0},
    storage={"help": "Save trials in this database, and resume from it.", "metavar": "URL"},
)
@options.of(load_collection, "columns", "grades")
@click.option(
    "--out",
    metavar="FOLDER",
    help="Folder for the table, all trials and, with Altair, their chart.",
)
@outputs.places
@outputs.table_size
@outputs.output("tsv has a header.")
def command(
    collection: str,
    measures: tuple[str, ...],
    transfer: str | None,
    split: bool,
    storage: str | None,
    columns: str | None,
    grades: str | None,
    out: str | None,
    force: bool,
    form: str,
    n_trials: int,
    seed: int,
    **_: Any,
) -> None:
    """Tune BM25 with feedback for a measure, by random search in stages.

    Prints the best and the worst setting of each stage (Clarke 2019, Table 2), and which candidate
    is the best: the defaults, the parameters carried over, or a trial. With --split or
    --transfer the best settings are also measured on other queries, and compared there with BM25
    without feedback and with the default parameters (paired t-tests).
    """
    from ..tuning import study

    if split and transfer:
        raise click.UsageError("--split and --transfer exclude each other")
    if out:
        clarke.check_folder(out, force=force)
    search = {
        **options.given("measures", "transfer", "storage"),
        "seed": seed,
        "verbose": sys.stderr.isatty(),
        "storage": study.open_storage(storage),  # before the documents are indexed
    }
    read = partial(load_collection, verbose=search["verbose"], columns=columns, grades=grades)
    tuned_on = read(collection)
    other = read(transfer, tuned_on) if transfer else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulInput)  # the notes have all
        results = clarke.tune_for_each(tuned_on, measures, transfer=other, **search)
    if form == "table":
        click.echo(
            f"{tuned_on.name}: BM25 with feedback, {n_trials} trials per stage (Clarke 2019)\n"
        )
    tables.write(clarke.side_by_side(results), form, group_by="stage", **outputs.style())
    for sentence in [*clarke.winners(results), *clarke.transfer_verdicts(results)]:
        click.echo(f"\n{sentence}", err=form != "table")
    print_notes(dict.fromkeys(note for result in results.values() for note in result.notes))
    if out:
        for path in clarke.save(results, out, force=force):
            click.echo(f"wrote {path}", err=True)
