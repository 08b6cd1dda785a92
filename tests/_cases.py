"""Generated cases: runs and qrels of every kind, and the values or errors that must result.

A :class:`Case` is a run, qrels and measures: unusual ids, ties, duplicates, scores at the limits of
floats, columns of any type, parameters at their limits, and sometimes one fault. :func:`expected`
computes the required values or errors by loops over plain rows. :func:`check` calls one function of
the package and compares. Any other error or warning is a failure.

Hypothesis draws cases for CI (``test_generated.py``); ``tests/tools/fuzz.py`` draws any number.
"""

from __future__ import annotations

import math
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import brute_force
import ir_measures
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pyterrier_asl import DocLengths, Qrels, RarenessPool, evaluate
from pyterrier_asl.common.notices import counted
from pyterrier_asl.io.qrels import read_qrels_table
from pyterrier_asl.io.runs import read_run_table
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge
from pyterrier_asl.measures.parsing import own_measures

#: The largest relative difference between a value and the value of the loop (absolute below 1).
EXACT = 1e-12

Row = tuple[Any, Any, Any]


@dataclass
class Case:
    """The input of an evaluation and the way to call it.

    Attributes:
        run, qrels: rows (query, document, score or grade).
        measures: name and parameters of each measure.
        run_kind, qrels_kind: their types; see :func:`given`.
        door: the function that evaluates it.
        pool, pool_depth, groups: name -> rows, for rareness; its depth, and run -> group.
        lengths, doc_len: document -> words, for TBG; whether the run has them in a column.
        empty: queries of the qrels without judged documents, which only a dict can contain.
        fault: the fault of the case, '' for none.
    """

    run: list[Row]
    qrels: list[Row]
    measures: list[tuple[str, dict[str, Any]]]
    run_kind: dict[str, str]
    qrels_kind: dict[str, str]
    door: str
    pool: dict[str, list[Row]] = field(default_factory=dict)
    pool_depth: int | None = None
    groups: dict[str, str] = field(default_factory=dict)
    lengths: dict[Any, float] = field(default_factory=dict)
    doc_len: bool = False
    empty: list[Any] = field(default_factory=list)
    fault: str = ""


