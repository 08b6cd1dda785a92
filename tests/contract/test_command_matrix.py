"""Every option of every command: it changes what is printed, or is refused in a sentence.

The options come from click, so that a new one without a row fails. Each is tried with files, and
where a command takes them with tracks and tables of scores.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import _small
import click
import pytest
from _calls import call
from _files import write_qrels, write_run
from _options import GROUPS, TEXTS, Setting, files, long_scores, wide
from _sweeps import Collection

from pyterrier_asl.cli import main

pytestmark = pytest.mark.filterwarnings("ignore")

SETTINGS = [Setting("files"), Setting("tracks", "ASL@10"), Setting("scores", "ASL@10", turned=True)]


@dataclass
class Row:
    """Words of an option that change what a command prints, where it is not refused.

    Attributes:
        words: the option and its value; or what gives them for a setting.
        given: further words, without and with the option.
        measure: a measure for which it matters.
        refused: source, or ``always`` -> a part of the sentence that refuses the option.
        same: source, or ``always`` -> why the output stays as it is.
        needed: whether the command is refused without it.
        writes: a file that it writes.
        alone: whether it is refused without the further words.
        data: see :class:`_options.Row`.
    """

    words: list[str] | Callable[[Setting], list[str]]
    given: list[str] | Callable[[Setting], list[str]] = field(default_factory=list)
    measure: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    needed: bool = False
    writes: str = ""
    alone: bool = False
    data: str = "plain"


def folder() -> Path:
    return _small.folder()


@cache
def written(name: str, text: str) -> str:
    path = folder() / name
    path.write_text(text)
    return str(path)


def judge(name: str, agrees: float) -> Callable[[Setting], list[str]]:
    def words(setting: Setting) -> list[str]:
        path = write_qrels(_small.judged_by_other(agrees), folder() / f"judge-{name}")
        if setting.source == "tracks":
            return [w for t in ("one", "two") for w in ("--judge", f"{t}={name}={path}")]
        return ["--judge", f"{name}={path}"]

    return words


def two_judges(setting: Setting) -> list[str]:
    return judge("x", 0.7)(setting) + judge("y", 0.5)(setting)


def labels(setting: Setting) -> list[str]:
    return ["--labels", str(write_qrels(_small.labels(), folder() / "labels"))]


def lines(name: str, rows: dict[str, str]) -> str:
    return written(name, "".join(f"{key}\t{value}\n" for key, value in rows.items()))


def words_of_documents(setting: Setting) -> list[str]:
    rows = {doc: str(10 + 37 * n) for n, doc in enumerate([*_small.DOCS, *_small.QUERIES])}
    return ["--lengths", written("lengths", "".join(f"{d} {n}\n" for d, n in rows.items()))]


def pool_of_others(setting: Setting) -> list[str]:
    (folder() / "pool").mkdir(exist_ok=True)
    for seed in range(3, 12):
        path = folder() / "pool" / f"other{seed}"
        if not path.exists():
            write_run(_small.collection(seed)[0]["delta"], path)
    return ["--pool", str(folder() / "pool")]


#: Option -> the scores that need it.
SCORES: dict[str, Callable[[Any], Any]] = {
    "lower_is_better": lambda scores: scores.assign(measure="mine"),
    "higher_is_better": lambda scores: scores.assign(measure="mine"),
    "fill": lambda scores: scores.iloc[1:],
    "wide_systems": wide,
}


ONLY_SCORES = {"files": "scores", "tracks": "scores|collection|Usage|give QRELS"}
NOT_SCORES = {"scores": "not for scores|give QRELS"}


TERMINAL = "not a terminal"
CHART = "chart.html"


def group_file(setting: Setting) -> list[str]:
    return ["--groups", lines("groups", GROUPS)]


#: Rows for options of several commands.
ROWS: dict[str, Row] = {
    "measures": Row(["-m", "nDCG@5"], refused={"scores": "no measure|nDCG@5"}),
    "measure": Row(["-m", "nDCG@5"], refused={"scores": "no measure|nDCG@5"}),
    "places": Row(["-p", "1"]),
    "form": Row(["-o", "jsonl"]),
    "wide": Row(["--wide"], same={"always": TERMINAL}),
    "all_rows": Row(["--all"], same={"always": TERMINAL}),
    "jobs": Row(["-j", "1"], same={"always": "one is the default"}),
    "common": Row(["--common"], data="lacking", needed=True, refused={"files": "common"}),
    "rel": Row(["-l", "2"], refused=NOT_SCORES),
    "pool": Row(pool_of_others, measure="AP_Rareness@10", refused=NOT_SCORES),
    "lengths": Row(words_of_documents, measure="TBG(missing_length=99)", refused=NOT_SCORES),
    "labels": Row(labels, refused={"tracks": "labels", **NOT_SCORES}),
    "duplicates": Row(["--duplicates", "best"], data="repeated", needed=True, refused=NOT_SCORES),
    "drop_self": Row(["--drop-self"], refused=NOT_SCORES),
    "collapse": Row(["--collapse", "d"], refused={"always": "none of the documents", **NOT_SCORES}),
    "lower_is_better": Row(
        ["--lower-is-better", "mine"], ["-m", "mine"], needed=True, refused=ONLY_SCORES
    ),
    "higher_is_better": Row(
        ["--higher-is-better", "mine"], ["-m", "mine"], needed=True, refused=ONLY_SCORES
    ),
    "fill": Row(["--fill", ".5"], needed=True, refused=ONLY_SCORES),
    "wide_systems": Row(
        ["--wide-systems"],
        ["-m", "score", "--higher-is-better", "score"],
        needed=True,
        refused=ONLY_SCORES,
    ),
    "alpha": Row(["--alpha", ".002"]),
    "chart": Row(["--chart", CHART], writes=CHART),
    "title": Row(["--no-title"], ["--chart", CHART], writes=CHART, alone=True),
    "judges": Row(judge("x", 0.7), refused=NOT_SCORES),
    "judge_rel": Row(["--judge-rel", "x=2"], two_judges, refused=NOT_SCORES),
    "people": Row(["--person", "x"], two_judges, refused=NOT_SCORES),
    "groups": Row(group_file),
    "cutoff": Row(["-k", "5"]),
    "missing": Row(["--missing", "after"]),
    "draws": Row(["--draws", "20"]),
    "seed": Row(["--seed", "7"]),
    "correction": Row(["--correction", "none"]),
    "levels": Row(["--level", ".3"]),
    "force": Row(["--force"], refused={"always": "--force goes with an option that writes"}),
}


RUNS = list(_small.QUALITY)
EXPORT = "todo.tsv"
HOLES_EXPORT = ["--export", EXPORT]


def guard(setting: Setting) -> list[str]:
    return ["--fail-if", f"{setting.measure} worse"]


def tuned(setting: Setting, seed: int) -> str:
    """A folder with a collection."""
    place = folder() / f"collection-{seed}"
    if not place.exists():
        place.mkdir()
        world = Collection(seed)
        docs = zip(world.docs["docno"], world.docs["text"])
        with gzip.open(place / "docs.jsonl.gz", "wt") as file:
            file.writelines(json.dumps({"docno": d, "text": t}) + "\n" for d, t in docs)
        pairs = zip(world.topics["qid"], world.topics["query"])
        (place / "queries.tsv").write_text("".join(f"{q}\t{t}\n" for q, t in pairs))
        labels = world.qrels["label"].clip(lower=0)
        write_qrels(world.qrels.assign(label=labels), place / "qrels.txt")
    return str(place)


def run_types(setting: Setting) -> list[str]:
    types = dict(zip(RUNS, ("manual", "automatic") * 2))
    return ["--types", lines("types", types)]


def texts(option: str) -> Callable[[Setting], list[str]]:
    return lambda s: [option, lines("texts", TEXTS)]


def conflicting(setting: Setting) -> list[str]:
    rows = [row.split() for row in files()[1].read_text().splitlines()[:30]]
    return [written("conflicting", "".join(f"{q} 0 {d} 0\n" for q, _, d, _ in rows))]


def as_labels(words: Callable[[Setting], list[str]]) -> Callable[[Setting], list[str]]:
    return lambda s: ["--labels", *words(s)]


def too_high(setting: Setting) -> list[str]:
    rows = _small.labels().iloc[::2]
    return [str(write_qrels(rows.assign(label=9), folder() / "too-high"))]


#: Rows for the options of a command.
SPECIAL: dict[str, dict[str, Row]] = {
    "evaluate": {
        "by_query": Row(["-q"]),
        "no_summary": Row(["-n"], ["-q"], alone=True),
        "ranks": Row(["--ranks"]),
        "ties": Row(["--ties"]),
        "sort": Row(lambda s: ["-s", s.measure]),
    },
    "compare": {
        "baseline": Row(
            ["--baseline", "delta"], refused=dict.fromkeys(("files", "scores"), "baseline")
        ),
        "conditions": Row(guard),
        "allow_missing": Row(["--allow-missing"], guard, data="unanswered", needed=True),
        "junit": Row(["--junit", "junit.xml"], guard, writes="junit.xml", alone=True),
        "summary": Row(["--summary", "summary.md"], guard, writes="summary.md"),
        "github": Row(["--github"], guard, alone=True),
        "test": Row(["--test", "sign"], refused={"tracks": "test"}),
        "seed": Row(["--seed", "7"], refused=dict.fromkeys(("files", "scores"), "--seed 7 is for")),
        "pool": replace(ROWS["pool"], refused={"tracks": "pool", **NOT_SCORES}),
        "lengths": replace(ROWS["lengths"], refused={"tracks": "lengths", **NOT_SCORES}),
        "show": Row(["--show", "queries"], ["-o", "jsonl", "--chart", CHART], writes=CHART),
        "topics": Row(texts("--topics"), ["-q"], alone=True),
    },
    "ranks": {
        "simultaneous": Row(
            ["--simultaneous"], refused={"files": "simultaneous", "scores": "simultaneous"}
        ),
        "unjudged": Row(["--unjudged"], refused=NOT_SCORES),
        "variance": Row(["--variance", "common"], ["--alpha", ".4"], "AP@10"),
        "draws": Row(["--draws", "20"], ["--alpha", ".1"], "ASL@10"),
        "seed": Row(["--seed", "7"], ["--alpha", ".1", "--draws", "20"], "ASL@10"),
        "alpha": Row(["--alpha", ".4"]),
        "show": Row(["--pairs"]),
    },
    "holes": {
        "measure": Row(["-m", "nDCG@5"]),
        "labels": Row(labels),
        "conflicts": Row(["--conflicts", "official"], as_labels(conflicting), needed=True),
        "export_to": Row(HOLES_EXPORT, writes=EXPORT),
        "most": Row(["--most", "2"], HOLES_EXPORT, writes=EXPORT, alone=True),
        "force": Row(
            ["--force"], HOLES_EXPORT, same={"always": "there is no file yet"}, alone=True
        ),
        "depth": Row(["--depth", "12"], measure="ASL@2"),
        "highest": Row(["--highest", "5"], measure="nDCG@10"),
        "dataset": Row(["--dataset", "no-such-id"], HOLES_EXPORT, refused={"always": "no-such-id"}),
        "docs": Row(texts("--docs"), HOLES_EXPORT, writes=EXPORT, alone=True),
        "topics": Row(texts("--topics"), HOLES_EXPORT, writes=EXPORT, alone=True),
        "show": Row(["-q"]),
        "alpha": Row(["--alpha", "1e-9"]),
    },
    "labels": {
        "conflicts": Row(["--conflicts", "official"], conflicting, needed=True),
        "highest": Row(["--highest", "9"], too_high, needed=True),
        "output": Row(["-o", "merged"], writes="merged"),
        "force": Row(
            ["--force"], ["-o", "merged"], same={"always": "there is no file yet"}, alone=True
        ),
    },
    "judges": {
        "labels": Row(labels),
        "show": Row(["--show", "favoured"]),
        "reference": Row(["--reference", "nist"]),
        "form": Row(["-o", "jsonl"], ["--show", "agreement"], alone=True),
        "judges": Row(judge("z", 0.3)),
        "rel": Row(["-l", "2"]),
        "duplicates": Row(["--duplicates", "best"], data="repeated", needed=True),
        "collapse": Row(["--collapse", "d"], refused={"always": "none of the documents"}),
        "alpha": Row(["--alpha", ".3"]),
        "people": Row(["--person", "x"]),
        "judge_rel": Row(["--judge-rel", "x=2"]),
    },
    "audit": {
        "machine_rel": Row(["--judge-rel", "m=2"]),
        "target": Row(["--target", "these-queries"]),
        "baseline": Row(["--baseline", "delta"]),
        "all_pairs": Row(["--all-pairs"]),
        "rel": Row(["-l", "2"]),
    },
    "plan-audit": {
        "machine_rel": Row(["--judge-rel", "m=2"]),
        "target": Row(["--target", "these-queries"]),
        "width": Row(["--width", "5"]),
        "queries": Row(["--queries", "9"]),
        "depth": Row(["--depth", "3"]),
        "seed": Row(["--seed", "7"], ["--queries", "9", "-o", "drawn"], writes="drawn"),
        "output": Row(["-o", "drawn"], ["--queries", "9"], writes="drawn", alone=True),
        "rel": Row(["-l", "2"]),
    },
    "report": {
        "title": Row(["--title", "A title"]),
        "note": Row(["--note", "A note"]),
        "topics": Row(texts("--topics")),
        "docs": Row(texts("--docs"), refused=NOT_SCORES),
        "dataset": Row(["--dataset", "no-such-id"], refused={"always": "no-such-id"}),
        "cutoff": Row(["-k", "5"], refused=NOT_SCORES),
        "groups": Row(group_file, measure="AP_Rareness@10", refused=NOT_SCORES),
    },
    "pool": {"depth": Row(["--depth", "3"]), "name": Row(["--name", "mine"])},
}
SPECIAL |= {
    "demo": {},
    "tune": {
        "n_trials": Row(["--trials", "3"]),
        "transfer": Row(lambda s: ["--transfer", tuned(s, 2)]),
        "split": Row(["--split"]),
        "weights": Row(["--weights", "rsj"]),
        "trials_only": Row(["--trials-only"]),
        "seed": Row(["--seed", "7"]),
        "storage": Row(
            lambda s: ["--storage", f"sqlite:///{folder()}/{s}.db"],
            same={"always": "the same trials"},
        ),
        "out": Row(["--out", "."], writes="table.csv"),
        "force": Row(["--force"], ["--out", "."], same={"always": "no file yet"}, alone=True),
    },
    "analyze": {
        "as_published": Row(["--as-published"]),
        "preferences": Row(["--preferences", "rrLP"]),
        "preference": Row(["--preference", "rrLP"]),
        "test": Row(["--test", "sign"]),
        "fuzz": Row(["--fuzz", ".3"]),
        "few": Row(["--few", "1"]),
        "depth": Row(["--depth", "3"]),
        "a": Row(["--a", "bravo"]),
        "b": Row(["--b", "bravo"]),
        "fractions": Row(["--fractions", ".5,1"]),
        "run": Row(["--run", "delta"]),
        "deepest": Row(["--deepest", "3"]),
        "alphas": Row(["--alphas", "0,1"]),
        "sizes": Row(["--sizes", "2"]),
        "normalized": Row(["--normalized"]),
        "margin": Row(["--margin", ".5"]),
        "each": Row(["--each"]),
        "standardized": Row(["--standardized"]),
        "system": Row(["--system", "delta"]),
        "run_types": Row(run_types),
        "both_ways": Row(["--both-ways"]),
        "missing_length": Row(["--missing-length", "5"]),
        "judges": Row(judge("z", 0.3), refused={"tracks": "one track only"}),
        "rel": Row(["-l", "3"]),
        "judge_rel": Row(["--judge-rel", "x=2"], refused={"tracks": "none of the"}),
    },
}


#: Analyses of rareness, with their measure.
RARENESS = dict.fromkeys(
    (
        "analyze agreement-by-alpha",
        "analyze agreement-by-number-of-systems",
        "analyze rareness-by-pool",
        "analyze rareness-without-own-group",
    ),
    "AP_Rareness@10",
)


RANDOM = {
    "draws": Row(["--draws", "20"], ["--test", "randomization"], alone=True),
    "seed": Row(["--seed", "7"], ["--test", "randomization", "--draws", "20"], alone=True),
}
OTHER_RARENESS = Row(["-m", "P_Rareness@5"])
LEVELS = {"levels": Row(["--levels", "3"])}
SPECIAL |= {name: {"measures": OTHER_RARENESS, "measure": OTHER_RARENESS} for name in RARENESS}
SPECIAL |= {
    "analyze discriminative-power": {
        "draws": Row(
            ["--draws", "20"], ["--level", ".1,.3,.5,.7", "--test", "randomization"], alone=True
        ),
        "seed": Row(
            ["--seed", "7"],
            ["--test", "randomization"],
            same={"always": "all sign vectors of 12 queries"},
            alone=True,
        ),
    },
    "analyze compare-techniques": RANDOM
    | {
        option: Row(words, refused={"always": "is for the default measures"})
        for option, words in {
            "rel": ["-l", "2"],
            "cutoff": ["-k", "5"],
            "missing": ["--missing", "after"],
        }.items()
    }
    | {"correction": Row(["--correction", "none"], ["-m", "nDCG@5"])},
    "analyze lengths-by-rank": {
        "missing_length": Row(["--missing-length", "5"], same={"always": "all are known"})
    },
    "analyze preference-discrimination": {
        option: Row(words, ["--level", ".5", "--draws", "20"], data="close")
        for option, words in {
            "rel": ["-l", "3"],
            "cutoff": ["-k", "2"],
            "draws": ["--draws", "500"],
            "seed": ["--seed", "7"],
        }.items()
    },
    "analyze compare-with-assessors": RANDOM,
    "analyze ties-by-recall-level": LEVELS,
    "analyze recall-level-needed": LEVELS,
    "analyze level-correlations": LEVELS,
    "analyze level-regressions": LEVELS,
}


SPECIAL["analyze cycles"] = {
    option: replace(row, data="circular")
    for option, row in {
        "preference": Row(["--preference", "rrLP"]),
        **{option: ROWS[option] for option in ("rel", "cutoff", "places")},
    }.items()
}
DOUBLE = Row(["--as-published"], data="narrow")
#: Analyses whose figures the ids of queries among the documents do not change here.
for name in (
    "discriminative-power rare-finds preference-discrimination cycles synthetic-systems "
    "agreement-by-alpha agreement-by-number-of-systems"
).split():
    same = Row(["--drop-self"], same={"always": "these ids change no order of two runs"})
    SPECIAL.setdefault(f"analyze {name}", {})["drop_self"] = same
SPECIAL["analyze stability"] = {"as_published": DOUBLE}
SPECIAL["analyze agreement-by-alpha"] |= {"as_published": DOUBLE}
RAREST = ["-m", "P_Rareness(alpha=1)@5"]
SPECIAL["analyze agreement-by-number-of-systems"] |= {
    "as_published": Row(["--as-published"], RAREST, data="narrow"),
    "seed": Row(["--seed", "7"], [*RAREST, "--draws", "40"], data="uncommon"),
}
SPECIAL["analyze rareness-without-own-group"]["groups"] = Row(
    lambda s: ["--groups", lines("other-groups", dict(zip(RUNS, "xxyy")))]
)
SPECIAL["analyze compare-techniques"]["as_published"] = Row(["--as-published"], ["-m", "nDCG@5"])
SPECIAL["analyze preference-levels"] = {
    "places": replace(ROWS["places"], same={"always": "whole numbers"})
}
SPECIAL["analyze reordering"] = {
    "correction": Row(["--correction", "bonferroni"], ["--alpha", ".05"])
}


def commands() -> dict[str, click.Command]:
    """Every command by its words."""
    found = {}
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        if isinstance(command, click.Group):
            below = click.Context(command)
            for part in command.list_commands(below):
                found[f"{name} {part}"] = command.get_command(below, part)
        else:
            found[name] = command
    return found


COMMANDS = commands()


def options_of(name: str) -> list[str]:
    options = (p.name for p in COMMANDS[name].params if isinstance(p, click.Option))
    return list(dict.fromkeys(options))  # -q is another name of --show queries


#: Options that :func:`words_of` always gives: those without a row, and those of these commands.
GIVEN = "tracks scores machine old new n relevant ranks qid pools output".split()
GIVEN_TO = [("report", "force"), ("pool", "force"), ("analyze lengths-by-rank", "lengths")]


def row_of(name: str, option: str) -> Row | None:
    for rows in (SPECIAL.get(name, {}), SPECIAL.get(name.split()[0], {}), ROWS):
        if option in rows:
            return rows[option]
    return None


def is_given(name: str, option: str) -> bool:
    return (name, option) in GIVEN_TO or row_of(name, option) is None and option in GIVEN


def test_every_option_has_a_row():
    pairs = [(n, o) for n in COMMANDS for o in options_of(n) if not is_given(n, o)]
    assert not [pair for pair in pairs if row_of(*pair) is None]


def required(name: str, setting: Setting) -> Iterator[str]:
    """Words that a command cannot do without."""
    options = options_of(name)
    for option, words in {
        "old": ["--old", "charlie", "--new", "bravo"],
        "n": ["--documents", "30"],
        "relevant": ["--relevant", "5,10"],
        "qid": ["--qid", "q3"],
    }.items():
        if option in options:
            yield from words
    if name == "analyze tie-probability":
        yield from ["--ranks", "1,3"]
    if "pools" in options:
        yield from run_types(setting)
    if name == "analyze rareness-without-own-group":
        yield from group_file(setting)
    if "judges" in options and name not in ("ranks", "report") and setting.source == "files":
        yield from two_judges(setting)
    if name in ("audit", "plan-audit"):
        path = write_qrels(_small.judged_by_other(), folder() / "machine")
        yield from ["--judge", f"m={path}"]
    if name == "analyze lengths-by-rank":
        yield from words_of_documents(setting)
    if name in ("report", "pool"):
        yield from ["-o", f"{name}.out", "--force"]


def words_of(name: str, setting: Setting, option: str, data: str) -> list[str]:
    """A command with what it needs."""
    params = {p.name for p in COMMANDS[name].params}
    words = [*name.split(), *required(name, setting)]
    if name == "tune":
        words += [tuned(setting, 1), "--trials", "2"]
    by_name = {"measures", "measure"} & params
    if by_name and option not in {*by_name, *SCORES} - {"fill"}:
        words += ["-m", RARENESS.get(name, setting.measure)]
    if name.startswith("analyze") and option not in ("places", "form"):
        words += ["-o", "jsonl"]
    if "qrels" not in params and name != "pool":
        return words
    if setting.source == "scores":
        change = SCORES.get(option, lambda scores: scores)
        path = folder() / f"{option if option in SCORES else data}-{setting.measure}.csv"
        change(long_scores(data, setting.measure, setting.turned)).to_csv(path, index=False)
        words += ["--scores", str(path)]
        if data == "unanswered" and option != "fill":
            words += ["--fill", "0"]
        return words + (RUNS if name == "compare" else [])
    if setting.source == "tracks":
        for track, seed in (("one", 1), ("two", 2)):
            runs, qrels = files(data, setting.turned, seed)
            words += ["--track", track, str(qrels), str(next(iter(runs.values())).parent)]
        return words + (["--baseline", "charlie"] if name == "compare" else [])
    runs, qrels = files(data, setting.turned)
    paths = [str(path) for path in runs.values()]
    if name == "pool":
        return words + paths
    if name == "labels":
        rows = _small.labels().iloc[1::2]
        return [*words, str(qrels), str(write_qrels(rows, folder() / "some-labels"))]
    if name in ("audit", "plan-audit"):
        rows = [row for row in qrels.read_text().splitlines() if row.split()[0] < "q4"]
        qrels = qrels.with_suffix(".people")
        qrels.write_text("\n".join(rows) + "\n")
    if name == "holes":
        paths = paths[1:3]
    return [*words, str(qrels), *(paths if "runs" in params or "runs_b" in params else [])]


COMPILING = "Compiling (a few seconds, once per machine)\n"


def output_of(name: str, words: list[str], writes: str = "") -> str:
    """What a command prints and writes; after a mark where it ends in an error."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(dir=folder()) as here:
        os.chdir(here)
        try:
            result = call(*words)
            assert result.exception is None or isinstance(result.exception, SystemExit)
            failed = result.exit_code > (0 if name == "evaluate" else 1)
            # Numba's first call on a machine is announced, whatever the options are.
            parts = [(f"!{result.stderr}" if failed else result.output).replace(COMPILING, "")]
            for path in (f"{name}.out", writes):
                if path and Path(path).is_file():
                    kept = Path(path).read_bytes().decode(errors="replace")
                    parts.append(re.sub('pyterrier-asl report [^"<]*', "", kept))
                    parts.append(f"wrote {path}")
        finally:
            os.chdir(before)
    return "\n".join(parts)


