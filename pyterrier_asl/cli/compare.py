"""The command ``compare``: runs against a baseline, and the guard of a build.

\b
Examples:
  pyterrier-asl compare qrels.txt bm25.run dense.run
  pyterrier-asl compare qrels.txt bm25.run dense.run -m 'AP ASL@1000' --test wilcoxon
  pyterrier-asl compare qrels.txt bm25.run dense.run -m LexiP -q -o tsv > queries.tsv
  pyterrier-asl compare qrels.txt live.run new.run --fail-if 'nASL@1000 worse p<.05'
  pyterrier-asl compare --scores scores.csv live new --fail-if 'nDCG@10 worse p<.05'
  pyterrier-asl compare qrels.txt live.run new.run \\
      --fail-if 'nDCG@10 worse by 2%' --fail-if 'sgnLP worse p<.01'

\b
How to read it: RUN_A is the baseline, and RUN_B is compared with RUN_A.
  B - A      the mean of RUN_B minus the mean of RUN_A; a negative ASL is a gain
  from, to   the confidence interval of B - A, which is not corrected; if it contains 0, the
             direction is open
  W/L/T      numbers of queries in which RUN_B is better, worse and equal
  rrLP       1/rank of the first relevant document at which the runs differ, B minus A; a positive
             value prefers B
  sgnLP      share of queries that prefer B, minus share of queries that prefer A

\b
Conditions (--fail-if): MEASURE better|worse|lower|higher|different [by AMOUNT] [in any group]
[p<LEVEL] [certainly], MEASURE possibly worse by AMOUNT p<LEVEL [certainly], or MEASURE
below|above VALUE
  MEASURE can also be rrLP or sgnLP; 'worse' depends on its direction: a higher ASL is worse
  'by .02' means at least .02, 'by 2%' at least 2 % of RUN_A's value; the default is any difference
  'certainly' requires the condition under all labels of the unjudged documents
  'R@10 below .85' is about the mean of RUN_B alone; it has no p
  p is two-sided and corrected over the runs, as in the table
  'possibly worse by .02 p<.05' holds unless a one-sided test rejects a loss of .02 or more; with
  'certainly' unless tests reject it under all labels of the unjudged documents

\b
The guard (--fail-if) prints one line per condition; its exit status is
  0  PASS   no condition holds
  1  FAIL   a condition holds, or RUN_B leaves queries unanswered that RUN_A answers
  2  ERROR  a condition cannot be tested, RUN_A lacks queries that RUN_B answers, ids are in another
            form, scores do not order documents, or there is another error
With --allow-missing, missing queries do not change the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..comparison import compare as library
from . import epilog, error_line, options, outputs, print_notes

#: The tables that list queries.
_BY_QUERY = ("queries", "documents")

if TYPE_CHECKING:
    from ..comparison.reports import GuardReports


class GuardCommand(outputs.Command):
    """A command whose outputs also report errors."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, click.exceptions.Exit):
            raise
        except Exception as error:
            if conditions := ctx.params["conditions"]:
                _reports(ctx.params).report_error(
                    _run_names(ctx.params), conditions, error_line(error)
                )
            raise


def _check_inputs(values: Mapping[str, Any]) -> None:
    """Checks that there are qrels and runs, or scores, with options for these."""
    scores, systems = values["scores"], values["names"]
    if len(systems) == 1 or (len(systems) < 3 and not scores):
        names = ("BASELINE", "NAME...") if scores else ("QRELS", "RUN_A", "RUN_B...")
        raise click.UsageError(f"Missing argument '{names[len(systems)]}'.")
    show, of_guard = values["show"], values["junit"] or values["allow_missing"]
    for is_refused, why in (
        (scores and show == "documents", "--show documents needs runs and qrels"),
        (
            values["topics"] and show not in _BY_QUERY,
            "--topics needs -q or --show documents, which list queries",
        ),
        (show == "groups" and not values["groups"], "--show groups needs --groups"),
        (
            scores and values["repetitions"],
            "--repetitions is for runs: scores name theirs in a column",
        ),
        (
            of_guard and not values["conditions"],
            "--junit and --allow-missing go with --fail-if",
        ),
    ):
        if is_refused:
            raise click.UsageError(why)
    outputs.check_chart()


def _reports(values: Mapping[str, Any]) -> GuardReports:
    """The outputs of a guard."""
    from ..comparison.reports import GuardReports

    return GuardReports(values["form"], values["junit"], options.inputs())


def _run_names(values: Mapping[str, Any]) -> list[str]:
    """The names of the runs that a guard tests; their paths if two have the same name."""
    from ..io.runs import run_name

    systems = values["names"] or values["scores"]
    runs = systems[1 if values["scores"] else 2 :] or ["run"]
    names = list(map(run_name, runs))
    return names if len(set(names)) == len(names) else runs


