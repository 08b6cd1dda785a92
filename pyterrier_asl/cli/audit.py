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

from ..io.tables import write
from . import Command, epilog, options

#: QRELS of a plan without judgements by people.
NOBODY = "none"


@click.command(name="audit", cls=Command, epilog=epilog(__doc__))
@options.qrels
@options.runs
@click.option(
    "--judge",
    "machine",
    metavar="NAME=QRELS",
    required=True,
    help="The machine: a name, and the file or ir_datasets id of its judgements, of the queries in "
    "QRELS, which people judged, and of more.",
)
@click.option(
    "--judge-rel",
    "machine_rel",
    metavar="NAME=GRADE",
    help="Minimum grade of a relevant document for the machine, if its scale differs from that of "
    "people; it has priority over the rel of a measure.",
)
@click.option(
    "--target",
    type=click.Choice(["like-these", "these"]),
    default="like-these",
    show_default=True,
    help="The estimated mean: over queries like these, or over these alone.",
)
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
@options.chart("Also draw the estimates")
@options.measures("as 'evaluate' takes them, with its defaults, without counts.")
@options.text_option("--baseline", "RUN", "The run to compare with.  [default: the first]")
@options.switch("--all-pairs", help="Compare every two runs.")
@options.rel_of_measures
@options.lengths
@options.duplicates
@options.collapse
@options.alpha
@options.seed(default=None, show_default=False, help="Seed of the draw of --plan.  [default: 0]")
@options.places
@options.output_format(help="All forms but table have one row per mean and difference.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    machine: str,
    machine_rel: str | None,
    measures: tuple[str, ...],
    lengths: str | None,
    rel: float | None,
    duplicates: str | None,
    collapse: str | None,
    target: str,
    plan: float | None,
    draw: str | None,
    seed: int | None,
    **settings: Any,
) -> None:
    """Measure runs by a machine's labels of many queries and people's of some of them.

    With --plan, compute how many queries people must judge, and draw them at random. Each run is
    compared with the first.
    """
    from ..analysis import command_line
    from ..assessment.audit import audit
    from ..assessment.audit_plan import plan_audit
    from ..evaluation.evaluation import Evaluation
    from ..evaluation.inputs import chosen_measures, refuse
    from ..io.names import check_names
    from ..io.runs import list_runs
    from ..statistics.prediction_powered import TARGETS

    picture = options.take(settings, "chart", "title")
    printed = options.take(settings, "output_format", "places")
    ((name, machine_qrels),) = command_line.read_judges_by_name([machine]).items()
    sources: dict[str, Any] = list_runs(runs)
    options.check_chart(picture["chart"], [qrels, machine_qrels, *sources.values(), lengths])
    if (draw or seed is not None) and plan is None:
        raise click.UsageError("--draw and --seed go with --plan")
    if qrels == NOBODY and plan is None:
        raise click.UsageError(f"QRELS {NOBODY!r} goes with --plan")
    chosen = chosen_measures(measures or None, machine_qrels, lengths=lengths, rel=rel)
    # Counts have no direction.
    measured = {m.name: m.measure for m in chosen if measures or m.higher_is_better is not None}
    judged = Evaluation.of(sources, machine_qrels, duplicates=duplicates, collapse=collapse)
    common = options.take(settings, "alpha")
    if machine_rel is not None:
        grades = command_line.read_grades([machine_rel])
        by_name = grades if isinstance(grades, dict) else {name: grades}
        check_names("--judge-rel", by_name, [name], "judges")
        common["machine_rel"] = by_name[name]
    common["target"] = dict(zip(("like-these", "these"), TARGETS))[target]
    if plan is not None:
        of_estimates = options.take(settings, "baseline", "all_pairs")
        usual = {
            option.name: option.default for option in click.get_current_context().command.params
        }
        of_estimates |= {name: value for name, value in printed.items() if value != usual[name]}
        refuse("is for estimates, not for --plan", **of_estimates, chart=picture["chart"])
        pilot = None if qrels == NOBODY else qrels
        audit_plan = plan_audit(
            judged, pilot, measured, machine_qrels, plan, **common, seed=seed or 0
        )
        if draw:
            audit_plan.save(draw)
        click.echo(audit_plan.sentence())
        pairs = (f"{qid}\t{docno}" for qid, docno in audit_plan.pairs)
        click.echo(f"wrote {draw}" if draw else "\n".join(pairs), err=bool(draw))
        return
    estimates = audit(judged, qrels, measured, machine_qrels, name=name, **common, **settings)
    if printed["output_format"] == "table":
        estimates.show(places=printed["places"])
    else:
        write(estimates.table, printed["output_format"], places=printed["places"])
        for note in estimates.sentences():
            click.echo(textwrap.fill(note, 100), err=True)
    options.save_chart(estimates.chart, **picture)
