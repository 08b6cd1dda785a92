"""Arguments and options of the commands, most of them from the signatures of the library."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from functools import partial, reduce
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

import click

from ..evaluation.inputs import NOT_FOR_SCORES, refuse
from ..io.atomic import check_replaceable, replacing
from ..io.names import read_groups
from ..io.notices import counted
from ..io.table_forms import EVERY_PLACE
from ..io.tables import FORMS
from ..judging.qrels import Qrels
from . import readers

#: Adds an option to a command.
Decorator: TypeAlias = Callable[[Any], Any]

#: The type of an option that is a whole number from 1 on.
NUMBER = click.IntRange(min=1)

#: An option without a value.
switch = partial(click.option, is_flag=True)

#: An option that can be given several times.
repeated = partial(click.option, multiple=True)


def together(*several: Decorator) -> Decorator:
    """Several options as one decorator, in the order of help."""
    return lambda command: reduce(lambda done, add: add(done), reversed(several), command)


def text_option(name: str, metavar: str, help: str) -> Decorator:
    """An option with the name of a file, an id, or other text."""
    return click.option(name, metavar=metavar, help=help)


# Options of the parameters of a function


class Option(click.Option):
    """An option of a parameter; its value is read when the function is called."""

    def __init__(self, *names: Any, read: Callable[[Any], Any] = lambda value: value, **more: Any):
        """An option with the function that reads its value."""
        super().__init__(*names, **more)
        self.read = read


def read_labels(files: Sequence[str]) -> list[Any]:
    """Reads the labels in files, and prints how many each file has."""
    from ..io.label_files import label_rows, labels_of

    tables = []
    for name in files:
        rows = label_rows(name)
        tables.append(labels_of(rows, Path(name).name))
        is_open = len(rows) - int((rows["label"] >= 0).sum())
        rest = f", {counted(is_open, 'row')} without a label" if is_open else ""
        click.echo(f"{name}: {counted(len(tables[-1]), 'label')}{rest}", err=True)
    return tables


def _read_judges(texts: Sequence[str]) -> dict[str, Any]:
    """Reads judges, by track if there are tracks."""
    if click.get_current_context().params.get("tracks"):
        return readers.read_judges_of_tracks(texts)
    return readers.read_judges_by_name(texts)


def _how(help: str, *names: str, **more: Any) -> dict[str, Any]:
    """An option: its help, its names if they differ from the parameter, arguments of click.

    ``none`` says what None means, where that is the default.
    """
    return {"help": help, "names": names, **more}


def _list(kind: Callable[[str], Any], help: str, *names: str) -> dict[str, Any]:
    return _how(help, *names, metavar="LIST", read=readers.read_numbers(kind))


_several = partial(_how, multiple=True)
_REL = ("-l", "--rel", "--level_for_rel")
_TESTS = "t, wilcoxon, sign, randomization, unpaired-t"

#: The options by the parameters of the functions. A key has the annotation if two functions have
#: different parameters of one name.
_OPTIONS: dict[str, dict[str, Any]] = {
    "measures": _several("Measures, in one or several -m.", "-m", "--measures", metavar="NAMES"),
    "measure": _how("The measure.", "-m", "--measure", metavar="NAME"),
    "preference": _how("One of rrLP, sgnLP, lexirecall, RPP, RR.", metavar="NAME"),
    "preferences": _how(
        "Some of rrLP, sgnLP, lexirecall, RPP, RR.", metavar="NAMES", read=readers.read_words
    ),
    "rel: RelOfTracks": _several(
        "Minimum grade of a relevant document, with TRACK= for a track; can be given again.",
        *_REL,
        metavar="[TRACK=]GRADE",
        read=readers.read_grades,
        none=1,
    ),
    "rel": _how(
        "Minimum grade of a relevant document, for measures without rel.",
        *_REL,
        type=float,
        read=readers.read_grade,
        none=1,
    ),
    "duplicates": _how(
        "A document that occurs twice in a ranking is an error, or is counted once, at its best "
        "rank.",
        type=click.Choice(["error", "best"]),
        none="error",
    ),
    "drop_self": _how("Leave documents with the id of their query out of rankings."),
    "collapse": _how(
        "Cut the ids of passages at the last SEPARATOR, such as '#', and keep the best passage of "
        "each document.",
        metavar="SEPARATOR",
    ),
    "common": _how("Leave out systems that a track lacks."),
    "labels": _several(
        "Labels of documents that QRELS does not judge, merged with QRELS. Several files must not "
        "contradict each other.",
        metavar="FILE",
        read=read_labels,
    ),
    "conflicts": _how(
        "If a label contradicts an official grade: stop, or leave the label out.",
        type=click.Choice(["error", "official"]),
    ),
    "highest": _how(
        "The best grade that a label can give.",
        type=click.FloatRange(min=0),
        none="the best grade in QRELS, at least 1",
    ),
    "cutoff": _how("Number of documents per query to look at.", "-k", "--cutoff"),
    "depth: int": _how("The deepest rank to look at."),
    "depth": _how(
        "A run finds a document if it is among the first DEPTH: 100 as in P_Rareness@100.",
        none="the whole ranking, as in Table 4",
    ),
    "few": _how("Number of systems up to which a retrieved document is rare."),
    "missing": _how(
        "The rank of a missed document in ASL; the papers have 'after'.",
        type=click.Choice(["pad", "after", "eq3"]),
    ),
    "test": _how(
        f"{_TESTS}; of all pairs also tukey, tukey-two-way, tukey-randomized.", metavar="NAME"
    ),
    "correction": _how("holm, bonferroni, bh or none.", metavar="NAME"),
    "alpha": _how(
        "Level of significance; confidence intervals cover 1 - alpha.",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
    ),
    "levels: Sequence[float]": _list(float, "Levels of significance: .05,.01", "--level"),
    "levels": _how("Number of recall levels."),
    "margin": _how("Minimum relative difference of better systems."),
    "each": _how("One row per system."),
    "as_published": _how("Make the choices of the paper instead of the defaults."),
    "draws": _how("Number of random draws.", none=10_000),
    "seed": _how("Seed of the draws.", type=click.IntRange(min=0), none=0),
    "fractions": _list(float, "Shares of judgements to keep: .1,.5,1"),
    "sizes": _list(int, "Numbers of systems: 2,4,8"),
    "fuzz": _how("Differences up to this count as ties."),
    "alphas": _list(float, "Weights of rareness: 0,.5,1"),
    "normalized": _how("The variant that cannot exceed 1."),
    "deepest": _how("The last rank to report."),
    "standardized": _how("Coefficients of standardized differences."),
    "n": _how("Number of documents.", "--documents"),
    "relevant": _list(int, "Numbers of relevant documents: 1,5,10"),
    "ranks": _list(int, "Ranks of the first relevant document: 1,10"),
    "old": _several(
        "Name of the run of the old technique, with TRACK= for a track.",
        metavar="[TRACK=]RUN",
        read=readers.read_runs_of_tracks,
    ),
    "new": _several(
        "Name of the run of the new technique, with TRACK= for a track.",
        metavar="[TRACK=]RUN",
        read=readers.read_runs_of_tracks,
    ),
    "run": _how("Name of the run.", metavar="RUN", none="the best by ASL"),
    "a": _how("Name of the first run.", metavar="RUN", none="the best by ASL"),
    "b": _how("Name of the second run.", metavar="RUN", none="the median by ASL"),
    "system": _how("The run to compare with the judges.", metavar="RUN", none="the best"),
    "baseline": _how("The run to compare with.", metavar="RUN", none="the first"),
    "qid": _how("The query.", metavar="ID"),
    "groups": _how(
        "Lines of run and group, between them a tab: rareness counts groups instead of runs, so "
        "that two runs of one group do not make a document common.",
        metavar="TSV",
        read=read_groups,
    ),
    "pools": _how(
        "Lines of run and type, each type a pool.",
        "--types",
        metavar="TSV",
        read=readers.read_pools,
    ),
    "run_types": _how(
        "Lines of run and 'manual' or 'automatic'.", "--types", metavar="TSV", read=read_groups
    ),
    "judges": _several(
        "Another judge, a person or a machine: a name, and a file or ir_datasets id; can be given "
        "again.",
        "--judge",
        metavar="NAME=QRELS",
        read=_read_judges,
    ),
    "judge_rel": _several(
        "Minimum grade of a relevant document for this judge; can be given again. A grade without "
        "name is for all judges except QRELS. It has priority over the rel of a measure.",
        metavar="NAME=GRADE",
        read=readers.read_grades,
        none="--rel",
    ),
    "people": _several(
        "This judge is a person; machines are compared with how people agree. Can be given again.",
        "--person",
        metavar="NAME",
    ),
    "both_ways": _how("Also with the other judges' judgements."),
    "lengths": _how(
        "Words of each document, which TBG needs: a text file with lines 'docno words', a file "
        "that DocLengths.save() wrote, or a collection of ir_datasets to count in.",
        metavar="FILE|irds:ID",
    ),
    "missing_length": _how("Length of documents with unknown length."),
    "pool": _how(
        "Pool for rareness: a file that 'pyterrier-asl pool' made, or a folder of runs.",
        metavar="FILE",
        none="the runs given",
    ),
    "topics": _how("Texts of queries: lines qid<TAB>query, or JSON lines.", metavar="FILE"),
    "docs": _how("Texts of documents: JSON lines, or lines docno<TAB>text.", metavar="FILE"),
    "dataset": _how("Collection of ir_datasets with the texts to show.", metavar="irds:ID"),
    "jobs": _how(
        "Number of runs or trials at a time; -1: number of cores.", "-j", "--jobs", type=int
    ),
}

#: The parameters of :class:`~pyterrier_asl.Qrels` that commands take.
OF_QRELS = ("labels", "duplicates", "drop_self", "collapse")

#: Parameters in Python only, or given by arguments of the commands.
PYTHON_ONLY = frozenset(
    "runs qrels collection backend progress verbose long command queries edges following tests "
    "documents options".split()
)


def of(function: Callable[..., Any], *only: str, **own: Any) -> Decorator:
    """The options of a function's parameters: names, types, defaults, and what is required.

    Args:
        function: the function, whose defaults help shows and values are left to.
        only: the parameters; by default those of ``own`` and all but :data:`PYTHON_ONLY`.
        own: parameter -> what differs from its common option; None: the command gives it.
    """
    parameters = inspect.signature(function).parameters
    names = only or [name for name in parameters if name not in PYTHON_ONLY or own.get(name)]
    return together(
        *(
            option_of(parameters[name], **own.get(name, {}))
            for name in names
            if own.get(name, {}) is not None
        )
    )


def option_of(parameter: inspect.Parameter, **own: Any) -> Decorator:
    """The option of a parameter."""
    name, annotation = parameter.name, str(parameter.annotation)
    common = _OPTIONS.get(f"{name}: {annotation}") or _OPTIONS.get(name, {"names": ()})
    required, default = parameter.default is parameter.empty, parameter.default
    typed: dict[str, dict[str, Any]] = {
        "bool": {"is_flag": True},
        "int": {"type": NUMBER},
        "float": {"type": float},
    }
    how = {"required": required, **typed.get(annotation.partition(" |")[0], {}), **common, **own}
    none = how.pop("none", None)
    if default in (None, ()) and none is not None and "default" not in how:
        how["help"] += f"  [default: {none}]"
    elif not (required or default in (None, (), "") or default is False):
        is_list = isinstance(default, tuple) and "multiple" not in how
        how.setdefault("default", ",".join(map(str, default)) if is_list else default)
    names = how.pop("names") or (f"--{name.replace('_', '-')}",)
    return click.option(*names, name, cls=Option, show_default="default" in how, **how)


def given(*others: str) -> dict[str, Any]:
    """The values of parameters that the user gave, as the function takes them.

    Args:
        others: parameters that the command gives itself; those of :class:`Qrels` are left out.
    """
    options = click.get_current_context().command.params
    return _given({option.name for option in options} - {*others, *OF_QRELS})


def _given(names: Iterable[str | None]) -> dict[str, Any]:
    context = click.get_current_context()
    return {
        option.name: option.read(context.params[option.name])
        for option in context.command.params
        if isinstance(option, Option) and option.name in names and is_given(option.name)
    }


def is_given(name: str | None) -> bool:
    """Whether the user gave the option of a parameter."""
    return click.get_current_context().get_parameter_source(name or "") in _USER_SOURCES


def take(settings: dict[str, Any], *names: str) -> dict[str, Any]:
    """Removes these options from the settings, and returns those that were given."""
    return {name: settings.pop(name) for name in names if name in settings}


#: Sources of values that are passed to the function; others are its defaults.
_USER_SOURCES = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)


# Inputs

#: Options of :class:`~pyterrier_asl.Qrels`.
matching = of(Qrels, *OF_QRELS)


def qrels_of(qrels: Any) -> Any:
    """The qrels, with labels and how runs are matched, if the user gave any of these."""
    settings = _given(OF_QRELS)
    return Qrels(qrels, **settings) if settings else qrels


qrels = click.argument("qrels")
runs = click.argument("runs", nargs=-1, required=True, metavar="RUN...")

#: QRELS and RUN... of commands that also take tracks or scores instead.
qrels_if_any = click.argument("qrels", required=False)
runs_if_any = click.argument("runs", nargs=-1, metavar="[RUN...]")

#: Several collections.
tracks = repeated(
    "-t",
    "--track",
    "tracks",
    nargs=3,
    metavar="NAME QRELS RUNS",
    help="Instead of QRELS and RUN...: the name, the qrels, and the folder of the runs of a track; "
    "can be given again for another track.",
)

#: Scores by topic that were computed before, with directions and a value for missing ones.
scores = together(
    repeated(
        "--scores",
        metavar="FILE",
        help="Instead of QRELS and RUN...: values by topic, a CSV, TSV or Parquet table, JSON "
        "lines, or what trec_eval -q and ir_measures -q print; can be given again.",
    ),
    switch(
        "--wide-systems",
        help="The columns of --scores are systems, not measures of the system that the file names.",
    ),
    repeated("--lower-is-better", metavar="NAME", help="Lower scores are better by this measure."),
    repeated(
        "--higher-is-better", metavar="NAME", help="Higher scores are better by this measure."
    ),
    click.option("--fill", type=float, help="Value used for missing scores."),
)
_OF_SCORES = ("lower_is_better", "higher_is_better", "fill", "wide_systems")


def sources(names: Sequence[str] | None = None) -> tuple[Any, Any]:
    """Runs and qrels, scores, or several tracks of the current command, for the library.

    Args:
        names: the qrels and the runs; None: the arguments QRELS and RUN.
    """
    values = click.get_current_context().params
    tracks, scores = values.get("tracks"), values.get("scores")
    if names is None:
        names = [values["qrels"], *values.get("runs", ())]
    qrels, *files = names or [""]
    if sum(map(bool, (qrels, tracks, scores))) != 1:
        or_scores = ", or --scores" if "scores" in values else ""
        raise click.UsageError(f"give QRELS and RUN..., or --track for each track{or_scores}")
    of_scores = {name: values[name] for name in _OF_SCORES if name in values}
    if scores or tracks:
        unused = dict.fromkeys(filter(is_given, OF_QRELS if scores else ["labels"]), True)
        refuse(NOT_FOR_SCORES if scores else "belong to QRELS, not to tracks", **unused)
    if scores:
        from ..evaluation.scores import read_scores

        return read_scores(scores, **of_scores), None
    for name in of_scores:
        if is_given(name):
            raise click.UsageError(f"--{name.replace('_', '-')} needs --scores")
    if tracks:
        from ..evaluation.inputs import tracks_by_name

        named = tracks_by_name(tracks).items()
        return {name: (runs, qrels_of(own)) for name, (runs, own) in named}, None
    if not files:
        raise click.UsageError("Missing argument 'RUN...'")
    return files, qrels_of(qrels)


#: Arguments and options that are names of inputs.
_INPUTS = (
    "qrels run_a runs runs_b files scores labels topics docs lengths groups pool pools run_types"
).split()


def inputs() -> list[str]:
    """The files and folders that the current command reads."""
    values = click.get_current_context().params
    tracks = values.get("tracks", ())
    judges = [*values.get("judges", ()), *values.get("machine", ())]
    names = [judge.split("=", 2 if tracks else 1)[-1] for judge in judges]
    names += [path for track in tracks for path in track[1:]]
    for value in filter(None, map(values.get, _INPUTS)):
        names += [value] if isinstance(value, str) else value
    return names


# Outputs


class _FormOrFile(click.Choice[str]):
    """The form of a printed table, or a file in the form of its ending."""

    endings = dict(zip((".txt", ".tsv", ".csv", ".jsonl", ".tex", ".md"), FORMS))

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        """The value, if it is a form or has an ending of a form."""
        if value not in FORMS and Path(value).suffix not in self.endings:
            forms, endings = ", ".join(FORMS), ", ".join(self.endings)
            self.fail(f"{value!r} is no form ({forms}), and no file with an ending of {endings}")
        return value


force = switch("--force", help="Overwrite a file of another kind, but never an input.")


def output(help: str) -> Decorator:
    """``-o`` of a command that prints a table."""
    text = f"The form to print, or a file: {', '.join(_FormOrFile.endings)}. {help}"
    names = ("-o", "--output", "--output_format", "form")
    how: dict[str, Any] = {"type": _FormOrFile(FORMS), "metavar": f"{'|'.join(FORMS)}|FILE"}
    form = click.option(*names, default="table", show_default=True, help=text, **how)
    return together(form, force)


def written(invoke: Callable[[click.Context], Any], context: click.Context) -> None:
    """Runs a command; what it prints is written to the file of ``-o``, if that is a file."""
    values = context.params
    form = values.get("form", "table")
    is_file = form not in FORMS
    files = [values.get(name) for name in ("output", "chart", "export_to", "out")]
    if values.get("force") and not is_file and not any(files):
        raise click.UsageError("--force goes with an option that writes a file")
    if not is_file:
        invoke(context)
        return
    with context:
        check_replaceable(form, inputs=inputs(), force=values["force"])
    values["form"], status = _FormOrFile.endings[Path(form).suffix], 0
    with redirect_stdout(StringIO()) as printed:
        try:
            invoke(context)
        except click.exceptions.Exit as done:  # an exit status of a whole table
            status = done.exit_code
    with replacing(form, force=True) as path:
        path.write_text(printed.getvalue(), encoding="utf-8")
    click.echo(f"wrote {form}", err=True)
    context.exit(status)


places = click.option(
    "-p",
    "--places",
    type=click.IntRange(min=EVERY_PLACE),
    default=4,
    show_default=True,
    help="Decimal places; -1: all. JSON lines always have all.",
)

#: Size of the table in a terminal.
table_size = together(
    switch("--wide", help="In a terminal: all columns, even if lines wrap."),
    switch("--all", "all_rows", help="In a terminal: all rows."),
)


def show(*tables: str, help: str) -> Decorator:
    """``--show``: which table is printed, and drawn by ``--chart``; the first by default.

    Args:
        tables: their names; ``queries`` can also be shown by ``-q``, ``pairs`` by ``--pairs``.
        help: what else to know of the tables.
    """
    text = f"The table to print, which --chart draws. {help} [default: {tables[0]}]"
    names = {"queries": ("-q", "--by-query", "--by_query"), "pairs": ("--pairs",)}
    flags = [
        click.option(*names[table], "show", flag_value=table, help=f"As --show {table}.")
        for table in tables[1:]
        if table in names
    ]
    return together(click.option("--show", type=click.Choice(tables), help=text), *flags)


#: Texts of queries, where a command lists queries.
topics = click.option("--topics", metavar="FILE", help=_OPTIONS["topics"]["help"])
docs = click.option("--docs", metavar="FILE", help=_OPTIONS["docs"]["help"])


def chart(help: str) -> Decorator:
    """``--chart``, ``--title`` and ``--no-title``."""
    endings = "into .html, .svg, .png or .pdf. Needs pip install '.[charts]'."
    return together(
        text_option("--chart", "FILE", f"{help}, {endings}"),
        text_option("--title", "TEXT", "The heading of the chart."),
        click.option(
            "--no-title", "title", flag_value="", help="A chart without heading and caption."
        ),
    )


def check_chart() -> None:
    """Checks that a chart, if any, can be saved without overwriting an input."""
    values = click.get_current_context().params
    if values["chart"]:
        from ..charts.saving import check_path

        check_path(values["chart"], inputs=inputs(), force=values["force"])
    elif values["title"] is not None:
        raise click.UsageError("--title and --no-title need --chart")


def save_chart(draw: Callable[[], Any]) -> None:
    """Draws and saves the chart of ``--chart``, if any, and prints the name of the file."""
    values = click.get_current_context().params
    if values["chart"]:
        from ..charts.saving import save_chart

        save_chart(draw(), values["chart"], title=values["title"], force=values["force"])
        click.echo(f"wrote {values['chart']}", err=True)
