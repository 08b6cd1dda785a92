"""The command ``ranks``: intervals of the ranks of systems.

\b
Examples:
  pyterrier-asl ranks qrels.txt runs/ -m nDCG@10
  pyterrier-asl ranks qrels.txt runs/ -m nDCG@10 --unjudged
  pyterrier-asl ranks nist.txt runs/ -m nDCG@10 --judge gpt=gpt.txt --judge-rel gpt=2
  pyterrier-asl ranks --track covid covid.qrels covid/ --track nq nq.qrels nq/ -m nDCG@10 -o latex
  pyterrier-asl ranks --scores perquery.csv -m nDCG@10 --chart ranks.svg

\b
How to read it: the topics are a sample.
  ranks              the ranks that the system could have; with 95 % confidence the intervals of all
                     systems hold at once
  could be the best  no other system is better by a test of its own, which is about this system
--unjudged: whatever the unjudged documents of these runs are. --judge: whichever judge is right.
'compare' is about two named runs, which is another and narrower question.
"""

from __future__ import annotations

from typing import Any

import click

from . import epilog, options


@click.command(name="ranks", epilog=epilog(__doc__))
@options.qrels_if_any
@options.runs_if_any
@click.option(
    "-m", "--measure", help="By which measure.  [default: nDCG@10; of --scores the only one]"
)
@options.tracks("-t")
@options.common
@options.switch("--simultaneous", help="The tables of all tracks hold at once.")
@options.scores
@options.switch("--unjudged", help="Whatever the unjudged documents of these runs are.")
@options.judges(
    help="Another judge: a name, and a file or ir_datasets id; of a track TRACK=NAME=QRELS. Can be "
    "given again."
)
@options.about_judges
@options.rel(
    help="Least grade of a relevant document, for a measure that does not say.  [default: 1]"
)
@click.option(
    "--variance",
    type=click.Choice(["averaged", "common"]),
    default="averaged",
    show_default=True,
    help="Of a pair: averaged with that of all pairs, or the latter alone, which is wider.",
)
@options.alpha
@click.option(
    "--draws", type=options.NUMBER, default=10_000, show_default=True, help="Random sign vectors."
)
@options.seed(help="Seed of the sign vectors.")
@options.labels
@options.duplicates
@options.chart("Draw the intervals")
@options.places
@options.output_format(help="tsv and jsonl: a row a system, the ends of intervals in columns.")
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    measure: str | None,
    tracks: tuple[tuple[str, str, str], ...],
    scores: tuple[str, ...],
    judges: tuple[str, ...],
    judge_rel: tuple[str, ...],
    labels: tuple[str, ...],
    chart: str | None,
    width: str | None,
    title: bool,
    places: int,
    output_format: str,
    **settings: Any,
) -> None:
    """Which ranks could each system have, and who could be the best?

    QRELS, the judgements, are a file or the id of an ir_datasets dataset, RUN... files and folders.
    """
    from ..analysis import command_line
    from ..io.tables import write
    from ..leaderboard.ranks import ranks

    options.check_chart(chart, [qrels, *runs, *scores, *labels], tracks)
    of_scores = {name: settings.pop(name) for name in options.OF_SCORES}
    measures = [measure] if measure else []
    source, judgements = options.sources(
        qrels, runs, tracks, scores, measures=measures, **of_scores
    )
    read_judges = command_line.read_judges_of_tracks if tracks else command_line.read_judges
    board = ranks(
        source,
        judgements,
        measure,
        judges=read_judges(judges) or None,
        judge_rel=command_line.read_judge_rel(judge_rel) if judge_rel else None,
        labels=options.read_labels(labels),
        **settings,
    )
    if output_format == "table":
        board.show(places=places)
    elif output_format in ("tsv", "jsonl"):
        write(board.table, output_format, places=places)
    else:
        directions = board.directions()
        write(board.shown(), output_format, places=places, higher_is_better=directions)
    options.save_chart(board.chart, chart, width=width, title=title)
