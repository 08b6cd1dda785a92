"""The command ``evaluate``: scores of run files.

\b
Examples:
  pyterrier-asl evaluate qrels.txt bm25.run
  pyterrier-asl evaluate qrels.txt runs/ -m 'ASL@1000 LexiP AP nDCG@10' --sort ASL@1000
  pyterrier-asl evaluate qrels.txt a.run b.run -m 'ASL(g=10)@1000' -m map -q -o tsv
  pyterrier-asl evaluate irds:vaswani bm25.run.gz --lengths irds:vaswani
  pyterrier-asl evaluate dl20.qrels runs/ --rel 2 -o latex > table.tex
  pyterrier-asl evaluate qrels.txt runs/ -m nDCG@10 --ranks
  pyterrier-asl evaluate qrels.txt runs/ -m nDCG@10 --ties
  pyterrier-asl evaluate --track dl19 dl19.qrels dl19-runs/ --track dl20 dl20.qrels dl20-runs/

\b
How to read the numbers:
  ASL       mean number of irrelevant documents above a relevant one, plus 1; lower is better
  nASL      ASL on a scale from 0 to 1; higher is better
  LexiP     like RR, but the next relevant documents break ties
  Rareness  precision with credit for relevant documents that other runs do not find
  TBG       expected number of relevant documents that a user saves in limited time
With deep pools ASL@1000 measures mostly recall: read it together with R@1000 and Judged@10.

\b
Exit status: 0, all runs were measured; 1, some runs could not be measured (the reason is on
stderr); 2, no run could be measured, or an argument is invalid.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..evaluation import evaluate as library
from ..evaluation import printing
from ..printing import table_lines, tables
from . import epilog, options, outputs

if TYPE_CHECKING:
    from ..evaluation.evaluation import Evaluation


@click.command(name="evaluate", cls=outputs.Command, epilog=epilog(__doc__))
@options.qrels_if_any
@options.runs_if_any
@options.tracks
@options.of(
    library.evaluate,
    measures={
        "help": "Measures, in one or several -m: of this package, of ir_measures ('AP(rel=2) "
        "nDCG@10') or of trec_eval ('map P_10'). Default: the measures of this package, AP, "
        "nDCG@10, R@1000, Judged@10; for an ir_datasets id also its official measures, whose rel "
        "all others take."
    },
)
@options.matching
@options.switch("-q", "--by-query", "--by_query", help="One row per query.")
@options.switch(
    "-c", expose_value=False, help="As in trec_eval: means over all queries of QRELS, as always."
)
@options.instead("-M", "write a cut-off after each measure, as in -m 'AP@100'")
@options.instead("-J", "write judged_only for each measure, as in -m 'AP(judged_only=True)'")
@options.switch("-n", "--no-summary", "--no_summary", help="With -q: no rows of means.")
@options.switch(
    "--ranks",
    help="Add the best and the worst rank that each run could have; *: significantly worse than a "
    "run with the best mean (all pairs: corrected p at most .05).",
)
@options.switch(
    "--ties",
    help="Print the least, the expected and the greatest value over all orders of equal scores, "
    "and the share of documents with an equal score.",
)
@click.option(
    "-s", "--sort", default="", metavar="NAME", help="Sort runs by this measure, best first."
)
@outputs.places
@outputs.table_size
@outputs.output(
    "tsv, csv, jsonl: one line per value, as ir_measures prints them, with the name of the run "
    "first unless RUN is a single file."
)
def command(
    runs: tuple[str, ...],
    tracks: tuple[tuple[str, str, str], ...],
    ranks: bool,
    ties: bool,
    by_query: bool,
    no_summary: bool,
    places: int,
    all_rows: bool,
    form: str,
    sort: str,
    **_: Any,
) -> None:
    """Measure run files (plain or compressed), folders of them, or - for standard input.

    QRELS is a file or the id of an ir_datasets dataset. Files are read as trec_eval reads them: any
    white space separates fields, ranks and lines that begin with # are ignored, and means are over
    all queries of the qrels. A line that cannot be read is an error with its number.
    """
    if no_summary and not by_query:
        raise click.UsageError("-n (--no-summary) goes with -q (--by-query) only")
    if ranks and by_query:
        raise click.UsageError("--ranks are of means: leave out -q (--by-query)")
    if form == "jsonl" and places not in (4, -1):
        raise click.UsageError(
            "-p (--places) is not for JSON lines, which have all digits: leave it out"
        )
    source, judgements = options.sources()
    if ties:
        _print_ties(source, judgements, by_query, form)
        return
    results = library.measured(source, judgements, keep_going=True, **options.given())
    is_for_programs = form in tables.MACHINE_READABLE
    for_people = form == "table" and sys.stdout.isatty() and not by_query
    if for_people and not (tracks or sort or all_rows):
        sort = printing.sort_of_many(results[""], tables.MOST_ROWS)
    by_track: dict[str, Any] = {}
    for track, evaluation in results.items():
        scores = printing.printed_columns(
            evaluation, by_query=by_query, summary=not no_summary, sort=sort
        )
        if ranks:
            scores = _with_ranks(track, scores, evaluation, not is_for_programs)
        by_track[track] = scores
    table: Any = library.join_tracks(by_track) if tracks else by_track[""]
    if is_for_programs:
        with_run = bool(tracks) or len(runs) > 1 or Path(runs[0]).is_dir()
        rows = table_lines.rows_per_value(table, with_run=with_run)
        tables.write(rows, form, header=False, places=places)
    else:
        if for_people:
            _print_answers(results, sort, table)
        above: dict[str, Any] = {}
        if form == "latex":
            caption = printing.caption(results, by_query=by_query)
            above = {"caption": caption, "label": "tab:evaluation"}
        tables.write(
            table,
            form,
            **above,
            group_by="track" if tracks else "",
            titles={"qid": "query"} | {name: "*" for name in table if name.endswith(" *")},
            higher_is_better=next(iter(results.values())).higher_is_better,
            **outputs.style(),
        )
    _print_notes(results)


def _print_notes(results: Mapping[str, Evaluation]) -> None:
    """Prints what must be known of the runs, and why runs have failed, which is exit status 1."""
    for track, evaluation in results.items():
        errors = [("Error", reason) for reason in evaluation.failures.values()]
        for kind, note in [*(("Note", note) for note in evaluation.notes), *errors]:
            click.echo(": ".join(filter(None, (kind, track, note))), err=True)
    if any(evaluation.failures for evaluation in results.values()):
        raise click.exceptions.Exit(1)


def _print_ties(source: Any, judgements: Any, by_query: bool, form: str) -> None:
    """Prints the range of values over all orders of equal scores."""
    from ..evaluation.ties import ties

    for name in ("ranks", "sort", "no_summary", "jobs", "backend"):
        if options.is_given(name):
            raise click.UsageError(f"--ties have their own table: leave out --{name}")
    table = ties(source, judgements, by_query=by_query, **options.given("by_query"))
    tables.write(
        table,
        form,
        titles={"name": "run", "qid": "query"},
        group_by="track" if "track" in table else "",
        **outputs.style(),
    )


def _with_ranks(
    track: str, scores: dict[str, list[Any]], evaluation: Evaluation, stars: bool
) -> dict[str, list[Any]]:
    """Means, with the interval of ranks of each run, and stars where a best run is better."""
    from ..leaderboard.ranks import with_rank_columns

    shown = evaluation.select(scores["run"])
    try:
        return with_rank_columns(
            scores,
            shown.names,
            shown.qids,
            shown.columns_of(evaluation.measures),
            evaluation.higher_is_better,
            stars=stars,
        )
    except ValueError as error:
        raise ValueError(f"{track}: {error}" if track else str(error)) from error


def _print_answers(
    results: Mapping[str, Evaluation], sort: str, table: Mapping[str, Sequence[Any]]
) -> None:
    """Prints which runs have the best means, of each track, how the table is sorted, and marks."""
    from ..printing.printed import Part, print_parts

    stars = (
        "*: significantly worse than a run with the best mean (all pairs: corrected p at most .05)."
    )
    texts = [
        *(
            f"{track}: {sentence}" if track else sentence
            for track, evaluation in results.items()
            for sentence in printing.headlines(evaluation)
        ),
        *[stars] * any(any(table[name]) for name in table if name.endswith(" *")),
        *[f"Best mean {sort} first:"] * bool(sort),
    ]
    print_parts(map(Part, [*texts, ""] if texts else []))
