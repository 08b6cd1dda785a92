"""Measures as someone asks for them: by name, or for want of a name the ones worth seeing."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ir_measures

from .measures import ASL, TBG, AP_Rareness, LexiP, P_Rareness, nASL

#: Measures that count things, of which more is neither better nor worse.
_COUNTS = ("Judged", "NumQ", "NumRel", "NumRet")

#: A name, then parameters in brackets, then a cut-off; brackets may hold anything in quotes.
_ONE = re.compile(r"""(?: [^\s,()] | ,(?=\d) | \( (?: [^()'"] | '[^']*' | "[^"]*" )* \) )+""", re.X)
_BETWEEN = re.compile(r"[\s,]*")
#: trec_eval's way to write a measure: ``map``, ``ndcg_cut_10``, ``P.5,10``.
_TREC = re.compile(r"\w+?(?:[._]\d[\d.,]*)?")


@dataclass(frozen=True)
class Requested:
    """A measure under the name that it was asked for by."""

    name: str
    measure: Any

    @property
    def higher_is_better(self) -> bool | None:
        """Which way is better; None for a count."""
        if self.measure.NAME in _COUNTS:
            return None
        return bool(getattr(self.measure, "HIGHER_IS_BETTER", True))

    @property
    def key(self) -> tuple[str, bool]:
        """What is equal for two that are the same measure, whatever they are called."""
        # rel=1 does not print, but who wrote it does not want another one
        return str(self.measure), "rel" in self.measure.params

    def given(self, **params: Any) -> Requested:
        """The same with parameters that the measure has and that it does not say itself.

        A pool or lengths leave its name as it is; ``rel`` is added to the name.
        """
        missing = {
            name: value
            for name, value in params.items()
            if value is not None
            and name in self.measure.SUPPORTED_PARAMS
            and name not in self.measure.params
        }
        rel = missing.get("rel")
        if rel is not None and rel % 1 == 0:
            missing["rel"] = int(rel)  # measures of other packages take no 2.0
        for name, value in missing.items():
            if not self.measure.SUPPORTED_PARAMS[name].validate(value):
                raise ValueError(
                    f"the measure {self.name!r} does not take {name}={value!r}: name measures that "
                    f"do, or write each one's {name} in brackets, as in AP(rel=2)"
                )
        measure = self.measure(**missing)
        return Requested(str(measure) if "rel" in missing else self.name, measure)


def parse_measures(texts: str | Iterable[str]) -> list[Requested]:
    """Measures from text, such as ``'ASL(g=10)@1000 LexiP AP ndcg_cut_10'``.

    Between them stand blanks or commas. A name that trec_eval has (``map``, ``P_10``) means what it
    means in ``pt.Experiment``; any other what ``ir_measures.parse_measure`` makes of it. A family
    of trec_eval's (``P``, ``recall``) is all its members.

    Args:
        texts: one or several such texts.

    Returns:
        The measures in the order given, none twice.

    Raises:
        ValueError: for what is no measure, with what it is.

    >>> [one.name for one in parse_measures("ASL(rel=2, g=10)@1000, map P.5,10")]
    ['ASL(rel=2, g=10)@1000', 'map', 'P@5', 'P@10']
    """
    asked = [
        one
        for text in ([texts] if isinstance(texts, str) else texts)
        for word in words(text)
        for one in _parse(word)
    ]
    if not asked:
        raise ValueError("no measure is asked for: write their names, such as 'ASL@1000 AP'")
    return unique(asked)


def unique(asked: Iterable[Requested]) -> list[Requested]:
    """Each measure once, under the name by which it was asked for first."""
    first: dict[Any, Requested] = {}
    for one in asked:
        first.setdefault(one.key, one)
    return list(first.values())


def words(text: str) -> list[str]:
    """The names in a text that names measures.

    >>> words("ASL(rel=2, g=10)@1000, map P.5,10")
    ['ASL(rel=2, g=10)@1000', 'map', 'P.5,10']

    Raises:
        ValueError: for a bracket or quote that is not closed.
    """
    found, at = [], _after(_BETWEEN, text, 0)
    while at < len(text):
        end = _after(_ONE, text, at)
        if end == at:
            raise ValueError(
                f"{text!r} cannot be read as measures from {text[at:]!r} on: "
                "is a bracket or quote missing?"
            )
        found.append(text[at:end])
        at = _after(_BETWEEN, text, end)
    return found


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _parse(word: str) -> list[Requested]:
    family = _trec_family(word)
    if len(family) == 1:
        return [Requested(word, family[0])]
    if family:
        return [Requested(str(measure), measure) for measure in family]
    try:
        measure = ir_measures.parse_measure(word)
    except NameError:
        raise ValueError(
            f"{word!r}: there is no such measure; ours are ASL, nASL, LexiP, AP_Rareness, "
            "P_Rareness and TBG, for others see https://ir-measur.es/en/latest/measures.html"
        ) from None
    except (ValueError, AssertionError) as error:  # ir_measures asserts what parameters may be
        reason = str(error) or "its parameters are not ones that it takes"
        raise ValueError(f"the measure {word!r}: {reason}") from None
    return [Requested(word, measure)]


def _trec_family(word: str) -> list[Any]:
    """What trec_eval means by a name; nothing where it does not know it."""
    if not _TREC.fullmatch(word):
        return []
    try:
        with contextlib.redirect_stdout(sys.stderr):  # it prints what it skips
            return list(ir_measures.parse_trec_measure(word))
    except ValueError:
        return []


def default_measures(
    official: Iterable[Any] = (), *, several: bool, lengths: bool = False
) -> list[Requested]:
    """The measures for someone who names none: ours, and what to read them beside.

    Args:
        official: the measures that the makers of the dataset report. A grade that they take for
            relevant is taken by all.
        several: whether there are several runs, without which nothing is rare.
        lengths: whether the lengths of documents are known, without which there is no TBG.

    >>> [str(one.measure) for one in default_measures(several=False)]
    ['ASL@1000', 'nASL@1000', 'ASL(g=10)@1000', 'LexiP', 'AP', 'nDCG@10', 'R@1000', 'Judged@10']
    """
    official = list(official)
    ours = [ASL @ 1000, nASL @ 1000, ASL(g=10) @ 1000, LexiP]
    if several:
        ours += [AP_Rareness @ 100, P_Rareness @ 100]
    if lengths:
        ours.append(TBG)
    beside = [
        ir_measures.AP, ir_measures.nDCG @ 10, ir_measures.R @ 1000, ir_measures.Judged @ 10
    ]  # fmt: skip
    rels = [measure.params["rel"] for measure in official if "rel" in measure.params]
    rel = max(rels, default=None)
    asked = [Requested(str(one), one).given(rel=rel) for one in ours]
    asked += [Requested(str(one), one) for one in official]
    return unique(asked + [Requested(str(one), one).given(rel=rel) for one in beside])


def needs_pool(asked: Iterable[Requested]) -> bool:
    """Whether one of the measures counts rareness over a pool that it does not name."""
    return any(
        "pool" in one.measure.SUPPORTED_PARAMS and "pool" not in one.measure.params for one in asked
    )


def grades_hint(highest: float, asked: Iterable[Requested]) -> str:
    """What to tell someone whose grades exceed 1 and whose measures do not say what is relevant.

    Returns:
        The hint; '' where there is no need for one.

    >>> grades_hint(3, parse_measures("AP ASL"))[:49]
    'grades go up to 3 and no measure has rel=: every '
    >>> grades_hint(3, parse_measures("AP ASL(rel=2)")) + grades_hint(1, parse_measures("AP"))
    ''
    """
    asked = list(asked)
    can = [one for one in asked if "rel" in one.measure.SUPPORTED_PARAMS]
    if highest <= 1 or not can or any("rel" in one.measure.params for one in can):
        return ""
    return (
        f"grades go up to {highest:g} and no measure has rel=: every document with a grade of 1 or "
        "more counts as relevant (for the passages of TREC DL: --rel 2, or ASL(rel=2))"
    )
