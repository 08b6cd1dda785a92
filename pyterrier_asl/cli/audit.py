"""The command ``audit``: runs measured by a machine's labels and people's.

\b
Examples:
  pyterrier-asl audit people.txt bm25.run dense.run --judge llm=llm.txt -m nDCG@10
  pyterrier-asl audit people.txt runs/ --judge llm=llm.txt --judge-rel llm=2 -m 'AP(rel=1)'
  pyterrier-asl audit people.txt runs/ --judge llm=llm.txt -m nDCG@10 --baseline bm25 -o latex
  pyterrier-asl audit pilot.tsv runs/ --labels more.tsv --judge llm=llm.txt -m nDCG@10

\b
How to read it: QRELS are people's judgements of some queries, drawn at random from the machine's.
  estimate   the mean by both, which is right on average for any bias of the machine
  from, to   its confidence interval; -o tsv has those of people alone and of the machine alone, too
  p          of a difference, corrected over the differences of a measure
  saved      the number of further queries that people would have to judge for the same interval
             without the machine; negative if the machine costs precision; in sentences with its
             range by the correlation of people and machine
  by a pool  the measure looks at more documents than people judged
"""

from __future__ import annotations

import textwrap
from typing import Any

import click

from ..assessment import audit as library
from ..common.parameters import check_names
from ..evaluation.evaluate import evaluate
from ..evaluation.sources import chosen_measures, refuse
from ..io.runs import list_runs
from ..judging.judgements import MATCHING
from ..judging.qrels import Qrels
from ..printing.tables import write
from . import epilog, options, outputs, print_notes, readers
from .option_table import declared

#: QRELS of a plan without judgements by people.
NOBODY = "none"

#: Files of people's labels besides QRELS.
rounds = options.repeated(
    "--labels",
    "files",
    metavar="FILE",
    help="People's labels of a further round, besides QRELS; can be given again.",
)

#: The options of the machine, the measures and the target, of 'audit' and 'plan-audit'.
MACHINE: dict[str, Any] = {
    "machine": {
        "help": "The machine: a name, and the file or ir_datasets id of its judgements, of the "
        "queries in QRELS, which people judged, and of more.",
        "names": ("--judge",),
        "metavar": "NAME=QRELS",
        "multiple": True,
    },
    "machine_rel": {
        "help": "Minimum grade of a relevant document for the machine, if its scale differs from "
        "that of people; it has priority over the rel of a measure.",
        "names": ("--judge-rel",),
        "metavar": "NAME=GRADE",
        "type": str,
        "multiple": True,
    },
    "measures": {
        "help": "Measures, in one or several -m: as 'evaluate' takes them, with its defaults, "
        "without counts.",
        "required": False,
    },
    "target": {
        "help": "The estimated mean: over queries like these, or over these alone.",
        "type": click.Choice(["queries-like-these", "these-queries"]),
        "default": "queries-like-these",
    },
}


@click.command(name="audit", cls=outputs.Command, epilog=epilog(__doc__))
@options.qrels
@options.runs
@rounds
@options.of(library.audit, **MACHINE, name=None)
@options.of(evaluate, "lengths")
@options.of(Qrels, *MATCHING, "columns", "grades")
@outputs.chart("Also draw the estimates")
@outputs.places
@outputs.output("tsv, csv, jsonl: one row per mean and difference.")
def command(qrels: str, runs: tuple[str, ...], places: int, form: str, **_: Any) -> None:
    """Measure runs by a machine's labels of many queries and people's of some of them.

    Each run is compared with the first, or with --baseline. 'plan-audit' draws the queries.
    """
    outputs.check_chart()
    if (people := people_of(qrels)) is None:
        raise click.UsageError(f"QRELS {NOBODY!r} is for 'plan-audit'")
    machine, measures, settings = of_machine()
    estimates = library.audit(
        list_runs(options.runs_of(runs)), people, measures, machine, **settings
    )
    if form == "table":
        estimates.show(places=places)
    elif form == "latex":
        click.echo(estimates.to_latex(places=places), nl=False)
    else:
        write(estimates.table, form, places=places)
        for note in estimates.sentences():
            click.echo(textwrap.fill(note, 100), err=True)
    print_notes(estimates.notes, form)
    outputs.save_chart(estimates.chart)


def people_of(qrels: str) -> Any:
    """People's judgements, of several rounds as a list of files; None: there are none."""
    files = click.get_current_context().params["files"]
    if qrels == NOBODY:
        refuse(f"is for judgements by people, not for QRELS {NOBODY}", labels=files)
        return None
    return [*map(declared, (qrels, *files))] if files else declared(qrels)


def of_machine() -> tuple[Any, Any, dict[str, Any]]:
    """The machine's qrels, the measures, and further settings, the machine's name among them."""
    given = click.get_current_context().params
    settings = options.given("measures", "machine", "machine_rel")
    judges = readers.read_judges_by_name(given["machine"])
    if len(judges) != 1 or len(given["machine_rel"]) > 1:
        raise click.UsageError(
            f"an audit is of one machine, not of {' and '.join(judges)}: give --judge and "
            "--judge-rel once"
        )
    ((name, path),) = judges.items()
    qrels = options.qrels_of(path)
    measures = {
        m.name: m.measure
        for m in chosen_measures(
            given["measures"] or None, qrels, **options.take(settings, "lengths", "rel")
        )
        if given["measures"] or m.higher_is_better is not None  # counts have no direction
    }
    if given["machine_rel"]:
        grades = readers.read_grades(given["machine_rel"])
        by_name = grades if isinstance(grades, dict) else {name: grades}
        check_names("--judge-rel", by_name, [name], "judges")
        settings["machine_rel"] = by_name[name]
    return qrels, measures, {**settings, "name": name}
