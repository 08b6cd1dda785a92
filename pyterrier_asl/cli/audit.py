"""The command ``audit``: runs measured by a machine's labels and people's.

\b
Examples:
  pyterrier-asl audit people.txt bm25.run dense.run --machine-qrels llm.txt -m nDCG@10
  pyterrier-asl audit people.txt runs/ --machine-qrels llm.txt --machine-rel 2 -m 'AP(rel=1)'
  pyterrier-asl audit none bm25.run dense.run --machine-qrels llm.txt -m nDCG@10 \\
      --plan .1 --seed 1 --draw audit.tsv

\b
How to read it: QRELS are people's judgements of some queries, drawn at random from the machine's.
  estimate       by both; right on average with any bias of the machine
  from, to       its confidence interval; also of people alone and of the machine alone
  lambda         how far the machine is relied on, from 0, not at all, to 1
  queries saved  how many more queries people would have to judge for the same interval without
                 the machine; negative where the machine costs precision
"""

from __future__ import annotations

import textwrap
from typing import Any

import click

from . import epilog, options

#: QRELS of a plan that has no judgements by people yet.
NOBODY = "none"


@click.command(name="audit", epilog=epilog(__doc__))
@options.qrels
@options.runs
@click.option(
    "--machine-qrels",
    metavar="FILE",
    required=True,
    help="Judgements by a machine, of the queries of QRELS, which people judged, and more: "
    "estimate means and differences by both.",
)
@click.option(
    "--machine-rel",
    type=float,
    metavar="GRADE",
    help="Least relevant grade of the machine, if its scale is another than people's; it beats "
    "the grade of a measure.",
)
@click.option(
    "--target",
    type=click.Choice(["like-these", "these"]),
    default="like-these",
    show_default=True,
    help="The mean that is estimated: of queries like these, or of these alone.",
)
@click.option(
    "--plan",
    type=click.FloatRange(0, min_open=True),
    metavar="WIDTH",
    help="Say how many queries people must judge for intervals of at most this width, and "
    "draw them at random (--seed), by the pilot in QRELS; QRELS 'none': no pilot yet.",
)
@options.text_option(
    "--draw",
    "FILE",
    "With --plan: save the queries that people are to judge; refuses to draw again.",
)
@options.chart("Draw the estimates as well")
@options.measures("as 'evaluate' takes them, with its defaults, without counts.")
@options.text_option("--baseline", "RUN", "The run to compare with.  [default: the first]")
@options.switch("--all-pairs", help="Compare every two runs.")
@options.rel_of_measures
@options.lengths
@options.duplicates
@options.alpha
@options.seed(help="Seed of the draw of --plan.")
@options.places
@options.output_format(help="All but table are a row for each mean and difference.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    machine_qrels: str,
    measures: tuple[str, ...],
    lengths: str | None,
    target: str,
    plan: float | None,
    draw: str | None,
    output_format: str,
    places: int,
    duplicates: str | None,
    chart: str | None,
    width: str | None,
    title: bool,
    alpha: float,
    rel: float | None,
    machine_rel: float | None,
    seed: int,
    baseline: str | None,
    all_pairs: bool,
) -> None:
    """Measure runs by a machine's labels of many queries and people's of some of them.

    Or plan it: how many queries people must judge, drawn at random. Of several runs each is
    compared with the first.
    """
    from ..assessment.audit import audit
    from ..assessment.audit_plan import plan_audit
    from ..evaluation.evaluation import Evaluation
    from ..io.runs import list_runs
    from ..io.tables import write
    from ..statistics.prediction_powered import TARGETS

    sources: dict[str, Any] = list_runs(runs)
    options.check_chart(chart, [qrels, machine_qrels, *sources.values(), lengths])
    if draw and plan is None:
        raise click.UsageError("--draw goes with --plan")
    measured = _measures_of(measures, machine_qrels, lengths, rel)
    judged = Evaluation.of(sources, machine_qrels, duplicates=duplicates)
    common: dict[str, Any] = {
        "target": dict(zip(("like-these", "these"), TARGETS))[target],
        "machine_rel": machine_rel,
        "alpha": alpha,
    }
    if plan is not None:
        pilot = None if qrels == NOBODY else qrels
        audit_plan = plan_audit(judged, pilot, measured, machine_qrels, plan, **common, seed=seed)
        if draw:
            audit_plan.save(draw)
        click.echo(audit_plan.sentence())
        click.echo(f"wrote {draw}" if draw else " ".join(audit_plan.drawn), err=bool(draw))
        return
    if qrels == NOBODY:
        raise click.UsageError(f"QRELS {NOBODY!r} goes with --plan")
    common |= {"baseline": baseline, "all_pairs": all_pairs}
    estimates = audit(judged, qrels, measured, machine_qrels, **common)
    if output_format == "table":
        estimates.show(places=places)
    else:
        write(estimates.table, output_format, places=places)
        for note in estimates.sentences():
            click.echo(textwrap.fill(note, 100), err=True)
    options.save_chart(estimates.chart, chart, width=width, title=title)


def _measures_of(
    names: tuple[str, ...], machine: str, lengths: str | None, rel: float | None
) -> dict[str, Any]:
    """The measures by name; of the default ones those with a direction."""
    from ..evaluation.inputs import complete_measures, measures_for
    from ..measures.names import parse_measures

    if names:
        measures = parse_measures(names)
    else:
        default = measures_for(machine, several=False, lengths=lengths is not None, rel=rel)
        measures = [measure for measure in default if measure.higher_is_better is not None]
    return {
        named.name: named.measure for named in complete_measures(measures, lengths=lengths, rel=rel)
    }
