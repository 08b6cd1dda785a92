"""All charts of `analyze` for 3, 37 and 129 runs.

All marks are inside the picture and inside their frames. Names do not overlap other names or marks,
and numbers have a colour that differs from their cell. Boxes come from Vega's scene graph; the
width of texts is estimated from their number of letters.
"""

import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from pyterrier_asl import DocLengths
from pyterrier_asl.analysis.registry import Analysis, analyses
from pyterrier_asl.evaluation.evaluation import Evaluation

pytest.importorskip("altair")
vl_convert = pytest.importorskip("vl_convert")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

QIDS = [f"{number}" for number in range(1, 13)]
DOCNOS = [f"d{number:02}" for number in range(40)]


@cache
def judgements(seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    grades = generator.choice([0, 0, 0, 1, 1, 2], len(QIDS) * len(DOCNOS))
    return pd.DataFrame(
        {"qid": np.repeat(QIDS, len(DOCNOS)), "docno": DOCNOS * len(QIDS), "label": grades}
    )


@cache
def runs(number: int, seed: int = 0) -> Evaluation:
    """Runs of different quality, with names like the names of TREC runs."""
    generator, qrels = np.random.default_rng(seed), judgements()
    grades = qrels["label"].to_numpy().reshape(len(QIDS), len(DOCNOS))
    names = [
        f"{('uogTr', 'CoRT-bm25', 'pash_f', 'bigIR-T5xp-BERT')[run % 4]}{run}"
        for run in range(number)
    ]
    some = {}
    for run, name in enumerate(names):
        scores = grades * (1 + run % 7) / 4 + generator.normal(0, 1, grades.shape)
        scores[:, generator.choice(40, 12, replace=False)] = -np.inf
        frame = qrels[["qid", "docno"]].assign(score=scores.ravel().round(1))
        some[name] = frame[np.isfinite(frame["score"])]
    return Evaluation.of(some, qrels)


def arguments(analysis: Analysis, number: int) -> dict[str, Any]:
    matched = runs(number)
    names = list(matched.names)
    possible: dict[str, Any] = {"runs": matched, "old": names[0], "new": names[1]}
    possible |= {"qrels": judgements(), "judges": {"second": judgements(1), "third": judgements(2)}}
    possible["groups"] = {name: re.sub(r"\d+$", "", name) for name in names}
    possible["pools"] = {"first": names[: number // 2], "rest": names[number // 2 :]}
    possible["lengths"] = DocLengths(DOCNOS, list(range(5, 45)))
    possible |= {
        "qid": "1",
        "n": 10_000,
        "relevant": [1, 2, 5, 10, 20],
        "ranks": list(range(1, 51)),
    }
    if analysis.tracks:
        possible["runs"] = {"one": (matched, None), "two": (runs(number, 1), None)}

    wanted = analysis.required | ({"lengths"} & set(analysis.parameters))
    wanted |= {"judges"} if analysis.name == "human-range" else set()
    return {name: possible[name] for name in wanted if name in possible}


class Drawn(NamedTuple):
    """A drawn mark: its box in the picture, and the frame of its view."""

    kind: str
    role: str
    box: tuple[float, float, float, float]
    frame: tuple[float, float, float, float]
    text: str
    fill: str
    opacity: float


def items_of(group: Any, at: tuple[float, float], frame: Any) -> Any:
    for mark in group.get("items", []):
        kind, role = mark.get("marktype"), mark.get("role", "")
        for item in mark.get("items", []):
            x, y = at[0] + item.get("x", 0), at[1] + item.get("y", 0)
            if kind == "group":
                inner = frame
                if role in ("mark", "scope", "frame"):
                    width, height = item.get("width", 0), item.get("height", 0)
                    inner = (x, y, x + width, y + height)
                yield from items_of(item, (x, y), inner)
            elif box := box_of(kind, item, x, y):
                opacity = item.get("opacity", 1) * item.get("fillOpacity", 1)
                text = item.get("text", "")
                text = " ".join(text) if isinstance(text, list) else str(text)
                yield Drawn(kind, role, box, frame, text, item.get("fill") or "", opacity)


def box_of(kind: str, item: Any, x: float, y: float) -> Any:
    if kind == "text":
        return text_box(item, x, y)
    if kind == "symbol":
        radius = np.sqrt(item.get("size", 30)) / 2
        return (x - radius, y - radius, x + radius, y + radius) if item.get("size", 1) else None
    if kind == "rect":
        return x, y, x + item.get("width", 0), y + item.get("height", 0)
    if kind == "rule":
        x2, y2 = x - item.get("x", 0) + item.get("x2", item.get("x", 0)), y
        y2 = y - item.get("y", 0) + item.get("y2", item.get("y", 0))
        return min(x, x2), min(y, y2), max(x, x2), max(y, y2)
    return None


def text_box(item: Any, x: float, y: float) -> Any:
    lines = item.get("text", "")
    lines = lines if isinstance(lines, list) else str(lines).split("\n")
    size = item.get("fontSize", 11)
    longest = max(map(len, map(str, lines)), default=0)
    width = (0.5 if longest < 30 else 0.44) * size * longest  # vl-convert: .44 for captions
    width = min(width, item.get("limit") or width)
    if not width or item.get("opacity", 1) == 0:
        return None
    high = 0.75 * size + (len(lines) - 1) * item.get("lineHeight", size + 2)
    left = {"left": 0, "center": -width / 2, "right": -width}[item.get("align", "left")]
    base = item.get("baseline", "alphabetic")
    top = {"top": 0, "line-top": 0, "middle": -high / 2}.get(base, -0.75 * size)
    left, top = left + item.get("dx", 0), top + item.get("dy", 0)
    corners = np.array([[left + a * width, top + b * high] for a in (0, 1) for b in (0, 1)])
    turn = np.deg2rad(item.get("angle", 0))
    rotated = corners @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return (*(rotated.min(axis=0) + (x, y)), *(rotated.max(axis=0) + (x, y)))


def overlapping(texts: list[Drawn], others: list[Drawn]) -> Any:
    """Texts that overlap another text or mark by more than 1.5 points in both directions."""
    boxes = np.array([other.box for other in others]).reshape(-1, 4)
    for text in texts:
        shared = np.minimum(text.box[2:], boxes[:, 2:]) - np.maximum(text.box[:2], boxes[:, :2])
        for at in np.flatnonzero((shared > 1.5).all(axis=1)):
            yield text, others[at]


def luminance(color: str, opacity: float) -> float:
    """The relative luminance on white."""
    if match := re.fullmatch(r"rgba?\((\d+), (\d+), (\d+).*\)", color):
        channels = [int(value) for value in match.groups()]
    else:
        code = {"white": "ffffff", "black": "000000", "gray": "808080"}.get(color, color[1:])
        code = "".join(c * 2 for c in code) if len(code) == 3 else code
        channels = [int(code[at : at + 2], 16) for at in (0, 2, 4)]
    shares = [(opacity * channel + (1 - opacity) * 255) / 255 for channel in channels]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(text: Drawn, below: Drawn) -> float:
    tones = luminance(text.fill, 1), luminance(below.fill, below.opacity)
    return (max(tones) + 0.05) / (min(tones) + 0.05)


def faults(spec: dict[str, Any]) -> list[str]:
    """The faults of a picture."""
    scene = vl_convert.vegalite_to_scenegraph(spec)
    width, height = scene["width"], scene["height"]
    whole = (0.0, 0.0, width, height)
    drawn = list(items_of({"items": [scene["scenegraph"]]}, tuple(scene["origin"]), whole))
    found = []
    texts = [item for item in drawn if item.kind == "text"]
    marks = [item for item in drawn if item.role == "mark" and item.kind != "text"]
    for item in drawn:
        low, high = item.box[:2], item.box[2:]
        outside = max(*(-end for end in low), high[0] - width, high[1] - height)
        if outside > (4 if item.kind == "text" else 2):
            found.append(f"{item.kind} {item.text!r} {outside:.0f} points outside the picture")
    for item in marks:
        x, y = (item.box[0] + item.box[2]) / 2, (item.box[1] + item.box[3]) / 2
        left, top, right, bottom = item.frame
        if item.kind == "symbol" and not (
            left - 1 <= x <= right + 1 and top - 1 <= y <= bottom + 1
        ):
            found.append(f"{item.kind} outside its frame")
    for a, b in overlapping(texts, texts):
        if a is not b:
            found.append(f"{a.text!r} over {b.text!r}")
    covering = [mark for mark in marks if mark.kind != "rule"]
    for text, mark in overlapping([text for text in texts if text.role == "mark"], covering):
        if mark.kind == "rect" and mark.fill:
            inside = all(np.subtract(text.box[:2], mark.box[:2]) > -3) and all(
                np.subtract(mark.box[2:], text.box[2:]) > -3
            )
            if not inside:
                found.append(f"{text.text!r} over the end of a bar")
            elif contrast(text, mark) < 4.5:
                found.append(f"{text.text!r} on {mark.fill}: {contrast(text, mark):.1f}")
        elif mark.kind == "symbol":
            found.append(f"{text.text!r} over a mark")
    return found


@cache
def chart_of(name: str, number: int) -> Any:
    [analysis] = [one for one in analyses() if one.name == name]
    return analysis.draw(analysis.function(**arguments(analysis, number)))


@pytest.mark.parametrize("number", [3, 37, 129])
@pytest.mark.parametrize("name", [one.name for one in analyses()])
def test_charts_have_no_faults(name, number):
    found = faults(chart_of(name, number).to_dict())
    assert not found, (len(found), found[:5])
