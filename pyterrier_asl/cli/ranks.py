"""The command ``ranks``: intervals of the ranks of systems.

\b
Examples:
  pyterrier-asl ranks qrels.txt runs/ -m nDCG@10
  pyterrier-asl ranks qrels.txt runs/ -m nDCG@10 --unjudged
  pyterrier-asl ranks qrels.txt runs/ -m nDCG@10 --pairs -o pairs.tsv
  pyterrier-asl ranks nist.txt runs/ -m nDCG@10 --judge gpt=gpt.txt --judge-rel gpt=2
  pyterrier-asl ranks --track covid covid.qrels covid/ --track nq nq.qrels nq/ -m nDCG@10 -o latex
  pyterrier-asl ranks --scores perquery.csv -m nDCG@10 --chart ranks.svg

\b
How to read it: the queries are a sample of a population of queries.
  name  mean      rank   ranks  could be the best
  a     0.7031       1   1-3    yes                a has the best mean; its rank is 1, 2 or 3
  b     0.6876       2   1-3    yes                b could also be the best: a is not shown to be
                                                   better
  c     0.6512       3   1-3    no                 a is better by the test of the best, but not
                                                   significantly better among all pairs
  d     0.4020  *    4   4      no                 *: a is significantly better (p, corrected for
                                                   all pairs, at most alpha); three systems are,
                                                   so d has rank 4
With --pairs: difference of the means, a less b; statistic, the difference by its standard error;
p, corrected for all pairs; ordered, whether a is significantly better than b.
With 95 % confidence the intervals of ranks of all systems hold simultaneously. With --unjudged they
hold for all labels of the unjudged documents of these runs, with --judge for each judge.
'compare' tests runs against a baseline that was chosen before looking at the results.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import click

from ..leaderboard import ranks as library
from ..leaderboard.result import pairs_caption
from ..printing.tables import MACHINE_READABLE, write
from . import epilog, options, outputs, print_notes


@click.command(name="ranks", cls=outputs.Command, epilog=epilog(__doc__))
@options.qrels_if_any
@options.runs_if_any
@options.tracks
@options.scores
@options.of(
    library.ranks,
    measures={
        "help": "The measure.",
        "multiple": False,
        "metavar": "NAME",
        "none": "nDCG@10; with --scores the only measure in the table",
    },
    unjudged={"help": "Intervals for all labels of unjudged documents."},
    judges={
        "help": "Another judge: a name, and a file or ir_datasets id; for a track "
        "TRACK=NAME=QRELS; can be given again."
    },
    depth=None,
    highest=None,
    variance={
        "help": "The variance of a pair: averaged with the common variance of all pairs, or this "
        "common variance, which gives wider intervals.",
        "type": click.Choice(["averaged", "common"]),
    },
)
@options.matching
@outputs.show(
    "ranks", "pairs", "queries", help="pairs: p of each pair of systems; queries: values."
)
@outputs.chart("Also draw the intervals")
@click.option(
    "--top", type=options.NUMBER, metavar="N", help="Print the first N systems, ranked among all."
)
@outputs.places
@outputs.table_size
@outputs.output("tsv, csv, jsonl: one row per system, two columns per interval.")
def command(show: str | None, top: int | None, places: int, form: str, **_: Any) -> None:
    """Which ranks could each system have, and who could be the best?

    QRELS is a file or the id of an ir_datasets dataset; RUN... are files and folders.
    """
    outputs.check_chart()
    if top and show not in (None, "ranks"):
        raise click.UsageError(f"--top is for the table of systems, not for --show {show}")
    source, judgements = options.sources()
    board = replace(library.ranks(source, judgements, **options.given()), top=top)
    if show == "queries":
        write(
            board.values.T.rename_axis(index="qid", columns=None).reset_index(), form, places=places
        )
    elif show == "pairs":
        style: dict[str, Any] = {**outputs.style(), "zero_p": 1 / board.draws}
        if form == "latex":
            style["caption"] = pairs_caption(board)
        write(board.pairs(), form, **style)
    elif form == "table":
        board.show(**outputs.style() | ({"all_rows": True} if top else {}))
    elif form in MACHINE_READABLE:
        write(board.table[board.table["name"].isin(board.names[:top])], form, places=places)
    elif form == "latex":
        click.echo(board.to_latex(places=places), nl=False)
    else:
        write(board.shown(), form, places=places, higher_is_better=board.directions())
    print_notes(board.notes, form if show in (None, "ranks") else "")
    outputs.save_chart(partial(board.chart, "queries" if show == "queries" else None))
