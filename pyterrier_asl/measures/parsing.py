"""Names of measures: parsing, parameters, and the pool of each."""

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
import numpy as np
from ir_measures import Measure

from ..common.parameters import one_or_more
from . import PluginMeasure
from ._base import DEEPEST, check_required, grade, own_measures
from .directions import added_up, higher_is_better

#: One or several measures or names of measures, or a dict from the names of columns to them.
Measures: TypeAlias = str | Measure | Sequence[str | Measure] | Mapping[str, str | Measure]

#: Columns of tables that are not measures.
_KEYS = frozenset({"track", "run", "name", "qid", "measure", "value"})
#: A name, then parameters in brackets, then a cut-off; brackets may hold anything in quotes.
_ONE = re.compile(r"""(?: [^\s,()] | ,(?=\d) | \( (?: [^()'"] | '[^']*' | "[^"]*" )* \) )+""", re.X)
#: A measure as in trec_eval: ``map``, ``ndcg_cut_10``, ``P.5,10``.
_TREC = re.compile(r"\w+?(?:[._]\d[\d.,]*)?")
#: The parameters in a name of trec_eval.
_ARGUMENTS = re.compile(r"[._](\d[\d.,]*)$")
#: The only count of trec_eval that depends on its minimum grade (``-l``).
_COUNT_BY_LEVEL = "num_rel_ret"
#: The measures of trec_eval that ir_measures has.
_OF_TREC_EVAL = (
    "map map_cut ndcg ndcg_cut P recall recip_rank Rprec bpref iprec_at_recall infAP success set_P "
    "set_recall set_F set_map set_relative_P num_q num_ret num_rel num_rel_ret"
)
#: The first n relevant documents, as tables print them: ``ASL@g1-10``.
_FIRST_N = re.compile(r"@g1(?:-(\d+))?$")
#: Names in other packages, in lower case.
_OTHER_NAMES = {"hit": "Success", "hit_rate": "Success", "hitrate": "Success"}
#: What to use instead of other names, in lower case.
_INSTEAD = {
    "f1": "use P@k and R@k, or SetF for the whole ranking",
    **dict.fromkeys(
        ("rrlp", "sgnlp"),
        "it compares two runs: use compare (pyterrier-asl compare) or Experiment(baseline=...)",
    ),
}


#: The measures of ir_measures that reward documents for the subtopics that they cover.
_OF_SUBTOPICS = frozenset(
    "alpha_nDCG alpha_DCG ERR_IA nERR_IA NRBP nNRBP AP_IA P_IA StRecall".split()
)


def has_subtopics(measure: Measure) -> bool:
    """Whether a measure is computed from judgements by subtopic.

    >>> has_subtopics(parse_measure("alpha_nDCG@10")), has_subtopics(parse_measure("nDCG@10"))
    (True, False)
    """
    return measure.NAME in _OF_SUBTOPICS


def needs_pool(measure: Measure) -> bool:
    """Whether a measure counts rareness over a pool and has no pool yet."""
    return "pool" in measure.SUPPORTED_PARAMS and measure.params.get("pool") is None


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
        """A key that is the same for two names of one measure."""
        # rel=1 is not printed, but no other rel may replace it where it was written
        return str(self.measure), "rel" in self.measure.params

    def with_params(self, **params: Any) -> NamedMeasure:
        """The measure with values for its parameters without a value.

        ``rel`` is added to a name that is the measure's; other names of callers, and a pool and
        lengths, do not change the name. As in trec_eval, ``rel`` changes no count but
        ``num_rel_ret``: documents retrieved are not relevant ones, and ``num_rel`` is by grade 1.
        """
        missing = {
            name: value
            for name, value in params.items()
            if value is not None
            and name in self.measure.SUPPORTED_PARAMS
            and (name not in self.measure.params or self.name == _COUNT_BY_LEVEL)
            and (name != "rel" or not added_up(self.measure) or self.name == _COUNT_BY_LEVEL)
        }
        if not missing:
            return self
        try:
            measure = build_measure(self.measure, {**self.measure.params, **missing})
        except ValueError as error:
            options = ", ".join(f"{name}={value!r}" for name, value in missing.items())
            raise ValueError(
                f"the measure {self.name!r} does not take {options} ({error}): choose measures "
                "that do, or write it in brackets after each measure, as in AP(rel=2)"
            ) from None
        is_own_name = "rel" in missing and measure_named(self.name) == self.measure
        return NamedMeasure(str(measure) if is_own_name else self.name, measure)


