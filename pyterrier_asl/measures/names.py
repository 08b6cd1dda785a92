"""Names of measures: parsing, parameters, default measures, and the pool of each."""

from __future__ import annotations

import ast
import contextlib
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import ir_measures
from ir_measures import Measure

from . import ASL, TBG, AP_Rareness, LexiP, P_Rareness, PluginMeasure, nASL
from ._base import DEEPEST, grade, own_measures
from .directions import higher_is_better, is_count

#: Measures as callers give them: one or several, by name or not, or by the names of their columns.
Measures: TypeAlias = str | Measure | Sequence[str | Measure] | Mapping[str, str | Measure]

#: A name, then parameters in brackets, then a cut-off; brackets may hold anything in quotes.
_ONE = re.compile(r"""(?: [^\s,()] | ,(?=\d) | \( (?: [^()'"] | '[^']*' | "[^"]*" )* \) )+""", re.X)
#: trec_eval's way to write a measure: ``map``, ``ndcg_cut_10``, ``P.5,10``.
_TREC = re.compile(r"\w+?(?:[._]\d[\d.,]*)?")


def added_up(measure: Measure | str) -> bool:
    """Whether values of a measure, or of a name, are added up over the queries, not averaged.

    Counts are added up; values of a name that is no measure's are averaged.

    >>> added_up(ir_measures.NumRet), added_up("NumRet"), added_up("AP"), added_up("my column")
    (True, True, False, False)
    """
    if isinstance(measure, str):
        measure = measure_named(measure)
    return measure is not None and is_count(measure)


def needs_pool(measure: Measure) -> bool:
    """Whether a measure counts rareness over a pool that it does not name."""
    return "pool" in measure.SUPPORTED_PARAMS and measure.params.get("pool") is None


def pool_depth(measures: Iterable[Measure]) -> int | None:
    """The depth of a pool for measures that need one; None: that of the runs."""
    depths = [measure["depth"] or measure["cutoff"] for measure in measures if needs_pool(measure)]
    return None if None in depths else max(depths, default=None)


def with_pool(measure: Measure, pool: Any) -> Measure:
    """A measure with the pool of the measured runs, if it needs one; each run is a member of it."""
    if not needs_pool(measure):
        return measure
    return measure(pool=pool, member=True if measure["member"] is None else measure["member"])


