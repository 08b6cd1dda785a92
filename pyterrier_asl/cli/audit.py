"""The command ``audit``: runs measured by a machine's labels and people's.

\b
Examples:
  pyterrier-asl audit people.txt bm25.run dense.run --judge llm=llm.txt -m nDCG@10
  pyterrier-asl audit people.txt runs/ --judge llm=llm.txt --judge-rel llm=2 -m 'AP(rel=1)'
  pyterrier-asl audit none bm25.run dense.run --judge llm=llm.txt -m nDCG@10 \\
      --plan .1 --seed 1 --draw audit.tsv

\b
How to read it: QRELS are people's judgements of some queries, drawn at random from the machine's.
  estimate   the mean by both, which is right on average for any bias of the machine
  from, to   its confidence interval; -o tsv has those of people alone and of the machine alone, too
  saved      the number of further queries that people would have to judge for the same interval
             without the machine; negative if the machine costs precision
"""

from __future__ import annotations

import textwrap
from typing import Any

import click

from ..assessment import audit as library
from ..assessment.audit_plan import plan_audit
from ..evaluation.evaluate import evaluate
from ..evaluation.inputs import chosen_measures, refuse
from ..io.names import check_names
from ..io.runs import list_runs
from ..io.tables import write
from ..judging.judgements import MATCHING
from ..judging.qrels import Qrels
from ..statistics.prediction_powered import TARGETS
from . import Command, epilog, options, readers

#: QRELS of a plan without judgements by people.
NOBODY = "none"

#: The values of ``--target``.
_TARGETS = [target.replace(" ", "-") for target in TARGETS]


@click.command(name="audit", cls=Command, epilog=epilog(__doc__))
@options.qrels
@options.runs
@options.of(
    library.audit,
    machine={
        "help": "The machine: a name, and the file or ir_datasets id of its judgements, of the "
        "queries in QRELS, which people judged, and of more.",
        "names": ("--judge",),
        "metavar": "NAME=QRELS",
    },
    machine_rel={
        "help": "Minimum grade of a relevant document for the machine, if its scale differs from "
        "that of people; it has priority over the rel of a measure.",
        "names": ("--judge-rel",),
        "metavar": "NAME=GRADE",
        "type": str,
    },
    measures={
        "help": "Measures, in one or several -m: as 'evaluate' takes them, with its defaults, "
        "without counts.",
        "required": False,
    },
    target={
        "help": "The estimated mean: over queries like these, or over these alone.",
        "type": click.Choice(_TARGETS),
        "default": _TARGETS[0],
        "read": lambda text: text.replace("-", " "),
    },
    all_pairs={"help": "Compare every two runs."},
    name=None,
)
@options.of(evaluate, "lengths")
@options.of(Qrels, *MATCHING)
@click.option(
    "--plan",
    type=click.FloatRange(0, min_open=True),
    metavar="WIDTH",
    help="Print how many queries people must judge for intervals of at most this width, draw them "
    "at random (--seed), and list their documents. QRELS has the labels of a pilot; 'none': there "
    "is no pilot.",
)
@options.text_option(
    "--draw",
    "FILE",
    "With --plan: save the documents that people must judge; an existing file is an error.",
)
@options.of(plan_audit, "seed", seed={"help": "Seed of the draw of --plan."})
@options.chart("Also draw the estimates")
@options.places
@options.output("All forms but table have one row per mean and difference.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    machine: str,
    machine_rel: str | None,
    measures: tuple[str, ...],
    plan: float | None,
    draw: str | None,
    **values: Any,
) -> None:
    """Measure runs by a machine's labels of many queries and people's of some of them.

    With --plan, compute how many queries people must judge, and draw them at random. Each run is
    compared with the first.
    """
    options.check_chart()
    settings = options.given("measures", "machine", "machine_rel")
    if plan is None and (draw or "seed" in settings):
        raise click.UsageError("--draw and --seed go with --plan")
    if plan is None and qrels == NOBODY:
        raise click.UsageError(f"QRELS {NOBODY!r} goes with --plan")
    ((name, machine_qrels),) = readers.read_judges_by_name([machine]).items()
    of_measures = options.take(settings, "lengths", "rel")
    machine_qrels = options.qrels_of(machine_qrels)
    chosen = chosen_measures(measures or None, machine_qrels, **of_measures)
    # Counts have no direction.
    measured = {m.name: m.measure for m in chosen if measures or m.higher_is_better is not None}
    if machine_rel is not None:
        grades = readers.read_grades([machine_rel])
        by_name = grades if isinstance(grades, dict) else {name: grades}
        check_names("--judge-rel", by_name, [name], "judges")
        settings["machine_rel"] = by_name[name]
    if plan is not None:
        unused = options.take(settings, "baseline", "all_pairs")
        unused |= {one: values[one] for one in ("form", "places", "chart") if options.is_given(one)}
        refuse("is for estimates, not for --plan", **unused)
        pilot = None if qrels == NOBODY else qrels
        audit_plan = plan_audit(list_runs(runs), pilot, measured, machine_qrels, plan, **settings)
        if draw:
            audit_plan.save(draw)
        click.echo(audit_plan.sentence())
        pairs = (f"{qid}\t{docno}" for qid, docno in audit_plan.pairs)
        click.echo(f"wrote {draw}" if draw else "\n".join(pairs), err=bool(draw))
        return
    estimates = library.audit(
        list_runs(runs), qrels, measured, machine_qrels, name=name, **settings
    )
    if values["form"] == "table":
        estimates.show(places=values["places"])
    else:
        write(estimates.table, values["form"], places=values["places"])
        for note in estimates.sentences():
            click.echo(textwrap.fill(note, 100), err=True)
    options.save_chart(estimates.chart)
