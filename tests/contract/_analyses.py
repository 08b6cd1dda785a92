"""The analyses as calls, and the options of each with a value that makes a difference.

What the rows and calls are is described in :mod:`_options`.
"""

from dataclasses import dataclass, replace
from typing import Any

import _options
import _small
import click
import pandas as pd
from _options import GROUPS, PAIRS, SETTINGS_OF_QRELS, Call, Row, Setting, judges_of, lengths

from pyterrier_asl.analysis.registry import analyses

ANALYSES = {analysis.name: analysis for analysis in analyses()}
TYPES = dict(zip(_small.QUALITY, ("manual", "automatic") * 2))

#: A value for each option that an analysis cannot do without, or is always given.
GIVEN: dict[str, Any] = {
    "old": "charlie",
    "new": "bravo",
    "n": 30,
    "relevant": [5, 10],
    "ranks": [1, 3],
    "qid": "q3",
    "pools": {"manual": ["charlie", "delta"], "automatic": ["alpha", "bravo"]},
}
RARENESS = (
    "agreement-by-alpha agreement-by-number-of-systems rareness-by-pool rareness-without-own-group"
).split()

#: Rows of the options of several analyses.
COMMON: dict[str, Row] = {
    "rel": Row(3),
    "cutoff": Row(5),
    "missing": Row("after"),
    "as_published": Row(True),
    "preferences": Row(["rrLP"]),
    "preference": Row("rrLP"),
    "correction": Row("none"),
    "alpha": Row(0.002),
    "test": Row("sign"),
    "levels": Row(3),
    "draws": Row(20),
    "seed": Row(7),
    "fuzz": Row(0.3),
    "few": Row(1),
    "depth": Row(3),
    "groups": Row(GROUPS),
    "a": Row("bravo"),
    "b": Row("charlie"),
    "run": Row("delta"),
    "fractions": Row([0.5, 1.0]),
    "deepest": Row(3),
    "margin": Row(0.5),
    "each": Row(True),
    "standardized": Row(True),
    "alphas": Row([0.0, 1.0]),
    "normalized": Row(True),
    "sizes": Row([2]),
    "measures": Row(["P@5"]),
    "measure": Row("P_Rareness@5"),
    "system": Row("delta"),
    "run_types": Row(TYPES),
    "both_ways": Row(True),
    "judge_rel": Row({"x": 2}, refused={"several": "none of the"}),
    "lengths": Row(lambda s: lengths()),
    "missing_length": Row(5),
    "judges": Row(judges_of(0.3), refused={"several": "one track only"}),
    **SETTINGS_OF_QRELS,
}
OTHER_RARENESS = {"measures": Row(["P_Rareness@5"])}
RANDOM = {
    "draws": Row(20, {"test": "randomization"}, alone="draws"),
    "seed": Row(
        7,
        lambda s: {"test": "randomization", "draws": 20 if s.source == "frames" else 90},
        alone="seed",
    ),
}
DOUBLE = Row(True, data="narrow")
#: Labels change a note on their scale.
SAME = {
    "drop_self": replace(
        SETTINGS_OF_QRELS["drop_self"], same={"always": "no order of two runs changes"}
    ),
    "labels": SETTINGS_OF_QRELS["labels"],
}
RAREST = {"measures": ["P_Rareness(alpha=1.0)@5"]}
#: Rows of the options of single analyses.
OWN: dict[str, dict[str, Row]] = {
    "agreement-by-alpha": {
        "labels": SAME["labels"],
        **OTHER_RARENESS,
        "as_published": DOUBLE,
        "drop_self": SAME["drop_self"],
    },
    "agreement-by-number-of-systems": {
        "labels": SAME["labels"],
        **OTHER_RARENESS,
        "as_published": Row(True, {**RAREST, "draws": 200}, data="narrow"),
        "seed": Row(7, {**RAREST, "draws": 40}, data="uncommon"),
        "drop_self": SAME["drop_self"],
    },
    "rareness-without-own-group": {"groups": Row(dict(zip(_small.QUALITY, "xxyy")))},
    "discriminative-power": {
        "levels": Row([0.3]),
        "draws": Row(20, {"levels": [0.1, 0.3, 0.5, 0.7], "test": "randomization"}, alone="draws"),
        "seed": Row(
            7, {"test": "randomization"}, same={"always": "all sign vectors"}, alone="seed"
        ),
        "drop_self": SAME["drop_self"],
    },
    "stability": {"as_published": replace(DOUBLE, given={"draws": 200})},
    "compare-techniques": RANDOM
    | {
        option: replace(COMMON[option], refused={"always": "is for the default measures"})
        for option in ("rel", "cutoff", "missing")
    }
    | {
        "correction": Row("none", {"measures": ["P@5"]}),
        "as_published": Row(True, {"measures": ["P@5"]}),
    },
    "compare-with-assessors": RANDOM,
    "preference-discrimination": {
        "levels": Row([0.3]),
        "drop_self": SAME["drop_self"],
        **{
            option: Row(value, {"levels": [0.5], "draws": 20}, data="close")
            for option, value in {"rel": 3, "cutoff": 2, "draws": 500, "seed": 7}.items()
        },
    },
    "cycles": {
        "labels": SAME["labels"],
        "preference": Row("rrLP", data="circular"),
        "rel": Row(2, data="circular"),
        "cutoff": Row(5, data="circular"),
        "drop_self": SAME["drop_self"],
    },
    "reordering": {"correction": Row("bonferroni", {"alpha": 0.05})},
    "lengths-by-rank": {
        "lengths": Row(lambda s: lengths(), same={"always": "given with and without"}),
        "missing_length": Row(5, same={"always": "all are known"}),
    },
    "rare-finds": {"drop_self": SAME["drop_self"]},
    "synthetic-systems": {"drop_self": SAME["drop_self"]},
    "human-range": {"judges": Row(judges_of(0.3))},
}
OWN["compare-techniques"]["measures"] = COMMON["measures"]