@dataclass(frozen=True)
class NamedMeasure:
    """A measure with the name that the caller gave it."""

    name: str
    measure: Measure

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher is better; None for a count."""
        return higher_is_better(self.measure)

    @property
    def key(self) -> tuple[str, bool]:
        """A key that is equal for two names of the same measure."""
        # rel=1 is not printed, but where it was written no other rel may take its place
        return str(self.measure), "rel" in self.measure.params

    def with_params(self, **params: Any) -> NamedMeasure:
        """The measure with values for parameters that it has and that its name leaves open.

        A pool or lengths leave its name as it is; ``rel`` is added to the name.
        """
        missing = {
            name: value
            for name, value in params.items()
            if value is not None
            and name in self.measure.SUPPORTED_PARAMS
            and name not in self.measure.params
        }
        try:
            if "rel" in missing:
                missing["rel"] = grade(missing["rel"])  # measures of other packages take no 2.0
            measure = build_measure(self.measure, {**self.measure.params, **missing})
        except ValueError as error:
            options = ", ".join(f"{name}={value!r}" for name, value in missing.items())
            raise ValueError(
                f"the measure {self.name!r} does not take {options} ({error}): name measures that "
                "do, or write it in brackets after each measure, as in AP(rel=2)"
            ) from None
        return NamedMeasure(str(measure) if "rel" in missing else self.name, measure)


def parse_measures(texts: str | Iterable[str]) -> list[NamedMeasure]:
    """Parses measures in text, such as ``'ASL(g=10)@1000 LexiP AP ndcg_cut_10'``.

    They are separated by blanks or commas. A name of trec_eval (``map``, ``P_10``) has the meaning
    that it has in ``pt.Experiment``; any other the meaning of ir_measures. A family of trec_eval
    (``P``, ``recall``) means all its members.

    Args:
        texts: one or several such texts.

    Returns:
        The measures in the order given, none twice.

    Raises:
        ValueError: for text that is no measure.

    >>> [named.name for named in parse_measures("ASL(rel=2, g=10)@1000, map P.5,10")]
    ['ASL(rel=2, g=10)@1000', 'map', 'P@5', 'P@10']
    """
    asked = [
        measure
        for text in ([texts] if isinstance(texts, str) else texts)
        for word in words(text)
        for measure in _parse(word)
    ]
    if not asked:
        raise ValueError("no measure was given: write names, such as 'ASL@1000 AP'")
    return unique(asked)


def parse_measure(measure: Measure | str) -> Measure:
    """Parses a measure: returns a measure as it is, or the one of a name.

    Raises:
        ValueError: for something that is no measure, or the name of several.

    >>> parse_measure("ndcg_cut_10"), parse_measure(ir_measures.AP)
    (nDCG@10, AP)
    """
    if not isinstance(measure, str):
        return _valid(measure)
    several = parse_measures(measure)
    if len(several) > 1:
        raise ValueError(f"{measure!r} names several measures ({several[0].name} ...): name one")
    return several[0].measure


def measure_named(name: str) -> Measure | None:
    """The measure of a name; None where there is no such measure.

    >>> measure_named("map"), measure_named("latency")
    (AP, None)
    """
    try:
        return parse_measure(name)
    except ValueError:
        return None


def named_measures(measures: Measures) -> list[NamedMeasure]:
    """Parses measures: one or several, names, text that names several, or a dict.

    Args:
        measures: measures or their names; or a dict from the name of a column to either.

    Raises:
        ValueError: for none at all, and for two by one name.

    >>> [measure.name for measure in named_measures({"mine": "AP"})]
    ['mine']
    >>> [measure.name for measure in named_measures(["AP RR", ASL @ 10])]
    ['AP', 'RR', 'ASL@10']
    """
    if isinstance(measures, Mapping):
        named = [NamedMeasure(name, parse_measure(value)) for name, value in measures.items()]
    else:
        several = not isinstance(measures, str) and isinstance(measures, Iterable)
        named = []
        for measure in measures if several else [measures]:
            if isinstance(measure, str):
                named += parse_measures(measure)
            else:
                named.append(NamedMeasure(str(measure), _valid(measure)))
    names = [measure.name for measure in named]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the measure {name!r} is given twice: omit one")
    if not named:
        raise ValueError("no measure was given: pass some, such as [ASL@1000, LexiP]")
    return named


def _valid(measure: Measure) -> Measure:
    """The measure, if its parameters are ones that it takes."""
    if not isinstance(measure, ir_measures.Measure):
        raise ValueError(f"a measure is a name or an ir_measures Measure, not {measure!r}")
    return measure if hasattr(measure, "runtime_impl") else build_measure(measure, measure.params)


def unique(asked: Iterable[NamedMeasure]) -> list[NamedMeasure]:
    """Each measure once, under the first name given for it."""
    first: dict[Any, NamedMeasure] = {}
    for measure in asked:
        first.setdefault(measure.key, measure)
    return list(first.values())


def words(text: str) -> list[str]:
    """The names in a text that names measures.

    >>> words("ASL(rel=2, g=10)@1000, map P.5,10")
    ['ASL(rel=2, g=10)@1000', 'map', 'P.5,10']

    Raises:
        ValueError: for a bracket or quote that is not closed.
    """
    left_over = re.search(r"[^\s,]", _ONE.sub(lambda name: " " * len(name[0]), text))
    if left_over:
        raise ValueError(
            f"{text!r} cannot be read as measures from {text[left_over.start() :]!r} on: "
            "is a bracket or quote missing?"
        )
    return _ONE.findall(text)


def _parse(word: str) -> list[NamedMeasure]:
    if family := _trec_family(word):
        names = [word] if len(family) == 1 else map(str, family)
        return [NamedMeasure(name, measure) for name, measure in zip(names, family)]
    measure, params = _parse_params(word)
    try:
        return [NamedMeasure(word, build_measure(measure, params))]
    except ValueError as error:
        raise ValueError(f"the measure {word!r}: {error}") from None


def _parse_params(word: str) -> tuple[Measure, dict[str, Any]]:
    """The measure that ``NAME(PARAMETER=VALUE, ...)@CUTOFF`` names, and its parameters.

    ``ir_measures.parse_measure`` in its last release needs classes that Python 3.14 has removed,
    and raises bare AssertionErrors.
    """
    try:
        node = ast.parse(word, mode="eval").body
        params = {}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            params["@"] = ast.literal_eval(node.right)
            node = node.left
        if isinstance(node, ast.Call):
            if node.args:
                raise ValueError("parameters have names")
            params |= {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
            node = node.func
        if not isinstance(node, ast.Name):
            raise ValueError("a name comes first")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"{word!r} is no measure ({getattr(error, 'msg', error)}): write it as in "
            "'ASL(g=10, rel=2)@1000'"
        ) from None
    measure = ir_measures.measures.registry.get(node.id)
    if measure is None:
        raise ValueError(_unknown(word, node.id))
    if "@" in params:
        params[measure.AT_PARAM] = params.pop("@")
    return measure, params


def _unknown(word: str, name: str) -> str:
    """The error message for a name that no measure has."""
    import difflib

    similar = {other.NAME.lower(): other.NAME for other in ir_measures.measures.registry.values()}
    close = difflib.get_close_matches(name.lower(), similar, n=1, cutoff=0.75)
    if close:
        meant = word.replace(name, similar[close[0]], 1)
        return f"{word!r}: there is no such measure; did you mean {meant}?"
    ours = ", ".join(measure.NAME for measure in own_measures())
    return (
        f"{word!r}: there is no such measure; ours are {ours}, for others see "
        "https://ir-measur.es/en/latest/measures.html"
    )


#: Ranges of the parameters of ir_measures' measures.
_RANGES: dict[str, tuple[float, float]] = {
    "cutoff": (1, DEEPEST),
    "recall": (0, 1),
    "rel": (0, DEEPEST),
    "p": (0, 1),
    "beta": (0, 1e9),
}
_TYPES = {int: "a whole number", float: "a number", bool: "True or False", str: "text"}


def build_measure(measure: Measure, params: Mapping[str, Any]) -> Measure:
    """A measure with these parameters, which are checked, whichever package it is of.

    Raises:
        ValueError: for a parameter that the measure does not have, or does not take this value of,
            or that it needs and is not given.

    >>> build_measure(ir_measures.INST, {"T": 2, "max_rel": 3})
    INST(T=2.0,max_rel=3)
    """
    if isinstance(measure, PluginMeasure):
        return measure(**params)
    checked = {name: _checked_value(measure, name, value) for name, value in params.items()}
    for name, param in measure.SUPPORTED_PARAMS.items():
        if param.required and name not in {*checked, *measure.params}:
            how = "@k" if name == measure.AT_PARAM else f"({name}=...)"
            raise ValueError(
                f"{measure.NAME} needs {name} ({param.desc}): write {measure.NAME}{how}"
            )
    return measure if repr(checked) == repr(measure.params) else measure(**checked)


def _checked_value(measure: Measure, name: str, value: Any) -> Any:
    """A value of a parameter of ir_measures', as its provider wants it."""
    param = measure.SUPPORTED_PARAMS.get(name)
    if param is None:
        takes = ", ".join(measure.SUPPORTED_PARAMS) or "none"
        raise ValueError(f"{measure.NAME} has no parameter {name!r}; it has {takes}")
    if param.dtype is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    low, high = _RANGES.get(name, (-math.inf, math.inf))
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(value, dict) and not all(map(_is_finite, [*value, *value.values()])):
        raise ValueError(
            f"{measure.NAME}: {name} must be a dict of numbers, such as {{1: 3}}, not {value!r}"
        )
    if param.validate(value) and (not is_number or low <= value <= high):
        return value
    what = _TYPES.get(param.dtype, "of its type")
    if isinstance(param.choices, (list, tuple)):
        what = "one of " + ", ".join(map(repr, param.choices))
    if name in _RANGES:
        what += f" from {low:g} to {high:.10g}"
    raise ValueError(f"{measure.NAME}: {name} must be {what}, not {value!r}")


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _trec_family(word: str) -> list[Measure]:
    """The measures that trec_eval has by a name; none where it does not know the name."""
    if not _TREC.fullmatch(word):
        return []
    try:
        with contextlib.redirect_stdout(sys.stderr):  # it prints what it skips
            return list(ir_measures.parse_trec_measure(word))
    except ValueError:
        return []


