"""Defaults of public functions, analyses, measures and commands: changing one changes results."""

import inspect
from typing import Any

import click
import pytest

import pyterrier_asl as asl
from pyterrier_asl.analysis import registry
from pyterrier_asl.cli import main
from pyterrier_asl.measures.parsing import own_measures

TENTHS = tuple(n / 10 for n in range(11))

#: Defaults other than None, False and empty ones, by the name of the parameter.
USUAL = {"alpha": 0.05, "backend": "loky", "conflicts": "error", "correction": "holm", "jobs": 1}
USUAL |= {"metric": "map", "missing": "pad", "n_trials": 1000, "rel": 1, "seed": 0, "test": "t"}
USUAL |= {"reference": "reference", "return_type": "opt_pipeline", "variance": "averaged"}
USUAL |= {"target": "queries-like-these"}

OF_EXPERIMENT = {"dataframe": True, "filter_by_topics": True, "correction_alpha": 0.05}
OF_EXPERIMENT |= {"verbose": "auto", "validate": "warn", "save_mode": "warn", "save_format": "trec"}

#: Defaults of single functions, and of the analyses by their names.
OWN: dict[str, dict[str, Any]] = {
    "DocLengths": {"name": "lengths"},
    "audit": {"name": "machine"},
    "Experiment": OF_EXPERIMENT,
    "RobertsonPRF": {"fb_docs": 10, "fb_terms": 25, "gamma": 0.2, "weights": "idf"},
    "StagedSearch": {"study_name": "StagedSearch"},
    "bm25_stages": {"num_results": 1000, "weights": "idf"},
    "judges": {"draws": 1000},
    "ranks": {"draws": 10_000},
    "agreement-by-alpha": {"alphas": TENTHS},
    "agreement-by-number-of-systems": {"sizes": (2, 4, 8, 16, 32, 64), "draws": 1000},
    "cycles": {"preference": "sgnLP"},
    "discriminative-power": {"correction": "auto", "levels": (0.05, 0.01)},
    "lengths-by-rank": {"cutoff": 100},
    "level-correlations": {"levels": 8},
    "level-regressions": {"levels": 4, "following": 4},
    "missing-labels": {"fractions": TENTHS[1:], "draws": 10},
    "missing-queries": {"fractions": TENTHS[1:], "draws": 10},
    "preference-discrimination": {
        "preferences": ("rrLP", "sgnLP", "RR"),
        "levels": (0.05,),
        "tests": ("tukey-randomized", "paired"),
    },
    "rare-finds": {"few": 3},
    "recall-level-needed": {"levels": 20},
    "reordering": {"correction": "none", "margin": 0.1},
    "satisfaction": {"depth": 10},
    "stability": {"fuzz": 0.05, "draws": 1000},
    "synthetic-systems": {"cutoff": 100, "alphas": (0.0, 0.5, 1.0)},
    "system-order": {"preference": "sgnLP"},
    "system-preferences": {"preferences": ("rrLP", "sgnLP"), "correction": "auto"},
    "tie-probability-by-rank": {"deepest": 10},
    "ties-by-recall-level": {"levels": 20},
    "ties-with-missing-labels": {"fractions": TENTHS[1:], "draws": 10},
}

#: Of the measures; of TBG the values of Smucker and Clarke (2012).
TBG = {"rel": 1, "halflife": 224, "p_click_rel": 0.64, "p_click_nonrel": 0.39, "p_save": 0.77}
TBG |= {"time_summary": 4.4, "time_per_word": 0.018, "time_base": 7.8}
RARE = {"rel": 1, "alpha": 0.5}
MEASURES: dict[str, dict[str, Any]] = {"ASL": {"rel": 1, "missing": "pad"}, "LexiP": {"rel": 1}}
MEASURES |= {"nASL": {"cutoff": 1000, "rel": 1}, "P_Rareness": RARE, "AP_Rareness": RARE}
MEASURES |= {"TBG": TBG}

#: Of the commands: further options than the parameters of functions.
COMMANDS: dict[str, dict[str, Any]] = {
    "holes": {"measure": "nDCG@10"},
    "tune": {"weights": "idf", "measures": ("AP", "TBG")},
}
OF_OUTPUT = {"places": 4, "form": "table", "title": True}


def without_nothing(defaults: dict[str, Any]) -> dict[str, Any]:
    """The defaults that are not None, False or empty."""
    return {
        name: v for name, v in defaults.items() if not (v is None or v is False or v in ((), ""))
    }


def defaults_of(function: Any) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return without_nothing({p.name: p.default for p in parameters if p.default is not p.empty})


#: Results, which are not made by hand.
RESULTS = {"Audit", "Explanation", "Holes", "JudgeReport", "Leaderboard", "RunComparison"}


def test_defaults_of_functions():
    names = set(asl.__all__) - RESULTS - set(MEASURES)
    functions = {name: getattr(asl, name) for name in names}
    functions |= {analysis.name: analysis.function for analysis in registry.analyses()}
    assert OWN.keys() <= functions.keys()
    for name, function in functions.items():
        own, defaults = OWN.get(name, {}), defaults_of(function)
        assert defaults == own | {n: USUAL.get(n) for n in defaults if n not in own}, name


def test_defaults_of_measures():
    params = {measure.NAME: measure.SUPPORTED_PARAMS.items() for measure in own_measures()}
    found = {n: without_nothing({p: of.default for p, of in each}) for n, each in params.items()}
    assert found == MEASURES


CONTEXT = click.Context(main)


@pytest.mark.parametrize("name", sorted({*main.list_commands(CONTEXT)} - {"analyze"}))
def test_defaults_of_commands(name):
    """Options have the defaults of the functions; those without one take the function's."""
    options = {option.name: option for option in main.get_command(CONTEXT, name).params}
    shown = {name: option.to_info_dict()["default"] for name, option in options.items()}
    defaults, own = without_nothing(shown), COMMANDS.get(name, {})
    usual = USUAL | OF_OUTPUT | OWN.get(name, {}) | own
    assert defaults == own | {option: usual.get(option) for option in defaults}
    unsaid = {option for option in defaults if not options[option].show_default}
    assert all(options[option].is_flag for option in unsaid), unsaid  # the help says the others