@cache
def plain(name: str, setting: Setting, option: str) -> str:
    return output_of(name, words_of(name, setting, option, "plain"))


def problem(name: str, option: str, setting: Setting) -> str:
    """What the option should not have done; '' for nothing."""
    row = row_of(name, option)
    if row.measure:
        setting = setting._replace(measure=row.measure)
    given = row.given(setting) if callable(row.given) else row.given
    value = row.words(setting) if callable(row.words) else row.words
    words = [*words_of(name, setting, option, row.data), *given]
    if given or row.data != "plain" or row.writes:
        before = output_of(name, words, row.writes)
    else:
        own = {"measure", "measures", "places", "form", *SCORES}
        before = plain(name, setting, option if option in own else "")
    after = output_of(name, [*words, *value], row.writes)
    sources = (setting.source, "always")
    if expected := [row.refused[source] for source in sources if source in row.refused]:
        is_refused = after.startswith("!") and re.search("|".join(expected), after)
        return "" if is_refused else f"is not refused: {after[-200:]}"
    if after.startswith("!"):
        return f"is refused: {after[-300:]}"
    if before.startswith("!") != row.needed:
        return f"without it: {before[-200:]}"
    if (before == after) != any(source in row.same for source in sources):
        return "changes nothing" if before == after else "changes the output"
    if row.writes and f"wrote {row.writes}" not in after:
        return "writes nothing"
    if row.alone:
        alone = output_of(name, [*words_of(name, setting, option, "plain"), *value])
        return "" if alone.startswith("!") else "is not refused alone"
    return ""


