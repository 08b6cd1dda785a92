"""Values printed in the papers, shown together with computed values by ``reproduce_*.py``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import pandas as pd

TREC_5, TREC_8, WEB_14, DL_20 = "trec-5", "trec-8", "web-2014", "dl-2020-passages"

#: The tracks of Diaz (2023), in the order of its tables.
_DIAZ = (
    ["robust-2004", "core-2017", "core-2018"]
    + [f"web-{year}" for year in range(2009, 2015)]
    + [f"dl-{year}-{kind}" for kind in ("documents", "passages") for year in (2019, 2020, 2021)]
    + ["movielens", "librarything", "beeradvocate"]
)

TRACKS = tuple(dict.fromkeys([TREC_5, TREC_8, *_DIAZ, "trec-4", "trec-6"]))

#: Reasons why cells cannot be computed.
NOT_PUBLIC = "the judgements of the second assessors are not public"
LICENSED = "the documents of TREC's disks 4 and 5 are licensed"

_RARENESS = [f"{m}, alpha {a}" for m in ("P_Rareness@100", "AP_Rareness@100") for a in (0, 0.5, 1)]


def _columns(names: list[str], text: str) -> dict[str, list[float]]:
    """Columns of numbers, one line per column."""
    return {
        name: [float(value) for value in line.split()]
        for name, line in zip(names, text.strip().splitlines(), strict=True)
    }


def _by_track(tracks: list[str], columns: Mapping[str, list[float]]) -> dict[str, dict[str, float]]:
    return {
        track: {name: column[row] for name, column in columns.items()}
        for row, track in enumerate(tracks)
    }


def _by_measure(columns: Mapping[str, list[float]]) -> dict[str, float]:
    return {
        f"{measure}{', ' if level else ''}{level}": column[row]
        for level, column in columns.items()
        for row, measure in enumerate(_RARENESS)
    }


#: By table and track: the printed values by cell.
PUBLISHED: dict[str, dict[str, dict[str, float]]] = {
    "Diaz, Table 1": _by_track(
        _DIAZ,
        _columns(
            ["requests", "runs", "rel/request", "docs/request"],
            """
249 50 50 50 48 50 50 50 50 43 45 57 43 54 53 6005 7227 17564
110 75 72 48 32 61 48 61 30 38 64 66 37 59 63 21 21 21
69.93 180.04 78.96 129.98 187.63 167.56 187.36 182.42 212.58 153.42 39.27 189.63 95.40 66.78 191.96 18.87 13.15 13.66
913.82 8853.11 7102.61 925.31 7013.21 8325.07 6719.53 7174.38 6313.98 623.77 99.55 98.83 892.51 978.01 99.95 100.00 100.00 99.39
""",  # noqa: E501
        ),
    ),
    "Diaz, Table 2": _by_track(
        _DIAZ,
        _columns(
            ["sgnLP", "δRR_2"],
            """
85.78 89.23 88.01 85.87 87.29 88.91 87.22 86.51 88.02 86.56 83.73 92.41 90.45 92.86 91.97 78.90 66.50 58.84
83.44 87.30 86.58 84.79 85.41 87.54 85.45 84.45 85.82 83.10 79.34 89.78 88.87 91.08 90.14 77.56 66.08 58.25
""",  # noqa: E501
        ),
    ),
    "Diaz, Table 3": _by_track(
        _DIAZ,
        _columns(
            ["rrLP, sgnLP", "RR"],
            """
0.39 0.23 1.72 4.93 0.61 1.02 0.34 0.83 0.64 1.06 2.43 0.23 2.63 2.58 1.32 3.38 16.48 41.73
44.22 48.50 31.43 15.13 25.85 41.99 34.01 31.09 41.93 68.45 73.99 80.84 56.89 50.30 47.41 21.39 25.85 45.72
""",  # noqa: E501
        ),
    ),
    "Diaz, Table 4": _by_track(
        _DIAZ,
        _columns(
            [f"{test}, {p}" for test in ("HSD", "paired") for p in ("rrLP", "sgnLP", "RR")],
            """