#: Analyses whose pairs, lists of runs or ties follow the order of the runs.
OF_NAMES = "compare-techniques system-preferences reordering rare-documents".split()
#: Analyses that draw queries, documents or pairs in the order of the input.
DRAWN = (
    "stability missing-labels missing-queries ties-with-missing-labels preference-discrimination "
    "agreement-by-number-of-systems"
).split()


@dataclass(frozen=True)
class AnalysisCall(Call):
    """A function of ``pyterrier_asl.analysis`` and its command."""

    name: str = ""

    def required(self, setting: Setting) -> dict[str, Any]:
        """Options that an analysis cannot do without."""
        analysis = ANALYSES[self.name]
        found = {name: GIVEN[name] for name in GIVEN if name in analysis.parameters}
        usual = "AP_Rareness@10" if self.name in RARENESS else setting.measure
        several = {"measures": [usual], "fractions": [0.3, 0.6], "measure": "AP_Rareness@10"}
        found |= {name: several[name] for name in several if name in analysis.parameters}
        if self.name in DRAWN:
            found["draws"] = 4
        if self.name == "rareness-without-own-group":
            found["groups"] = GROUPS
        if self.name == "lengths-by-rank":
            found["lengths"] = lengths()
        if "judges" in analysis.parameters and setting.source == "frames":
            found["judges"] = judges_of(0.7, 0.5)(setting)
        return found

    def result(self, setting: Setting, data: str, options: dict[str, Any]) -> pd.DataFrame:
        analysis, options = ANALYSES[self.name], self.required(setting) | options
        is_drawn = self.name in DRAWN or "draws" in options or "seed" in options
        names = self.name not in OF_NAMES and not is_drawn
        keep = PAIRS if is_drawn else ()
        runs, qrels = _options.inputs(setting, data, options, names=names, keep=keep)
        given = {"runs": runs, "qrels": qrels}
        wanted = ["qrels"] if self.name == "assessor-scores" else analysis.parameters
        table = self.python(**{name: given[name] for name in given if name in wanted}, **options)
        is_one = "track" in table and setting.source != "several"
        return table.drop(columns="track") if is_one else table

    def words(self, setting: Setting, data: str, options: dict[str, Any]) -> list[str]:
        takes, given = ANALYSES[self.name].takes, _options.words_of_inputs(setting, data)
        given = given if "runs" in takes else given[:1] if takes else []
        words = _options.words_of(command_for(self.name), self.required(setting) | options)
        return ["analyze", self.name, *given, *words, *self.always]


def command_for(name: str) -> click.Command:
    group: Any = _options.command_of("analyze")
    return group.get_command(click.Context(group), name)


def rows_of_options(name: str) -> dict[str, Row]:
    """A row for each option of the command but those on files and printing and the required."""
    others = "columns grades tracks places wide all_rows form force chart title".split()
    options = [p.name for p in command_for(name).params if isinstance(p, click.Option)]
    wanted = dict.fromkeys(n for n in options if n not in (*others, *GIVEN))
    return {option: OWN.get(name, {}).get(option) or COMMON[option] for option in wanted}


#: The key of an analysis is its command: functions have some of their names.
CALLS: dict[str, Call] = {
    f"analyze {name}": AnalysisCall(
        analysis.function, ("frames", "several")[: 1 + analysis.tracks], "analyze", name=name,
        printed=lambda table: table,
    )
    for name, analysis in ANALYSES.items()
}  # fmt: skip
ROWS = {f"analyze {name}": rows_of_options(name) for name in ANALYSES}