def cases() -> Iterator[Any]:
    for name, command in COMMANDS.items():
        params = {param.name for param in command.params}
        settings = [s for s in SETTINGS if s.source == "files" or s.source in params]
        first = settings[: QUICK.get(name, 1)]
        for option in options_of(name):
            tried = settings
            if option == "title":  # drawing a chart takes long; one of each source
                tried = list({s.source: s for s in settings}.values())
            shared = option in SHARED and name not in ("ranks", "analyze run-quality")
            quick = [] if shared or option in SHARED[:2] else first
            for part, chosen, marks in (
                ("", quick, []),
                ("-more", [s for s in tried if s not in quick], [pytest.mark.slow]),
            ):
                if chosen and not is_given(name, option):
                    yield pytest.param(
                        name, option, chosen, marks=marks, id=f"{name}-{option}{part}"
                    )


#: In how many settings the quick suite tries each option; options that few commands try there.
QUICK = {"report": 0, "evaluate": 2}
SHARED = ("chart", "title", "places", "form", "duplicates", "collapse", "force")


@pytest.mark.parametrize(("name", "option", "settings"), list(cases()))
def test_option_changes_the_output_or_is_refused(name, option, settings):
    problems = {str(setting): problem(name, option, setting) for setting in settings}
    assert not {setting: wrong for setting, wrong in problems.items() if wrong}