27.42 17.41 28.60 23.85 18.95 14.70 13.39 5.85 20.00 8.25 5.26 6.39 16.52 37.46 24.07 81.43 93.81 92.38
27.34 14.67 31.42 28.28 13.51 10.22 11.61 5.79 11.72 19.20 3.47 11.19 18.47 40.91 24.78 90.95 96.67 96.19
23.55 15.03 27.39 24.11 18.35 13.83 13.21 6.07 18.85 6.97 2.88 4.48 13.21 28.35 20.38 80.00 93.81 90.95
26.22 16.22 29.30 23.76 18.55 12.30 11.97 4.75 15.86 11.66 2.33 3.73 15.02 39.04 23.55 90.00 97.14 94.76
27.36 11.35 31.73 25.18 9.27 6.94 10.11 4.64 7.13 16.36 1.79 9.14 17.42 39.45 20.99 92.38 97.62 96.67
21.45 11.53 27.03 23.49 17.74 9.73 11.35 4.32 14.02 5.69 0.60 3.03 10.36 28.00 16.79 90.48 96.67 94.76
""",  # noqa: E501
        ),
    ),
    "Türkmen, Table 1": {
        track: _by_measure({"95%": list(level_95), "99%": list(level_99)})
        for track, level_95, level_99 in (
            (TREC_5, (598, 680, 728, 541, 632, 701), (406, 457, 476, 334, 404, 467)),
            (TREC_8, (3666, 3778, 3825, 3731, 3915, 4048), (2973, 3050, 3079, 2976, 3209, 3363)),
            (WEB_14, (218, 213, 213, 211, 216, 214), (174, 168, 168, 169, 168, 170)),
            (DL_20, (61, 173, 237, 320, 352, 376), (15, 24, 82, 169, 209, 238)),
        )
    },
    "Türkmen, Table 2": {
        track: _by_measure({"": list(values)})
        for track, values in (
            (TREC_5, (0.532, 0.642, 0.709, 0.513, 0.578, 0.633)),
            (TREC_8, (0.545, 0.628, 0.684, 0.580, 0.623, 0.656)),
            (WEB_14, (0.635, 0.716, 0.768, 0.433, 0.517, 0.585)),
            (DL_20, (0.071, 0.128, 0.179, 0.425, 0.444, 0.466)),
        )
    },
    "Türkmen, Table 3": {
        TREC_8: {
            f"{measure}, N = {n}": value
            for measure, values in (
                ("P_Rareness@100", (0.970, 0.976, 0.983, 0.987, 0.992, 0.995)),
                ("AP_Rareness@100", (0.970, 0.984, 0.985, 0.989, 0.993, 0.996)),
            )
            for n, value in zip((2, 4, 8, 16, 32, 64), values, strict=True)
        }
    },
    "Türkmen, Table 4": {
        TREC_8: {
            "FBIS3-38782": 0.81,
            "LA020889-0003": 0.62,
            "LA102589-0109": 0.41,
            "LA092189-0061": 0.22,
            "FBIS4-44815": 0.08,
        }
    },
    "Trotman, Table 1": {
        track: {
            f"{bound}, {judge}": p
            for judge, values in judges.items()
            for bound, p in zip(("upper", "expected", "lower"), values, strict=True)
        }
        for track, judges in {
            "trec-4": {"alt1": (0.00, 0.00, 0.00), "alt2": (0.00, 0.00, 0.00)},
            "trec-6": {"alt": (0.00, 0.08, 0.63), "org": (0.00, 0.01, 0.58)},
        }.items()
    },
    "Clarke, Table 2": {
        TREC_8: {
            "AP, tuned on AP": 0.281,
            "AP, tuned on TBG": 0.214,
            "TBG, tuned on AP": 3.420,
            "TBG, tuned on TBG": 3.869,
        }
    },
    "Alex, Table 1": {
        "dl-2020-documents": {
            "P@20, BM25": 0.456,
            "P@20, neural": 0.594,
            "P@20, RRIE": 0.25,
            "ASL@g1-10, BM25": 14,
            "ASL@g1-10, neural": 5,
            "ASL@g1-10, RRIE": 0.69,
            "MAP, BM25": 0.401,
            "MAP, neural": 0.543,
            "MAP, RRIE": 0.24,
            "ASL, BM25": 39,
            "ASL, neural": 27,
            "ASL, RRIE": 0.32,
        },
        DL_20: {
            "P@20, BM25": 0.517,
            "P@20, neural": 0.706,
            "P@20, RRIE": 0.39,
            "ASL@g1-10, BM25": 51,
            "ASL@g1-10, neural": 6,
            "ASL@g1-10, RRIE": 0.90,
            "MAP, BM25": 0.400,
            "MAP, neural": 0.572,
            "MAP, RRIE": 0.29,
            "ASL, BM25": 264,
            "ASL, neural": 215,
            "ASL, RRIE": 0.19,
        },
    },
}


def help_of(doc: str | None) -> str:
    """The docstring of a script for ``--help``, which keeps the lines of its commands."""
    return (doc or "").replace("\n\n    ", "\n\n\b\n    ")


def track_option(paper: str) -> Any:
    """The option ``--track``: the tracks for which the tables of a paper have values."""
    tables = [tracks for table, tracks in PUBLISHED.items() if table.startswith(paper)]
    known = [track for track in TRACKS if any(track in tracks for tracks in tables)]
    text = "The track of the runs, to print published values next to the computed ones."
    return click.option("--track", type=click.Choice(known), metavar="TRACK", help=text)


def side_by_side(
    table: str, track: str | None, computed: Mapping[str, float], missing: str = ""
) -> pd.DataFrame:
    """Published and computed values of a table, one row per cell.

    Args:
        table: a key of :data:`PUBLISHED`.
        track: one of :data:`TRACKS`. Without it, or if the table lacks it, only computed values.
        computed: value by cell.
        missing: the reason why published cells are missing in ``computed``.
    """
    published = PUBLISHED[table].get(track or "", {})
    cells = dict.fromkeys([*published, *computed])
    return pd.DataFrame(
        {
            "cell": list(cells),
            "published": [published.get(cell, "-") for cell in cells],
            "computed": [computed.get(cell, f"not reproducible: {missing}") for cell in cells],
        }
    )


def show(title: str, frame: pd.DataFrame, digits: int = 3) -> None:
    """Prints a table under its title."""
    shown = frame.map(lambda value: round(value, digits) if isinstance(value, float) else value)
    click.echo(f"\n{title}\n\n{shown.to_string(index=False)}")