def parse_measures(texts: str | Iterable[str]) -> list[NamedMeasure]:
    """Parses measures in text, such as ``'ASL(g=10)@1000 LexiP AP ndcg_cut_10'``.

    They are separated by blanks or commas. A name of trec_eval (``map``, ``P_10``) has the same
    meaning as in ``pt.Experiment``, any other name the meaning of ir_measures, in upper or lower
    case. The name of a family of trec_eval (``P``, ``recall``) means all its members. ``hit`` and
    ``hit_rate`` are Success; ``ASL@g1-10``, as tables print it, is ``ASL(g=10)``.

    Args:
        texts: one or several such texts.

    Returns:
        The measures in the given order, each once.

    Raises:
        ValueError: for text that is not a measure.

    >>> [named.name for named in parse_measures("ASL(rel=2, g=10)@1000, map P.5,10")]
    ['ASL(rel=2, g=10)@1000', 'map', 'P_5', 'P_10']
    >>> [named.measure for named in parse_measures("ndcg@10 recall@100 hit_rate@10 ASL(rel=2)@g1")]
    [nDCG@10, R@100, Success@10, ASL(rel=2,g=1)]
    """
    texts = [texts] if isinstance(texts, str) else texts
    measures = [measure for text in texts for word in words(text) for measure in _parse(word)]
    if not measures:
        raise ValueError("no measure was given: write names, such as 'ASL@1000 AP'")
    return unique(measures)


def parse_measure(measure: Measure | str) -> Measure:
    """The measure of a name; a measure is returned unchanged.

    Raises:
        ValueError: for something that is not a measure, or a name of several.

    >>> parse_measure("ndcg_cut_10"), parse_measure(ir_measures.AP)
    (nDCG@10, AP)
    """
    return one_measure(measure).measure


def one_measure(measure: Measures | NamedMeasure) -> NamedMeasure:
    """The measure with its name; for the argument see :func:`named_measures`.

    Raises:
        ValueError: for something that is not a measure, or a name of several.

    >>> one_measure("map").name, one_measure({"mine": ir_measures.AP}).name
    ('map', 'mine')
    """
    if isinstance(measure, NamedMeasure):
        return measure
    first, *others = named_measures(measure)
    if others:
        raise ValueError(f"{measure!r} names several measures ({first.name} ...): name one")
    return first


def measure_named(name: str) -> Measure | None:
    """The measure of a name; None if there is no such measure.

    >>> measure_named("map"), measure_named("latency")
    (AP, None)
    """
    try:
        return parse_measure(name)
    except ValueError:
        return None


def is_measure(name: object) -> bool:
    """Whether something is the name of a measure."""
    return measure_named(str(name)) is not None


def canonical_name(name: str) -> str:
    """The name of a measure as ir_measures prints it; an unknown name does not change.

    >>> canonical_name("map"), canonical_name("latency")
    ('AP', 'latency')
    """
    return str(measure_named(name) or name)


def named_measures(measures: Measures) -> list[NamedMeasure]:
    """Parses one or several measures or names; each measure is returned once, by its first name.

    Args:
        measures: measures, names, or texts with several names; or a dict from names of columns to
            measures or names.

    Raises:
        ValueError: for no measure, two measures with the same name, two columns of a dict for the
            same measure, and the name of another column of tables, such as qid.

    >>> [measure.name for measure in named_measures({"mine": "AP"})]
    ['mine']
    >>> [measure.name for measure in named_measures(["AP RR", ir_measures.nDCG @ 10])]
    ['AP', 'RR', 'nDCG@10']
    """
    if isinstance(measures, Mapping):
        if taken := sorted(_KEYS.intersection(measures)):
            raise ValueError(f"{taken[0]!r} cannot be the name of a measure: choose another")
        named = [NamedMeasure(name, parse_measure(value)) for name, value in measures.items()]
        for column in named:
            if column not in unique(named):
                raise ValueError(f"the measure of {column.name!r} has another name, too: omit one")
    else:
        named = []
        for measure in one_or_more(measures):
            if isinstance(measure, str):
                named += parse_measures(measure)
            elif isinstance(measure, Measure):
                named += [NamedMeasure(str(measure), build_measure(measure, measure.params))]
            else:
                raise ValueError(f"a measure is a name or an ir_measures Measure, not {measure!r}")
    named = unique(named)
    names = [measure.name for measure in named]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{twice[0]!r} is the name of two measures: omit one")
    if not named:
        raise ValueError("no measure was given: pass some, such as [ASL@1000, LexiP]")
    return named


def unique(measures: Iterable[NamedMeasure], by: str = "key") -> list[NamedMeasure]:
    """Each measure once, with its first name; or by ``'name'`` the first measure of each name."""
    first: dict[Any, NamedMeasure] = {}
    for measure in measures:
        first.setdefault(getattr(measure, by), measure)
    return list(first.values())


