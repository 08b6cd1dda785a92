"""``pyterrier-asl evaluate``.

\b
Examples:
  pyterrier-asl evaluate qrels.txt bm25.run
  pyterrier-asl evaluate qrels.txt runs/ -m 'ASL@1000 LexiP AP nDCG@10' --sort ASL@1000
  pyterrier-asl evaluate qrels.txt a.run b.run -m 'ASL(g=10)@1000' -m map -q -o tsv
  pyterrier-asl evaluate irds:vaswani bm25.run.gz --lengths irds:vaswani
  pyterrier-asl evaluate dl20.qrels runs/ --rel 2 -o latex > table.tex
  pyterrier-asl evaluate qrels.txt runs/ -m nDCG@10 --ranks
  pyterrier-asl evaluate --track dl19 dl19.qrels dl19-runs/ --track dl20 dl20.qrels dl20-runs/

\b
How to read the numbers:
  ASL       irrelevant documents above a relevant one, plus one; lower is better, 1 is perfect
  nASL      the same on a scale from 0 to 1, higher is better
  LexiP     like RR, but ties are broken by the next relevant document, and the next
  Rareness  precision with credit for relevant documents that other runs do not find
  TBG       relevant documents a user is expected to save before running out of time
ASL@1000 over deep pools is mostly recall: read it beside R@1000 and Judged@10.

\b
Exit status: 0, all runs were measured; 1, some could not be (the others are shown, the
reason is on stderr); 2, none could be, or what was asked for cannot be understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from . import epilog, options

if TYPE_CHECKING:
    from ..evaluation.files import Measured


@click.command(name="evaluate", epilog=epilog(__doc__))
@options.qrels_if_any
@options.runs_if_any
@options.measures(
    "of this package, of ir_measures ('AP(rel=2) nDCG@10') or of trec_eval ('map P_10'). Default: "
    "ours, and AP, nDCG@10, R@1000, Judged@10; for an ir_datasets id also its official measures, "
    "whose rel all others take."
)
@options.by_query("A row for each query.")
@options.switch("-n", "--no_summary", help="With -q: without the means.")
@options.places
@options.output_format(
    "tsv and jsonl: a line for each value, as ir_measures prints them; the run's name comes "
    "first, unless RUN is a single file."
)
@options.tracks("-t")
@options.common
@options.switch("--ranks", help="Also the best and the worst rank that each run could have.")
@click.option("-s", "--sort", default="", metavar="NAME", help="Runs by this measure, best first.")
@options.rel("Least grade of a relevant document, for measures that do not say.  [default: 1]")
@options.pool("the runs given.")
@options.lengths
@options.duplicates
@options.jobs("Runs")
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    tracks: tuple[tuple[str, str, str], ...],
    common: bool,
    ranks: bool,
    measures: tuple[str, ...],
    by_query: bool,
    no_summary: bool,
    places: int,
    output_format: str,
    sort: str,
    **given: Any,
) -> None:
    """Measure run files (plain or compressed, folders of them, or - for standard input).

    QRELS, the judgements, are a file or the id of an ir_datasets dataset. Files are read as
    trec_eval reads them: any white space, the rank and lines that begin with # ignored, means over
    all queries of the qrels. A line that does not fit is an error with its number.
    """
    from pathlib import Path

    from ..io import tables

    if no_summary and not by_query:
        raise click.UsageError("-n (--no_summary) goes with -q (--by_query) only")
    if ranks and by_query:
        raise click.UsageError("--ranks are of means: leave out -q (--by_query)")
    if output_format == "jsonl" and places != 4:
        click.echo("--places is ignored with JSON lines, which have all digits", err=True)
    source, judgements = options.sources(qrels, runs, tracks)
    results = _measure(source if tracks else {"": (source, judgements)}, measures, common, given)
    parts = {}
    for track, done in results.items():
        parts[track] = done.scores(by_query=by_query, summary=not no_summary, sort=sort)
        if ranks:
            parts[track] = _with_ranks(parts[track], done)
    scores = tables.with_tracks(parts) if tracks else parts[""]
    first = next(iter(results.values()))
    if output_format in ("tsv", "jsonl"):
        with_run = bool(tracks) or len(runs) > 1 or Path(runs[0]).is_dir()
        values = tables.a_row_per_value(scores, with_run=with_run)
        tables.write(values, output_format, header=False, places=places)
    else:
        tables.write(
            scores,
            output_format,
            places=places,
            group_by="track" if tracks else "",
            titles={"qid": "query"},
            higher_is_better={} if tracks else first.higher_is_better,
        )
    for track, done in results.items():
        _say(track, done)
    if any(done.failures for done in results.values()):
        raise click.exceptions.Exit(1)


def _measure(
    tracks: Mapping[str, tuple[Any, str]],
    measures: tuple[str, ...],
    common: bool,
    given: dict[str, Any],
) -> dict[str, Measured]:
    """What came out, by track."""
    from ..evaluation.files import measure_files
    from ..io.names import shared_systems
    from ..io.runs import list_runs

    files = {track: list_runs(runs) for track, (runs, _) in tracks.items()}
    names = shared_systems(
        {track: list(of_track) for track, of_track in files.items()}, common=common
    )
    return {
        track: measure_files(qrels, {name: files[track][name] for name in names}, measures, **given)
        for track, (_, qrels) in tracks.items()
    }


def _with_ranks(scores: dict[str, list[Any]], done: Measured) -> dict[str, list[Any]]:
    """The means with the ranks that each run could have, run by run."""
    from ..leaderboard.ranks import with_rank_columns

    rows = [done.values.names.index(run) for run in scores["run"]]
    values = {name: column[rows] for name, column in done.values.columns.items()}
    return with_rank_columns(scores, scores["run"], done.values.qids, values, done.higher_is_better)


def _say(track: str, done: Measured) -> None:
    """Prints to stderr what there is to know of the values of a track."""
    of_track = f"{track}: " if track else ""
    for note in done.notes():
        click.echo(f"Note: {of_track}{note}", err=True)
    if done.hint:
        click.echo(f"Hint: {of_track}{done.hint}", err=True)
    for reason in done.failures.values():
        click.echo(f"Error: {of_track}{reason}", err=True)