LONG = "x" * 10_000
UNUSUAL = [
    "", " ", "a b", "\ta", "a\n", "007", "07", "7", "7.0", "-7", "+7", "1e3", "NaN", "nan",
    "None", "null", "NA", "inf", "True", "é", "e\u0301", "\U0001f600", "\U0010ffff", "\uffff",
    "\ufffd", "\ue000", "\ufeff7", "\x00", "a\x00", "a", "A", "\u200b", "\u202ea", "<script>",
    "\"'", "a,b", LONG, LONG[:-1] + "y", LONG[1:], "İ", "i\u0307", "ﬀ", "−1", "٣", "漢", "한",
    "../../etc", "%s",
]  # fmt: skip
WHOLE = [0, 1, 2, 7, 10, 100, -1, -7, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
SCORES = [
    0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 - 1e-9, 2.0, -1.0, 0.1, 0.1 + 1e-17, 1e-45, 1e-46, 5e-324,
    -5e-324, 1.1754944e-38, 1e-39, 3.4028235e38, 3.4028236e38, 1e39, 1.7976931348623157e308, -1e39,
    -1.7976931348623157e308, math.inf, -math.inf, 16777216.0, 16777217.0, 16777218.0,
]  # fmt: skip
GRADES = [0, 0, 0, 1, 1, 1, 1, 2, 2, 3, -1, -2]
ODD_GRADES = [0.5, 1.5, -0.5, 1e-300, -1e-300, 1e308, 10**15, 2**53 + 1, -(10**15), 0.1 + 0.2]


def _ids(rng: Random, n: int) -> list[Any]:
    kind = rng.random()
    if kind < 0.35:
        return [f"d{i}" for i in range(n)]
    if kind < 0.65:
        return rng.sample(UNUSUAL, min(n, len(UNUSUAL)))
    if kind < 0.8:
        ids: list[Any] = WHOLE + list(range(20, 20 + n))
        return rng.sample(ids, n)
    if kind < 0.9:  # text that looks like numbers
        return [str(i) for i in rng.sample(range(30), n)]
    if kind < 0.95:  # both
        return [i if rng.random() < 0.5 else f"{i:03}" for i in rng.sample(range(50), n)]
    length = rng.choice([1, 2, 5])
    return ["".join(map(_character, [rng] * length)) for _ in range(n)]


def _character(rng: Random) -> str:
    codes = [rng.randrange(128), rng.randrange(0x3000), rng.randrange(0x110000)]
    code = rng.choice(codes)
    return _character(rng) if 0xD800 <= code < 0xE000 else chr(code)


def _scores(rng: Random) -> Callable[[], Any]:
    kind = rng.random()
    if kind < 0.4:
        return lambda: float(rng.randrange(-2, 4))
    if kind < 0.6:
        return lambda: rng.choice(SCORES)
    if kind < 0.7:
        return lambda: rng.randrange(-3, 3)  # whole numbers
    if kind < 0.8:
        base = rng.uniform(-100, 100)
        return lambda: base + rng.randrange(4) * 1e-9  # the same beyond 32 bits
    return lambda: rng.uniform(-10, 10)


def _rows(rng: Random, qids: list[Any], docnos: list[Any], value: Callable[[], Any]) -> list[Row]:
    """The rows of these queries in one of several orders."""
    rows = []
    for qid in qids:
        size = rng.choice([0, 1, 2, 3, 5, 8, 12, 40])
        twice = rng.random() < 0.15
        size = size if twice else min(size, len(docnos))
        chosen = rng.choices(docnos, k=size) if twice else rng.sample(docnos, size)
        rows += [(qid, docno, value()) for docno in chosen]
    order = rng.random()
    if order < 0.3:
        rng.shuffle(rows)
    elif order < 0.6:
        rows.sort(key=lambda row: -float(row[2]))
        rows.sort(key=lambda row: str(row[0]))
    return rows


FRAMES = ["frame", "frame", "arrow"]
LOOSE = ["dict", "list", "generator"]
TEXT = ["object", "str", "string[python]", "string[pyarrow]", "large_string", "category"]
NUMBER = ["int64", "Int64", "int64[pyarrow]", "category", "object"]
FLOAT = ["float64", "object", "Float64", "double[pyarrow]"]


def _kind(rng: Random, rows: list[Row], value: str) -> dict[str, str]:
    """A random type for these rows."""
    pairs = [(str(q), str(d)) for q, d, _ in rows]
    unique = len(set(pairs)) == len(pairs)
    # 7 and '7' are different keys of a dict.
    kind = {"as": rng.choice(FRAMES + (LOOSE if unique else LOOSE[1:]))}
    for name, column in zip(("qid", "docno"), list(zip(*rows))[:2] if rows else ((), ())):
        kinds = TEXT
        if column and all(isinstance(v, int) for v in column):
            kinds = NUMBER + TEXT
        elif any(isinstance(v, int) for v in column):
            kinds = ["object", "object", *TEXT]
        kind[name] = rng.choice(kinds)
    whole = all(isinstance(v, int) and abs(v) < 2**53 for _, _, v in rows)
    kind["value"] = rng.choice(FLOAT + (["int64", "Int64"] if whole else []))
    kind["names"] = rng.choice(["ir_measures", "pyterrier"])
    kind["index"] = rng.choice(["", "", "shuffled", "constant"])
    return kind


def given(rows: list[Row], kind: dict[str, str], what: str, doc_len: dict[Any, Any] | None) -> Any:
    """The rows as a frame, an Arrow table (in chunks, from a file), a dict, a list or a generator.

    Args:
        rows: the rows.
        kind: ``as``: the type of the table; ``qid``, ``docno``, ``value``: the types of its
            columns; ``names``: whose column names it has; ``index``: the index of the frame.
        what: 'score' or 'relevance'.
        doc_len: words of each document, for a column of them.
    """
    if kind["as"] == "dict":
        made: dict[Any, dict[Any, Any]] = {}
        for qid, docno, value in rows:
            made.setdefault(qid, {})[docno] = value
        return made
    if kind["as"] in ("list", "generator"):
        row = ir_measures.ScoredDoc if what == "score" else ir_measures.Qrel
        listed = [row(*each) for each in rows]
        return listed if kind["as"] == "list" else (each for each in listed)
    names = ["query_id", "doc_id", what]
    if kind["names"] == "pyterrier":
        names = ["qid", "docno", "score" if what == "score" else "label"]
    columns = list(zip(*rows)) if rows else [(), (), ()]
    parts = {
        name: _column(list(column), kind[each])
        for name, column, each in zip(names, columns, ("qid", "docno", "value"))
    }
    if doc_len is not None:
        parts["doc_len"] = pd.Series([doc_len[d] for _, d, _ in rows], dtype="float64")
    frame = pd.DataFrame(parts)
    if kind["as"] in ARROW:
        table = pa.table({name: _arrow(frame[name]) for name in frame.columns})
        return ARROW[kind["as"]](table, what)
    if kind["index"]:
        constant = kind["index"] == "constant"
        frame.index = pd.Index(np.arange(len(frame))[::-1] * (not constant))
    return frame


def _from_file(table: pa.Table, what: str) -> pa.Table:
    """The table after writing it to Parquet and reading it; ids can contain blanks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(table, path)
        return read_run_table(path) if what == "score" else read_qrels_table(path)


ARROW: dict[str, Callable[[pa.Table, str], pa.Table]] = {
    "arrow": lambda table, what: table,
    "chunks": lambda table, what: pa.concat_tables([table[:1], table[1:]]),
    "file": _from_file,
}


def _column(values: list[Any], kind: str) -> pd.Series[Any]:
    if kind == "category":
        return pd.Series(pd.Categorical(values, categories=list(dict.fromkeys(values))))
    if kind in TEXT[1:]:
        text = pd.Series([v if v is None else str(v) for v in values], dtype=object)
        if kind == "large_string":
            return text.astype(pd.ArrowDtype(pa.large_string()))
        return text.astype(kind)
    if kind in FLOAT[2:]:
        values = [float(v) for v in values]
    return pd.Series(values, dtype=kind)


def _arrow(column: pd.Series[Any]) -> Any:
    """The column as an Arrow array, of text if it contains objects of several types."""
    if column.dtype == object:
        kinds = {type(v) for v in column if v is not None}
        if float in kinds:
            column = column.map(float, na_action="ignore")
        elif str in kinds or max((abs(v) for v in column if v is not None), default=0) >= 2**63:
            column = column.map(str, na_action="ignore")
    elif column.dtype == "category" and len({type(v) for v in column.cat.categories}) > 1:
        column = column.map(str, na_action="ignore")
    # keeps NaN, which differs from a missing number in Arrow
    return pa.array(column.tolist() if column.dtype == object else column, from_pandas=False)


DEEPEST = 2**31 - 1


def _measure(rng: Random, case: Case) -> tuple[str, dict[str, Any]]:
    name = rng.choice(["ASL", "ASL", "nASL", "LexiP", "TBG", "P_Rareness", "AP_Rareness"])
    params: dict[str, Any] = {}

    def maybe(key: str, *values: Any, share: float = 0.5) -> None:
        if rng.random() < share:
            params[key] = rng.choice(values)

    maybe("rel", 0, 1, 1.0, 2, 0.5, 1.5, 1e-300, 1e308, np.float64(2), np.int8(1), share=0.4)
    maybe("cutoff", 1, 2, 3, 5, 7, 10, 100, 1000, np.int32(4), 10**6, DEEPEST, share=0.6)
    if name in ("ASL", "nASL"):
        maybe("g", 1, 2, 3, 10, DEEPEST, np.int64(2), share=0.3)
    if name == "ASL":
        maybe("missing", "pad", "after", "eq3")
    if name in ("ASL", "nASL", "LexiP"):
        maybe("judged_only", True, False, np.True_, share=0.4)
    if name in ("P_Rareness", "AP_Rareness"):
        depths = [d for d in (1, 2, 3, 5, 7) if not case.pool_depth or d <= case.pool_depth]
        if name == "P_Rareness" or "cutoff" in params:
            params["cutoff"] = rng.choice(depths)
        maybe("depth", *depths, share=0.3)
        maybe("alpha", 0, 1, 0.3, 5e-324, 1 - 2**-53, np.float32(0.25), share=0.6)
        maybe("normalized", True, False)
        maybe("member", True, False, share=0.3)
    if name == "TBG":
        maybe("lengths", True, share=0.6)
        if "lengths" not in params and not case.doc_len:
            maybe("missing_length", 100, share=0.9)
        maybe("missing_length", 0, 500, 0.1, 1e9, share=0.3)
        # Not 5e-324: parts of such small costs have rounding errors of up to half.
        maybe("halflife", 224, 1e-300, 1e-3, 1e308, 3, share=0.4)
        maybe("p_click_rel", 0, 1, 0.5, share=0.2)
        maybe("p_click_nonrel", 0, 1, 5e-324, share=0.2)
        maybe("p_save", 0, 1, share=0.2)
        maybe("time_summary", 0, 1e9, 1, share=0.2)
        maybe("time_per_word", 0, 1e9, 0.1, share=0.2)
        maybe("time_base", 0, 1e9, 5e-324, share=0.2)
    return name, params


MEASURES = {measure.NAME: measure for measure in own_measures()}


NOWHERE = float("nan")
MISSING = [None, NOWHERE, pd.NA]

#: Fault -> its column, its values, and a pattern that the message must match.
FAULTS: dict[str, tuple[int, list[Any], str]] = {
    "score is NaN": (2, [NOWHERE], r"score.*(is not a number \(NaN\) in (row|\d+ rows)|missing)"),
    "score is None": (2, [None], r"score.*(is not a number|must be numbers|must be a number)"),
    "score is text": (2, ["high"], r"score.*(must be a number|must be numbers).*"),
    "grade is NaN": (2, [NOWHERE], r"grade.*is not a number \(NaN\) in (row|\d+ rows)"),
    "grade is infinite": (2, [math.inf], r"grade.*is infinite in (row|\d+ rows)"),
    "grade is text": (2, ["high"], r"grade.*must be (a number|numbers)"),
    "grade is endless": (2, [10**400], r"grade.*must be numbers: int too large"),
    "qid is missing": (0, MISSING, r"query id.*is missing in (row|\d+ rows)"),
    "docno is missing": (1, MISSING, r"document id.*is missing in (row|\d+ rows)"),
    "docno is a fraction": (1, [1.5], r"document id.*(fractions|must be text or a whole number)"),
    "docno is bytes": (1, [b"d1"], r"document id.*must be text or (a )?whole number"),
    "docno is no Unicode": (1, ["d\ud800"], r"document id.*not Unicode"),
}


def _spoil(rng: Random, case: Case) -> None:
    """Puts one fault into a row of a case."""
    case.fault = fault = rng.choice(list(FAULTS))
    case.door = rng.choice(["judge", "iter_calc", "evaluator"])
    case.pool = {name: rows for name, rows in case.pool.items() if rows} or {
        "run0": [("q", "d", 1.0)]
    }
    case.groups = {name: group for name, group in case.groups.items() if name in case.pool}
    sides = [side for side, value in (("run", "grade"), ("qrels", "score")) if value not in fault]
    side = rng.choice(sides)
    rows, kind = getattr(case, side), getattr(case, f"{side}_kind")
    if not rows:
        rows.append((case.qrels[0][0] if case.qrels else "q", "d", 1))
        kind |= {"qid": "object", "docno": "object", "value": "object"}
    at = rng.randrange(len(rows))
    place, values, _ = FAULTS[fault]
    value = rng.choice(values)
    row = list(rows[at])
    row[place] = value
    rows[at] = tuple(row)  # type: ignore[assignment]
    part = ("qid", "docno", "value")[place]
    kind[part] = "object"
    if kind["as"] == "arrow":
        kind["as"] = "frame"
    if value is NOWHERE and part == "value":
        kind[part] = rng.choice(["object", "float64", "double[pyarrow]"])


def make_case(rng: Random) -> Case:
    """A random case."""
    queries = _ids(rng, rng.choice([1, 2, 3, 5]))
    docnos = _ids(rng, rng.choice([1, 4, 12, 30]))
    value = _scores(rng)
    grades = GRADES if rng.random() < 0.8 else GRADES + ODD_GRADES
    judged = [q for q in queries if rng.random() < 0.85]
    answered = [q for q in queries if rng.random() < 0.85]
    run_docs = docnos if rng.random() < 0.9 else _ids(rng, 5)
    case = Case(
        run=_rows(rng, answered, run_docs, value),
        qrels=_rows(rng, judged, docnos, lambda: rng.choice(grades)),
        measures=[],
        run_kind={},
        qrels_kind={},
        door=rng.choice(["judge", *DOORS]),
    )
    case.run_kind, case.qrels_kind = _kind(rng, case.run, "score"), _kind(rng, case.qrels, "grade")
    case.lengths = {d: rng.choice([0, 1, 100, 500, 0.5, 1e9]) for d in [*docnos, *run_docs]}
    case.doc_len = case.run_kind["as"] in FRAMES and rng.random() < 0.5
    if case.qrels_kind["as"] == "dict" and rng.random() < 0.3:
        held = {str(q) for q, _, _ in case.qrels}
        case.empty = [q for q in queries if str(q) not in held]
    case.pool_depth = rng.choice([None, None, 3, 10])
    for number in range(rng.choice([1, 2, 3, 9])):
        rows = _rows(rng, queries, docnos, value)
        rows = rows if number or rng.random() < 0.6 else list(case.run)
        if rows or rng.random() < 0.02:
            case.pool[f"run{number}"] = rows
    if not case.pool:
        case.pool["run0"] = [(queries[0], docnos[0], 1.0)]
    if rng.random() < 0.3:
        case.groups = {name: rng.choice("ab") for name in case.pool if rng.random() < 0.7}
    case.measures = [_measure(rng, case) for _ in range(rng.choice([1, 2, 4]))]
    if rng.random() < 0.1:
        _spoil(rng, case)
    else:
        for rows, kind in ((case.run, case.run_kind), (case.qrels, case.qrels_kind)):
            if rows and kind["as"] == "arrow" and rng.random() < 0.7:
                from_file = rng.random() < 0.5 and not case.doc_len  # a dict has no such column
                kind["as"] = "file" if from_file else "chunks"
    return case


def _best(rows: list[Row]) -> dict[str, dict[str, float]]:
    """Query -> document -> best score, as 32-bit floats."""
    with np.errstate(over="ignore"):
        best: dict[str, dict[str, float]] = {}
        for qid, docno, score in rows:
            docs = best.setdefault(str(qid), {})
            value = np.float32(score)
            if str(docno) not in docs or value > docs[str(docno)]:
                docs[str(docno)] = value
    return best


def _grades(case: Case) -> dict[str, dict[str, float]]:
    """Query -> document -> last grade."""
    grades: dict[str, dict[str, float]] = {}
    for qid, docno, grade in case.qrels:
        grades.setdefault(str(qid), {})[str(docno)] = float(grade)
    return grades | {str(qid): {} for qid in case.empty}


def expected(case: Case) -> tuple[dict[tuple[int, str], float], list[str]]:
    """The value of each measure (by number) and query, and patterns of the possible errors."""
    values: dict[tuple[int, str], float] = {}
    errors: list[str] = []
    run = _best(case.run)
    if not all(case.pool.values()) and any("Rareness" in name for name, _ in case.measures):
        errors.append("runs of the pool are empty")
    for number, (name, params) in enumerate(case.measures):
        loop = _rareness if "Rareness" in name else _tbg if name == "TBG" else _of_ranks
        for qid, judged in _grades(case).items():
            try:
                values[number, qid] = loop(case, name, params, qid, run.get(qid, {}), judged)
            except ValueError as error:
                errors.append(str(error))
    return values, errors


def _of_ranks(case: Case, name: str, params: Any, qid: str, scores: Any, judged: Any) -> float:
    rel, k = float(params.get("rel", 1)), params.get("cutoff")
    k = 1000 if name == "nASL" and k is None else k if k is None else int(k)
    only = bool(params.get("judged_only", False))
    docs = brute_force.ranking(scores, judged, only, k)
    if name == "LexiP":
        return brute_force.lexip(docs, judged, rel, k)
    how = params.get("missing", "pad"), params.get("g"), only
    asl = brute_force.asl(docs, judged, rel, k, *how)
    return asl if name == "ASL" else 1 - (asl - 1) / k


def _rareness(case: Case, name: str, params: Any, qid: str, scores: Any, judged: Any) -> float:
    rel, k = float(params.get("rel", 1)), params.get("cutoff")
    docs, pool = brute_force.ranking(scores, judged), [_best(rows) for rows in case.pool.values()]
    wanted = brute_force.relevant(judged, rel)
    if wanted & set(docs[:k]) and not any(qid in other for other in pool):
        raise ValueError("does not know query")
    rankings = [
        brute_force.ranking(other.get(qid, {}), judged)[: case.pool_depth] for other in pool
    ]
    groups = [case.groups.get(name, name) for name in case.pool] if case.groups else None
    both = brute_force.rareness(
        *(docs, judged, rankings, k, float(params.get("alpha", 0.5))),
        *(params.get("normalized", False), params.get("depth") or k or case.pool_depth),
        *(params.get("member"), rel, groups),
    )
    return both[name == "AP_Rareness"]


def _tbg(case: Case, name: str, params: Any, qid: str, scores: Any, judged: Any) -> float:
    docs = brute_force.ranking(scores, judged, k=params.get("cutoff"))
    known = {str(d): n for d, n in case.lengths.items()}
    if "lengths" not in params and not case.doc_len:
        if docs and "missing_length" not in params:
            raise ValueError("retrieved documents have no known length")
        known = dict.fromkeys(docs, float(params.get("missing_length", 0)))
    names = ("p_click_rel", "p_click_nonrel", "time_summary", "time_per_word", "time_base")
    rates = [params.get(name, value) for name, value in zip(names, (0.64, 0.39, 4.4, 0.018, 7.8))]
    halflife, rel = float(params.get("halflife", 224)), float(params.get("rel", 1))
    of_user = rates[:2], params.get("p_save", 0.77), rates[2:]
    return brute_force.tbg(docs, judged, known, halflife, rel, *of_user)


def _warnings(case: Case) -> dict[str, bool]:
    """Parts of warnings, and whether they are due."""
    judged = {(str(q), str(d)) for q, d, _ in case.qrels}
    queries = {q for q, _ in judged} | set(map(str, case.empty))
    rows = Counter((str(q), str(d)) for q, d, _ in case.run if str(q) in queries)
    twice = sum(rows.values()) - len(rows)
    last = {(str(q), str(d)): grade for q, d, grade in case.qrels}
    again = len({(str(q), str(d)) for q, d, g in case.qrels if g != last[str(q), str(d)]})
    silent, is_ours = len(queries) - len({qid for qid, _ in rows}), case.door == "evaluate"
    strange = bool(rows) and bool(judged) and not (rows.keys() & judged)
    of_run = {f" has {counted(twice, 'document')} more than once": True}  # pools have some, too
    return (of_run if twice and not is_ours else {}) | {
        "has a document twice in a ranking: it counts once": bool(twice) and is_ours,
        f"does not answer {silent} of": bool(silent) and is_ours,
        f"judge {counted(again, 'document')} twice, differently": again and case.door != "judge",
        "none of the documents of the run is judged": strange,
    }


def check(case: Case) -> str:
    """Evaluates a case; returns 'values' or the error. Any other outcome is an AssertionError."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = _outcome(case)
    said = [str(each.message) for each in caught]
    assert all(issubclass(each.category, UserWarning) for each in caught), said
    if outcome == "values":
        for text, is_due in _warnings(case).items():
            assert is_due == any(text in each for each in said), (text, is_due, said)
    return outcome


def _outcome(case: Case) -> str:
    values, errors = ({}, [FAULTS[case.fault][2]]) if case.fault else expected(case)
    errors += _not_whole(case) if case.door == "evaluate" else []
    try:
        found = DOORS[case.door](made_measures(case), *_inputs(case))
    except (ValueError, TypeError) as error:
        fitting = [pattern for pattern in errors if re.search(pattern, str(error), re.S)]
        assert fitting, f"{error!r:.300} where {errors} is right"
        return case.fault or fitting[0]
    assert not errors, f"no error, where one like {errors} is right: {found}"
    if case.door == "calc_aggregate":
        values = pd.Series(values, dtype=float).groupby(level=0).mean().to_dict()
    assert found.keys() == values.keys()
    for key, value in values.items():
        is_close = abs(found[key] - value) <= EXACT * max(1.0, abs(value))  # never of NaN
        assert is_close, f"{found[key]!r} is not {value!r} of {key}, {case.measures}"
    return "values"


def _not_whole(case: Case) -> list[str]:
    """Why ``evaluate`` refuses the run, which answers no query; [] if it does not."""
    if not case.qrels and not case.empty:
        return ["the qrels are empty"]
    if not case.run:
        return ["the run is empty"]
    judged = {(str(q), str(d)) for q, d, _ in case.qrels}
    rows = {(str(q), str(d)) for q, d, _ in case.run}
    if not {q for q, _ in rows} & {q for q, _ in judged}.union(map(str, case.empty)):
        return ["answers none of the"]
    return [] if rows & judged or not judged else ["none of the documents of the run"]


def _inputs(case: Case) -> tuple[Any, Any]:
    """The qrels and the run in their types."""
    words = {**dict.fromkeys((d for _, d, _ in case.run), 1), **case.lengths}
    run = given(case.run, case.run_kind, "score", words if case.doc_len else None)
    qrels = given(case.qrels, case.qrels_kind, "relevance", None)
    return (qrels | {qid: {} for qid in case.empty} if case.empty else qrels), run


def made_measures(case: Case) -> list[Any]:
    """The measures, with the pool and the lengths that they need."""
    made, pool = [], None
    if any("Rareness" in name for name, _ in case.measures):
        runs = {name: given(rows, PLAIN, "score", None) for name, rows in case.pool.items()}
        pool = RarenessPool.from_runs(runs, depth=case.pool_depth, groups=case.groups or None)
    for name, params in case.measures:
        more: dict[str, Any] = {"pool": pool} if "Rareness" in name else {}
        if "lengths" in params:
            more["lengths"] = DocLengths.from_dict({str(d): n for d, n in case.lengths.items()})
        made.append(MEASURES[name](**params | more))
    return made


#: Types of the runs of a pool.
PLAIN = dict.fromkeys(("qid", "docno", "value"), "object")
PLAIN |= {"as": "frame", "names": "pyterrier", "index": ""}


Values = dict[Any, float]


def _by_judge(measures: list[Any], qrels: Any, run: Any) -> Values:
    judgements = Judgements(qrels)
    judged = judge(judgements, run)
    qids = judgements.qid_text.to_pylist()
    assert [str(qid) for qid in judgements.qids] == qids, (judgements.qids, qids)
    found = {}
    for number, measure in enumerate(measures):
        values = measure.values(judged)
        assert values.dtype == np.float64 and values.shape == (len(qids),)
        found |= {(number, qid): value for qid, value in zip(qids, values.tolist())}
    return found


def _numbered(measures: list[Any], metrics: Any) -> Values:
    found = {}
    for metric in metrics:
        for number, measure in enumerate(measures):
            if measure == metric.measure:
                key = (number, str(metric.query_id))
                assert key not in found, f"two values for {key}"
                found[key] = metric.value
    return found


def _by_iter_calc(measures: list[Any], qrels: Any, run: Any) -> Values:
    return _numbered(measures, ir_measures.iter_calc(measures, qrels, run))


def _by_calc_aggregate(measures: list[Any], qrels: Any, run: Any) -> Values:
    """Means, which are NaN without queries."""
    means = ir_measures.calc_aggregate(measures, qrels, run)
    found = {number: means[measure] for number, measure in enumerate(measures)}
    return {number: mean for number, mean in found.items() if not math.isnan(mean)}


def _by_evaluator(measures: list[Any], qrels: Any, run: Any) -> Values:
    """The second of two runs by one evaluator; the first run must not influence it."""
    evaluator = ir_measures.evaluator(measures, qrels)
    list(evaluator.iter_calc({}))
    found = _numbered(measures, evaluator.iter_calc(run))
    if not hasattr(run, "__next__"):
        assert _numbered(measures, evaluator.calc(run).per_query) == found
    return found


def _by_evaluate(measures: list[Any], qrels: Any, run: Any) -> Values:
    names: dict[Any, str] = {}  # a second name of one measure is refused
    keys = [(str(measure), "rel" in measure.params) for measure in measures]
    columns = [names.setdefault(key, f"m{number}") for number, key in enumerate(keys)]
    named = dict(zip(columns, measures))
    frame = evaluate({"run": run}, Qrels(qrels, duplicates="best"), named, progress=False)
    return {
        (number, str(qid)): value
        for number, column in enumerate(columns)
        for qid, value in zip(frame["qid"], frame[column])
    }


DOORS: dict[str, Callable[[list[Any], Any, Any], Values]] = {
    "judge": _by_judge,
    "iter_calc": _by_iter_calc,
    "calc_aggregate": _by_calc_aggregate,
    "evaluator": _by_evaluator,
    "evaluate": _by_evaluate,
}
