"""The command ``plan-audit``: which queries and documents people must judge for an audit.

\b
Examples:
  pyterrier-asl plan-audit none runs/ --judge llm=llm.txt -m nDCG@10
  pyterrier-asl plan-audit none runs/ --judge llm=llm.txt -m nDCG@10 --width .1 -o audit.tsv
  pyterrier-asl plan-audit pilot.tsv runs/ --judge llm=llm.txt -m nDCG@10 --queries 25 -o more.tsv

\b
How to read it: QRELS are people's judgements of a pilot; 'none': there is no pilot.
  queries    number of queries that people judge, with the pilot
  documents  number of documents to judge: the pool of the runs, to the deepest cut-off
  width      of the widest interval of 'audit' that is expected, from end to end
  upper      limit of this width that holds in about 9 of 10 plans; --width is for this limit
"""

from __future__ import annotations

from typing import Any

import click

from ..assessment.audit_plan import plan_audit
from ..evaluation.evaluate import evaluate
from ..io.runs import list_runs
from ..judging.judgements import MATCHING
from ..judging.qrels import Qrels
from . import epilog, options, outputs
from .audit import MACHINE, NOBODY, of_machine, people_of, rounds


@click.command(name="plan-audit", cls=outputs.Command, epilog=epilog(__doc__))
@options.qrels
@options.runs
@rounds
@options.of(
    plan_audit,
    **MACHINE,
    width={
        "help": "Draw as many queries as intervals of at most this width need.",
        "type": click.FloatRange(0, min_open=True),
    },
    queries={"help": "Draw this number of queries, with the pilot."},
    depth={
        "type": options.NUMBER,
        "none": "the deepest cut-off of the measures",
    },
)
@options.of(evaluate, "lengths")
@options.of(Qrels, *MATCHING, "columns", "grades")
@outputs.saved("tsv", "File for the documents that people must judge, which must be new")
def command(qrels: str, runs: tuple[str, ...], output: str | None, **_: Any) -> None:
    """Plan an audit: how many queries people must judge, and which documents.

    Prints the number of documents and the expected width for several numbers of queries. With
    --width or --queries, draws the queries at random; -o saves their documents.
    """
    machine, measures, settings = of_machine()
    settings.pop("name")  # a plan has no estimates to name
    plan = plan_audit(
        list_runs(options.runs_of(runs)), people_of(qrels), measures, machine, **settings
    )
    if output:
        plan.save(output)
        files = [qrels] * (qrels != NOBODY) + [*click.get_current_context().params["files"], output]
        rounds = "".join(f" --labels {name}" for name in files[1:])
        then = f": fill in its column label, then: pyterrier-asl audit {files[0]} RUN...{rounds}"
        if outputs.PRINTED not in click.get_current_context().meta:
            click.echo(f"wrote {output}{then}, with --judge and -m of this plan", err=True)
    plan.show()