def words(text: str) -> list[str]:
    """The names of measures in a text.

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
        base, *arguments = _ARGUMENTS.split(word)
        names = [f"{base}_{one}" for one in arguments[0].split(",")] if arguments else [word]
        chosen_names = names if len(names) == len(family) else map(str, family)
        return list(map(NamedMeasure, chosen_names, family))
    measure, params = _parse_params(word)
    try:
        return [NamedMeasure(word, build_measure(measure, params))]
    except ValueError as error:
        raise ValueError(f"the measure {word!r}: {error}") from None


def _parse_params(word: str) -> tuple[Measure, dict[str, Any]]:
    """The measure and the parameters in ``NAME(PARAMETER=VALUE, ...)@CUTOFF``.

    The last release of ``ir_measures.parse_measure`` needs classes that Python 3.14 removed, and
    raises AssertionErrors without a message.
    """
    first_n = _FIRST_N.search(word)
    params: dict[str, Any] = {"g": int(first_n[1] or 1)} if first_n else {}
    try:
        node = ast.parse(_FIRST_N.sub("", word), mode="eval").body
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            params["@"] = _literal(node.right)
            node = node.left
        if isinstance(node, ast.Call):
            if node.args:
                raise ValueError("parameters have names")
            params |= {str(param.arg): _literal(param.value) for param in node.keywords}
            node = node.func
        if not isinstance(node, ast.Name):
            raise ValueError("a name comes first")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"{word!r} is not a measure ({getattr(error, 'msg', error)}): write it as in "
            "'ASL(g=10, rel=2)@1000'"
        ) from None
    registry = ir_measures.measures.registry
    lower = {name.lower(): name for name in registry} | _OTHER_NAMES
    measure = registry.get(node.id, registry.get(lower.get(node.id.lower())))
    if measure is None:
        raise ValueError(_unknown(word, node.id))
    if "@" in params:
        params[measure.AT_PARAM] = params.pop("@")
    return measure, params


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(f"{ast.unparse(node)} is neither a number nor quoted text") from None


def _unknown(word: str, name: str) -> str:
    """The error message for a name that no measure has."""
    import difflib

    similar = {other.NAME.lower(): other.NAME for other in ir_measures.measures.registry.values()}
    close = difflib.get_close_matches(name.lower(), similar, n=1, cutoff=0.66)
    if name.lower() in _INSTEAD:
        hint = _INSTEAD[name.lower()]
    elif close:
        hint = f"did you mean {word.replace(name, similar[close[0]], 1)}?"
    else:
        hint = (
            f"this package has {', '.join(measure.NAME for measure in own_measures())}, for others "
            "see https://ir-measur.es/en/latest/measures.html"
        )
    return f"{word!r}: there is no such measure; {hint}"


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
    """A measure of any package with these parameters, which are checked.

    Raises:
        ValueError: for a parameter that the measure does not have, a value that it does not take,
            and a missing parameter that it needs.

    >>> build_measure(ir_measures.INST, {"T": 2, "max_rel": 3})
    INST(T=2.0,max_rel=3)
    """
    if isinstance(measure, PluginMeasure):
        return measure(**params)
    checked = {name: _checked_value(measure, name, value) for name, value in params.items()}
    check_required(measure, {*checked, *measure.params})
    return measure if repr(checked) == repr(measure.params) else measure(**checked)


def _checked_value(measure: Measure, name: str, value: Any) -> Any:
    """A value of a parameter of ir_measures, of the type that its provider needs."""
    param = measure.SUPPORTED_PARAMS.get(name)
    if param is None:
        raise ValueError(
            f"{measure.NAME} has no parameter {name!r}; it has "
            f"{', '.join(measure.SUPPORTED_PARAMS) or 'none'}"
        )
    if isinstance(value, np.generic):
        value = value.item()
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if param.dtype is float and is_number:
        value = float(value)
    if name == "rel" and is_number and 0 <= value <= DEEPEST:
        return grade(value)
    low, high = _RANGES.get(name, (-math.inf, math.inf))
    is_flag = isinstance(value, bool) and param.dtype is int  # True is a whole number in Python
    if param.validate(value) and not is_flag and (not is_number or low <= value <= high):
        return value
    choices = param.choices if isinstance(param.choices, (list, tuple)) else ()
    one_of = "one of " + ", ".join(map(repr, choices))
    what = one_of if choices else _TYPES.get(param.dtype, "of its type")
    within = f" from {low:g} to {high:.10g}" if name in _RANGES else ""
    raise ValueError(f"{measure.NAME}: {name} must be {what}{within}, not {value!r}")


def _trec_family(word: str) -> list[Measure]:
    """The measures of trec_eval with a name; none for an unknown name."""
    if not _TREC.fullmatch(word):
        return []
    try:
        with contextlib.redirect_stdout(sys.stderr):  # it prints the names that it skips
            return list(ir_measures.parse_trec_measure(word))
    except ValueError as error:
        if "not yet supported" in str(error):
            raise ValueError(
                f"{word!r}: ir_measures does not have this measure of trec_eval; it has "
                f"{', '.join(_OF_TREC_EVAL.split())}"
            ) from None
        return []


def with_options(measure: Measure, rel: float | None = None, cutoff: int | None = None) -> Measure:
    """The measure with ``rel`` and ``cutoff``; None: unchanged.

    A measure without ``rel``, such as nDCG, keeps using all grades.

    >>> with_options(ir_measures.AP, rel=2.0, cutoff=100)
    AP(rel=2)@100
    >>> with_options(ir_measures.nDCG @ 10, rel=2)
    nDCG@10
    """
    options: dict[str, Any] = {} if cutoff is None else {"cutoff": cutoff}
    if rel is not None and "rel" in measure.SUPPORTED_PARAMS:
        options["rel"] = rel
    return build_measure(measure, {**measure.params, **options})