def official_rel(official: Iterable[Measure]) -> int | None:
    """The least relevant grade that official measures name; None: they name none.

    >>> official_rel([ir_measures.nDCG @ 10, ir_measures.RR(rel=2)]), official_rel([ir_measures.AP])
    (2, None)
    """
    rels = [measure.params["rel"] for measure in official if "rel" in measure.params]
    return max(rels, default=None)


def default_measures(
    official: Iterable[Measure] = (),
    *,
    several: bool,
    lengths: bool = False,
    cutoff: int = 1000,
    brief: bool = False,
) -> list[NamedMeasure]:
    """Default measures: those of this package, and standard ones beside them.

    Args:
        official: the official measures of the dataset. The least relevant grade that they name
            is that of all measures.
        several: whether there are several runs, without which nothing is rare.
        lengths: whether the lengths of documents are known, without which there is no TBG.
        cutoff: the cut-off of ASL and recall.
        brief: for a report: without the variants nASL and P_Rareness, with RR.

    >>> [str(named.measure) for named in default_measures(several=False)]
    ['ASL@1000', 'nASL@1000', 'ASL(g=10)@1000', 'LexiP', 'AP', 'nDCG@10', 'R@1000', 'Judged@10']
    """
    official = list(official)
    ours = [ASL @ cutoff, nASL @ cutoff, ASL(g=10) @ cutoff, LexiP]
    if several:
        ours += [AP_Rareness @ 100, P_Rareness @ 100]
    if lengths:
        ours.append(TBG)
    beside = [ir_measures.AP, ir_measures.nDCG @ 10]
    if brief:
        ours = [measure for measure in ours if measure not in (nASL @ cutoff, P_Rareness @ 100)]
        beside.append(ir_measures.RR)
    beside += [ir_measures.R @ cutoff, ir_measures.Judged @ 10]
    rel = official_rel(official)
    named, further = (
        [NamedMeasure(str(measure), measure).with_params(rel=rel) for measure in measures]
        for measures in (ours, beside)
    )
    named += [NamedMeasure(str(measure), measure) for measure in official]
    return unique(named + further)


def with_options(measure: Measure, rel: float | None = None, cutoff: int | None = None) -> Measure:
    """The measure for documents of grade ``rel`` or more, at ``cutoff``; None: as it is.

    A measure without grades of relevance, such as nDCG, keeps looking at all of them.

    Raises:
        ValueError: for a grade that the measure does not take.

    >>> with_options(ir_measures.AP, rel=2.0, cutoff=100)
    AP(rel=2)@100
    >>> with_options(ir_measures.nDCG @ 10, rel=2)
    nDCG@10
    """
    options: dict[str, Any] = {} if cutoff is None else {"cutoff": cutoff}
    if rel is not None and "rel" in measure.SUPPORTED_PARAMS:
        options["rel"] = grade(rel)
    try:
        return build_measure(measure, {**measure.params, **options})
    except ValueError as error:
        raise ValueError(
            f"{measure} does not take rel={rel} ({error}): standard measures take whole grades; "
            "round the judgements, or use a measure of this package"
        ) from None
