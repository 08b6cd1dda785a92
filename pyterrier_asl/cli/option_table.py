"""The options of commands by the parameters of the functions that they call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..common.notices import counted
from ..io.declared import DeclaredFile
from ..io.groups import read_groups
from . import readers


def declared(source: str) -> Any:
    """A file with the names of columns and the grades that the user gave."""
    values = click.get_current_context().params
    declarations = {name: values[name] for name in ("columns", "grades") if values.get(name)}
    return DeclaredFile(source, **declarations) if declarations else source


def read_labels(files: Sequence[str]) -> list[Any]:
    """Reads the labels in files, and prints how many each file has."""
    from ..io.label_files import label_rows, labels_of

    tables = []
    for name in files:
        rows = label_rows(declared(name))
        tables.append(labels_of(rows, Path(name).name))
        is_open = len(rows) - int((rows["label"] >= 0).sum())
        rest = f", {counted(is_open, 'row')} without a label" if is_open else ""
        click.echo(f"{name}: {counted(len(tables[-1]), 'label')}{rest}", err=True)
    return tables


def _read_judges(texts: Sequence[str]) -> dict[str, Any]:
    """Reads judges, by track if there are tracks."""
    if click.get_current_context().params.get("tracks"):
        return {
            track: {name: declared(judge) for name, judge in judges.items()}
            for track, judges in readers.read_judges_of_tracks(texts).items()
        }
    return {name: declared(j) for name, j in readers.read_judges_by_name(texts).items()}


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
#: different parameters of one name. Without help it is the docstring of the function.
OPTIONS: dict[str, dict[str, Any]] = {
    "measures": _several("Measures, in one or several -m.", "-m", "--measures", metavar="NAMES"),
    "measure": _how("The measure.", "-m", "--measure", metavar="NAME"),
    "preference": {"metavar": "NAME"},
    "preferences": {"metavar": "NAMES", "read": readers.read_words},
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
    "columns: NamesOfColumns": _how(
        "Names of columns in tables of runs, qrels, labels, judges and scores, if they are not "
        "known: 'docno=_id score=_score', of --scores 'qid=id name=model'; '_id|id' where tables "
        "differ.",
        metavar="NAMES",
        type=str,
    ),
    "grades: GradesOfLabels": _how(
        "Grades of labels that are words, in qrels, labels and judges: 'E=3 S=2 C=1 I=0'.",
        metavar="GRADES",
        type=str,
    ),
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
    "highest": {
        "type": click.FloatRange(min=0),
        "none": "the best grade in QRELS, at least 1",
    },
    "cutoff": _how("Number of documents per query to look at.", "-k", "--cutoff"),
    "depth": {"none": "the whole ranking, as in Table 4"},
    "missing": _how(
        "The rank of a missed document in ASL; the papers have 'after'.",
        type=click.Choice(["pad", "after", "eq3"]),
    ),
    "test": _how(
        f"{_TESTS}; of all pairs also tukey, tukey-two-way, tukey-randomized.", metavar="NAME"
    ),
    "correction": _how("holm, bonferroni, bh or none.", metavar="NAME"),
    "alpha": {"type": click.FloatRange(0, 1, min_open=True, max_open=True)},
    "levels: Sequence[float]": _list(float, "Levels of significance: .05,.01", "--level"),
    "levels": _how("Number of recall levels."),
    "draws": {"none": 10_000},
    "seed": _how("Seed of the draws.", type=click.IntRange(min=0), none=0),
    "fractions": _list(float, "Shares of judgements to keep: .1,.5,1"),
    "sizes": _list(int, "Numbers of systems: 2,4,8"),
    "alphas": _list(float, "Weights of rareness: 0,.5,1"),
    "n": {"names": ("--documents",)},
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
    "qid": {"metavar": "ID"},
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
    "lengths": _how(
        "Words of each document, which TBG needs: a text file with lines 'docno words', a file "
        "that DocLengths.save() wrote, or a collection of ir_datasets to count in.",
        metavar="FILE|irds:ID",
    ),
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