@click.command(name="compare", cls=GuardCommand, epilog=epilog(__doc__))
@click.argument("names", metavar="QRELS RUN_A RUN_B...", nargs=-1)
@options.scores
@options.of(
    library.compare,
    measures={
        "help": "Measures, in one or several -m: as 'evaluate' takes them, and rrLP and sgnLP. "
        "Default: those of --fail-if, or all."
    },
    baseline=None,
    conditions={
        "help": "Exit with 1 if this condition holds, such as 'nASL@1000 worse p<.05' (see below); "
        "can be given again.",
        "names": ("--fail-if",),
        "multiple": True,
        "metavar": "CONDITION",
    },
    allow_missing={"help": "Test conditions even if one of the runs lacks queries of the other."},
    test={
        "help": "Two-sided paired test; for sgnLP it is always the sign test.",
        "type": click.Choice(["t", "wilcoxon", "sign", "randomization"]),
        "none": "t",
    },
    correction={
        "help": "Correction of p-values over the runs, for each measure by itself (bh: Benjamini "
        "and Hochberg).",
        "type": click.Choice(["holm", "bonferroni", "bh", "none"]),
    },
    seed={"help": "Seed of the randomization test."},
    pool={"none": "the two runs"},
    groups={
        "help": "Groups of queries: a file of lines qid<TAB>group, or a column of --scores.",
        "metavar": "FILE",
        "read": str,
    },
    detect={
        "help": "Also compute the number of queries with which a t-test finds this difference.",
        "metavar": "DELTA",
    },
)
@options.matching
@click.option("--junit", metavar="FILE", help="Save the verdicts of --fail-if as JUnit XML.")
@click.option(
    "--repetitions",
    metavar="SEPARATOR",
    help="Runs whose names differ only after the last SEPARATOR are repetitions of one system, "
    "such as seeds. The system of RUN_A is the baseline.",
)
@outputs.show(
    "means",
    "queries",
    "groups",
    "documents",
    help="queries: add the differences of each query, losses first; documents: add the relevant "
    "documents whose search length changed most (--all: all); groups: add the "
    "differences in --groups.",
)
@options.topics
@outputs.chart("Also draw the differences with their intervals")
@outputs.places
@outputs.table_size
@outputs.output(
    "All forms but table have one row per run and measure; with -q per query and measure; with "
    "--show documents per document. tsv has a header."
)
def command(**values: Any) -> None:
    """Compare RUN_B with RUN_A, the baseline: means, tests, preferences, queries, documents.

    Each of several runs is compared with RUN_A. The p-values are for comparisons planned before
    looking at the results; 'ranks' shows which run could be the best. With --fail-if the exit
    status depends on the conditions, so that the command can guard the tests of a search engine.
    QRELS is a file, or the id of an ir_datasets dataset. With --scores, give the names of systems
    instead of QRELS and runs, the baseline first; without names the first system is the
    baseline.
    """
    _check_inputs(values)
    conditions = values["conditions"]
    reports = _reports(values) if conditions else None
    if reports is not None:
        reports.begin(_run_names(values), conditions)
    if outcome := _compare(values, reports):
        raise click.exceptions.Exit(outcome)


def _compare(values: Mapping[str, Any], reports: GuardReports | None) -> int:
    """Compares and prints runs, or systems by scores; returns the exit status."""
    from ..comparison.reports import print_comparison
    from ..io.texts import Texts

    names = values["names"]
    runs, qrels = options.sources([] if values["scores"] else names)
    settings = options.given()
    if values["scores"]:
        runs = runs.systems(names) if names else runs
        settings["baseline"] = runs.names[0]
    else:
        runs = options.runs_of(library.run_files(names[1:]))
        if values["repetitions"]:
            runs = library.with_repetitions(runs, values["repetitions"])
    compared = library.compare(runs, qrels, **settings)
    form, show, outcome = values["form"], values["show"], 0
    by_query = show in _BY_QUERY
    if reports is not None and form == "table":  # the answer comes first
        outcome = reports.report(compared.verdicts, compared.notes).value
    is_id = by_query and qrels is not None and not Path(qrels).exists()
    texts = Texts.of(values["topics"], dataset=qrels if is_id else None).queries if by_query else {}
    print_comparison(compared, form, show=show, texts=texts, **outputs.style())
    outputs.save_chart(partial(compared.chart, show if show in ("queries", "groups") else "means"))
    if reports is None:
        print_notes(compared.notes, form)
    elif form != "table":
        outcome = reports.report(compared.verdicts, compared.notes).value
    return outcome
