"""The papers' tables and figures by name: which function makes each, and what can be said to it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from .charts.saving import ENDINGS, save_chart
from .requested import parse_measures
from .run_files import find_runs, read_groups, read_pairs

ALEX = "Alex, Hall, Metzler 2022"
DIAZ = "Diaz 2023"
TURKMEN = "Türkmen, Lease, Kutlu 2023"
TROTMAN = "Trotman, Keeler 2011"
CLARKE = "Clarke 2019"
JUDGES = "Several judges"

_QUERIES = ("weights", "by")
_ASL = ("rel", "cutoff", "missing")
_RANKS = ("rel", "cutoff")
_SAMPLED = (*_RANKS, "fractions", "samples", "seed", *_QUERIES)
_TESTED = ("test", "correction", "alpha", "seed")
_ASSESSORS = ("assessor", "assessor_rel", "rel")


@dataclass(frozen=True)
class Analysis:
    """One table or figure of a paper.

    Attributes:
        name: what to ask for it by.
        paper: whose it is.
        figure: which of theirs.
        what: what it shows, in a line.
        function: module and function in :mod:`pyterrier_asl.analysis`.
        options: what can be said, as in :data:`PARAMETERS`.
        needed: those of the options that must be given.
        takes: what it is about: ``('qrels', 'runs')``, ``('qrels',)`` or nothing.
        tracks: whether it can be about several tracks, each with qrels and runs of its own.
        group_by: a column whose rows belong together; see :func:`.frames.write`.
        chart: module and function in :mod:`pyterrier_asl.charts`.
    """

    name: str
    paper: str
    figure: str
    what: str
    function: str
    options: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    takes: tuple[str, ...] = ("qrels", "runs")
    tracks: bool = False
    group_by: str = ""
    chart: str = field(kw_only=True)

    @property
    def source(self) -> str:
        """Paper and figure."""
        return f"{self.paper}, {self.figure}"

    def load(self) -> Callable[..., pd.DataFrame]:
        """The function."""
        module, name = self.function.split(".")
        function: Callable[..., pd.DataFrame] = getattr(
            import_module(f".analysis.{module}", __package__), name
        )
        return function

    def drawn(self, frame: pd.DataFrame, by: str | None = None) -> Any:
        """The chart of its table; with the column of the slices, one for each slice."""
        module, name = self.chart.split(".")
        draw = getattr(import_module(f".charts.{module}", __package__), name)
        if by is None:
            return draw(frame)
        from .charts.slices import by_slice

        return by_slice(draw, frame, by)

    def default(self, option: str) -> Any:
        """What an option is if nobody says; None also where the function decides."""
        found = inspect.signature(self.load()).parameters[parameter(option)].default
        return None if found is inspect.Parameter.empty else found


#: All of them, paper by paper.
ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "headroom", ALEX, "Figures 1-4", "The best run by P@20, ASL@g1-10, AP and ASL.",
        "headroom.headroom", (*_ASL, *_QUERIES, "as_published"),
        tracks=True, group_by="track", chart="headroom.headroom",
    ),
    Analysis(
        "run-quality", ALEX, "Figures 1-4", "Every run at the top and over all documents.",
        "headroom.run_quality", (*_ASL, *_QUERIES, "as_published"),
        chart="headroom.run_quality",
    ),
    Analysis(
        "techniques", ALEX, "Table 1", "How much of the error a new technique takes away (RRIE).",
        "techniques.compare_techniques",
        ("old", "new", "measures", *_ASL, *_TESTED, *_QUERIES, "as_published"), ("old", "new"),
        tracks=True, group_by="track", chart="techniques.compare_techniques",
    ),
    Analysis(
        "reordering", ALEX, "Table 2", "From AP to ASL in steps, and how far systems move.",
        "reordering.reordering",
        (*_ASL, "margin", "alpha", "test", "correction", "each", *_QUERIES, "as_published"),
        tracks=True, chart="reordering.reordering",
    ),
    Analysis(
        "search-lengths", ALEX, "Figure 5", "How many relevant documents have which search length.",
        "distribution.search_length_distribution", ("run", *_ASL, "as_published"),
        chart="search_lengths.search_length_distribution",
    ),
    Analysis(
        "search-length-changes", ALEX, "Figure 6", "By how much two runs' search lengths differ.",
        "distribution.search_length_changes", ("a", "b", *_ASL, "as_published"),
        chart="search_lengths.search_length_changes",
    ),
    Analysis(
        "effective-share", ALEX, "Appendix A.1", "The share of documents that AP is about.",
        "hidden_weighting.effective_share", (*_RANKS, *_QUERIES),
        tracks=True, group_by="track", chart="hidden_weighting.effective_share",
    ),
    Analysis(
        "collection", DIAZ, "Table 1", "Requests, runs, relevant and retrieved documents.",
        "collection_statistics.collection_statistics", ("rel", *_QUERIES),
        chart="lexiprecision.collection_statistics",
    ),
    Analysis(
        "suffixes", DIAZ, "Table 2", "Whether later relevant documents predict the first.",
        "suffixes.prediction_from_suffixes", (*_RANKS, *_QUERIES),
        chart="lexiprecision.prediction_from_suffixes",
    ),
    Analysis(
        "ties", DIAZ, "Table 3", "Pairs of rankings that lexiprecision and RR cannot tell apart.",
        "ties.ties", (*_RANKS, *_QUERIES),
        chart="lexiprecision.ties",
    ),
    Analysis(
        "preference-discrimination", DIAZ, "Table 4", "Pairs of systems told apart by preferences.",
        "discrimination.preference_discrimination",
        ("preferences", *_RANKS, "level", "resamples", "seed", *_QUERIES),
        chart="discrimination.discriminative_power",
    ),
    Analysis(
        "system-preferences", DIAZ, "section 5", "Which of every two systems is preferred.",
        "system_preferences.system_preferences",
        ("preferences", *_RANKS, "correction", "alpha", *_QUERIES), group_by="preference",
        chart="lexiprecision.system_preferences",
    ),
    Analysis(
        "system-order", DIAZ, "section 5", "The order that preferences put systems in.",
        "system_order.system_order", ("preference", *_RANKS, *_QUERIES),
        chart="lexiprecision.system_order",
    ),
    Analysis(
        "cycles", DIAZ, "section 5", "Systems that are preferred to each other in a circle.",
        "system_order.cycles", ("preference", *_RANKS, *_QUERIES),
        chart="lexiprecision.cycles",
    ),
    Analysis(
        "preference-levels", DIAZ, "Figure 1", "How many values a ranking can have, in theory.",
        "reciprocal_rank.preference_levels", ("documents", "relevant", "cutoff"),
        ("documents", "relevant"), (),
        chart="lexiprecision.preference_levels",
    ),
    Analysis(
        "tie-probability", DIAZ, "Figure 2", "How likely a random ranking ties in RR, in theory.",
        "reciprocal_rank.tie_probability", ("documents", "relevant", "ranks"),
        ("documents", "relevant", "ranks"), (),
        chart="lexiprecision.tie_probability",
    ),
    Analysis(
        "ties-by-rank", DIAZ, "Figure 3", "How likely another ranking ties, by the first rank.",
        "ties.tie_probability_by_rank", (*_RANKS, "deepest", *_QUERIES),
        chart="lexiprecision.tie_probability_by_rank",
    ),
    Analysis(
        "ties-by-level", DIAZ, "Figure 5", "Ties in position by recall level.",
        "ties.ties_by_recall_level", (*_RANKS, "levels", *_QUERIES),
        chart="lexiprecision.ties_by_recall_level",
    ),
    Analysis(
        "levels-needed", DIAZ, "Figure 6", "The recall level that tells two rankings apart.",
        "recall_levels.recall_level_needed", (*_RANKS, "levels", *_QUERIES),
        chart="lexiprecision.recall_level_needed",
    ),
    Analysis(
        "level-correlations", DIAZ, "Figure 7a", "Correlations of differences at recall levels.",
        "recall_levels.level_correlations", (*_RANKS, "levels", *_QUERIES),
        chart="lexiprecision.level_correlations",
    ),
    Analysis(
        "level-regressions", DIAZ, "Figure 7b", "Each level's difference from the following ones.",
        "recall_levels.level_regressions", (*_RANKS, "levels", *_QUERIES),
        chart="lexiprecision.level_regressions",
    ),
    Analysis(
        "missing-labels", DIAZ, "Figure 8a", "Agreement with RR as labels go.",
        "missing_labels.missing_labels", _SAMPLED, chart="lexiprecision.missing_labels",
    ),
    Analysis(
        "missing-queries", DIAZ, "Figure 8b", "Agreement with RR as queries go.",
        "missing_labels.missing_queries", _SAMPLED, chart="lexiprecision.missing_queries",
    ),
    Analysis(
        "ties-as-labels-go", DIAZ, "Figure 9", "Rankings that tie as labels go.",
        "missing_labels.missing_labels", _SAMPLED, chart="lexiprecision.ties_as_labels_go",
    ),
    Analysis(
        "discrimination", TURKMEN, "Table 1", "Pairs of systems told apart by measures.",
        "discrimination.discriminative_power",
        ("measures", "test", "correction", "level", "resamples", "seed", *_QUERIES, "as_published"),
        chart="discrimination.discriminative_power",
    ),
    Analysis(
        "stability", TURKMEN, "Table 2", "Whether the better stays the better on other queries.",
        "stability.stability", ("measures", "draws", "fuzz", "seed", *_QUERIES, "as_published"),
        chart="rareness.stability",
    ),
    Analysis(
        "number-of-systems", TURKMEN, "Table 3", "Rareness among few systems and among all.",
        "number_of_systems.agreement_by_number_of_systems",
        ("measures", "sizes", "draws", "seed", *_QUERIES, "as_published"), group_by="measure",
        chart="rareness.agreement_by_number_of_systems",
    ),
    Analysis(
        "rare-documents", TURKMEN, "Table 4", "Which relevant documents are rare; who finds them.",
        "rare_documents.rare_documents", ("qid", "depth", "rel", "groups"), group_by="qid",
        chart="rareness.rare_documents",
    ),
    Analysis(
        "synthetic", TURKMEN, "Figure 1", "Where made-up systems come out that find what few do.",
        "synthetic.synthetic_systems", ("qid", "cutoff", "alphas", "rel", "normalized"), ("qid",),
        chart="rareness.synthetic_systems",
    ),
    Analysis(
        "alpha", TURKMEN, "Figure 2", "How the order of systems changes with rareness's weight.",
        "alpha.agreement_by_alpha", ("measures", "alphas", *_QUERIES, "as_published"),
        group_by="measure",
        chart="rareness.agreement_by_alpha",
    ),
    Analysis(
        "rareness-pools", TURKMEN, "section 5.4", "Who looks rare by some types of runs only.",
        "rareness_pools.rareness_by_pool", ("types", "measure", "groups", *_QUERIES), ("types",),
        group_by="pool",
        chart="rareness.rareness_by_pool",
    ),
    Analysis(
        "rareness-own-group", TURKMEN, "section 5.4", "Rareness without the group's other runs.",
        "rareness_pools.without_own_group", ("groups", "measure", *_QUERIES), ("groups",),
        chart="rareness.without_own_group",
    ),
    Analysis(
        "assessors", TROTMAN, "section 4", "How other assessors score as runs.",
        "assessors.assessor_scores", (*_ASSESSORS, "permutations", "seed", *_QUERIES),
        ("assessor",), ("qrels",),
        chart="assessors.assessor_scores",
    ),
    Analysis(
        "assessor-tests", TROTMAN, "Table 1", "Runs against assessors at best, expected, worst.",
        "assessors.compare_with_assessors",
        (*_ASSESSORS, "both_ways", *_TESTED, *_QUERIES, "as_published"), ("assessor",),
        chart="assessors.compare_with_assessors",
    ),
    Analysis(
        "human-range", TROTMAN, "Figure 2", "The range of human scores beside a system's.",
        "assessors.human_range", (*_ASSESSORS, "system", "run_types", *_QUERIES), ("assessor",),
        chart="assessors.human_range",
    ),
    Analysis(
        "satisfaction", TROTMAN, "Figures 1, 3", "S@n: how soon a user is satisfied.",
        "satisfaction.satisfaction", (*_ASSESSORS, "depth", "alpha", *_QUERIES),
        tracks=True, group_by="system", chart="satisfaction.satisfaction",
    ),
    Analysis(
        "lengths", CLARKE, "sections 1, 4", "How long the documents are that a run puts first.",
        "document_lengths.lengths_by_rank", ("lengths", "cutoff", "rel", "missing_length",
        *_QUERIES), group_by="run",
        chart="document_lengths.lengths_by_rank",
    ),
    Analysis(
        "leaderboards", JUDGES, "systems", "Every system under every judge, what each gains.",
        "leaderboards.leaderboards", ("judge", "measure", "rel", *_TESTED, *_QUERIES), ("judge",),
        group_by="judge", chart="leaderboards.leaderboards",
    ),
    Analysis(
        "leaderboard-agreement", JUDGES, "systems", "How far judges agree on the order of systems.",
        "leaderboards.leaderboard_agreement", ("judge", "measure", "rel", *_TESTED, *_QUERIES),
        ("judge",), chart="leaderboards.judges_agreement",
    ),
    Analysis(
        "leaderboard-swaps", JUDGES, "systems", "Significant differences that a judge reverses.",
        "leaderboards.leaderboard_swaps", ("judge", "measure", "rel", *_TESTED, *_QUERIES),
        ("judge",),
        chart="leaderboards.leaderboard_swaps",
    ),
    Analysis(
        "judge-agreement", JUDGES, "documents", "How far judges agree on documents (kappa).",
        "judges.judge_agreement", ("judge", "rel"), ("judge",), ("qrels",),
        chart="leaderboards.judges_agreement",
    ),
    Analysis(
        "judge-confusion", JUDGES, "documents", "How often one judge's grade is another's other.",
        "judges.judge_confusion", ("judge",), ("judge",), ("qrels",),
        chart="leaderboards.judge_confusion",
    ),
)  # fmt: skip

#: The column of slices that a file of them gives.
SLICE = "slice"
#: What the judge of QRELS is called among several.
FIRST_JUDGE = "qrels"


# Options


def _whole(value: float) -> float:
    """A grade as ir_measures' own measures want it."""
    return int(value) if value % 1 == 0 else value


def _measures(texts: Sequence[str]) -> list[Any]:
    return [one.measure for one in parse_measures(texts)]


def _measure(text: str) -> Any:
    found = _measures([text])
    if len(found) != 1:
        raise ValueError(f"one measure is wanted, but {text!r} is {len(found)}")
    return found[0]


def _numbers(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    def read(text: str) -> list[Any]:
        try:
            return [kind(word) for word in text.replace(",", " ").split()]
        except ValueError:
            what = "whole numbers" if kind is int else "numbers"
            raise ValueError(f"{text!r} is no list of {what}, such as 1,2,4") from None

    return read


def _weights(path: str) -> dict[str, float]:
    read = {}
    for qid, text in read_pairs(path, "query", "weight").items():
        try:
            read[qid] = float(text)
        except ValueError:
            raise ValueError(f"{path}: query {qid!r} has the weight {text!r}: no number") from None
    return read


def _by(path: str) -> dict[str, str]:
    return read_pairs(path, "query", SLICE)


def _pools(path: str) -> dict[str, list[str]]:
    from .analysis.rareness_pools import pools_by

    return pools_by(read_groups(path))


def _assessors(texts: Sequence[str]) -> dict[str, str]:
    return _named(texts, "NAME=QRELS, a name and a file or ir_datasets id")


def _runs_of_tracks(texts: Sequence[str]) -> str | dict[str, str]:
    """One run of that name, in every track; or, given several times, the run of each track."""
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    return _named(texts, "TRACK=RUN, a track and the name of its run")


def _named(texts: Sequence[str], form: str) -> dict[str, str]:
    named = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise ValueError(f"{text!r} is not {form}")
        if name in named:
            raise ValueError(f"{name!r} is given twice: name each differently")
        named[name] = value
    return named


#: Option -> the parameter of the function, where it is called differently, and how its value is
#: read, where it is not taken as it is.
PARAMETERS: Mapping[str, tuple[str, Callable[[Any], Any] | None]] = {
    "rel": ("rel", _whole),
    "assessor_rel": ("assessor_rel", _whole),
    "measures": ("measures", _measures),
    "measure": ("measure", _measure),
    "correction": ("correction", lambda name: None if name == "none" else name),
    "level": ("levels", _numbers(float)),
    "alphas": ("alphas", _numbers(float)),
    "fractions": ("fractions", _numbers(float)),
    "sizes": ("sizes", _numbers(int)),
    "preferences": ("preferences", lambda text: text.replace(",", " ").split()),
    "weights": ("weights", _weights),
    "by": ("by", _by),
    "groups": ("groups", read_groups),
    "types": ("pools", _pools),
    "run_types": ("run_types", read_groups),
    "assessor": ("assessors", _assessors),
    "judge": ("judges", _assessors),
    "resamples": ("n_resamples", None),
    "documents": ("n", None),
    "old": ("old", _runs_of_tracks),
    "new": ("new", _runs_of_tracks),
    "relevant": ("relevant", _numbers(int)),
    "ranks": ("ranks", _numbers(int)),
}


def parameter(option: str) -> str:
    """What the function calls an option."""
    return PARAMETERS.get(option, (option, None))[0]


def analysis_named(name: str) -> Analysis | None:
    """The analysis of a name; None where there is none."""
    return next((one for one in ANALYSES if one.name == name), None)


def analyze(
    analysis: Analysis,
    qrels: str | None = None,
    runs: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    tracks: Sequence[tuple[str, str, str]] = (),
) -> pd.DataFrame:
    """Makes the table.

    Args:
        analysis: which.
        qrels: file or ir_datasets id, for one that takes any.
        runs: files and folders, likewise.
        options: what was said, by option; what is not there is as the function has it.
        tracks: instead of qrels and runs: name, qrels, and a folder of runs or one run, of each.

    Raises:
        ValueError: for what cannot be used.
        OSError: for a file that cannot be read.
    """
    said = {}
    for option, value in (options or {}).items():
        name, read = PARAMETERS.get(option, (option, None))
        said[name] = value if read is None else read(value)
    if tracks:
        return analysis.load()(_of_tracks(tracks), **said)
    taken: list[Any] = [qrels] if "qrels" in analysis.takes else []
    if "judges" in said:  # QRELS is one of them
        if FIRST_JUDGE in said["judges"]:
            raise ValueError(f"{FIRST_JUDGE!r} is the judge of QRELS: name the other differently")
        said["judges"] = {FIRST_JUDGE: taken.pop(), **said["judges"]}
    if "runs" in analysis.takes:
        taken.insert(0, [*find_runs(runs).values()])
    return analysis.load()(*taken, **said)


def _of_tracks(tracks: Sequence[tuple[str, str, str]]) -> dict[str, tuple[Any, str]]:
    """Runs and qrels of each track, as the functions take them."""
    named: dict[str, tuple[Any, str]] = {}
    for name, qrels, runs in tracks:
        if name in named:
            raise ValueError(f"track {name!r} is given twice: name each differently")
        named[name] = [*find_runs([runs]).values()], qrels
    return named


def draw(analysis: Analysis, frame: pd.DataFrame, path: str) -> None:
    """Draws the figure.

    Args:
        analysis: which.
        frame: what :func:`analyze` made.
        path: the file; its ending is one of :data:`.charts.saving.ENDINGS`.

    Raises:
        ValueError: for another ending, or where there is no Altair.
    """
    check_chart(path)
    try:
        save_chart(analysis.drawn(frame, SLICE if SLICE in frame else None), path)
    except ModuleNotFoundError as error:
        if error.name != "altair":
            raise
        raise ValueError("charts need Altair: pip install 'pyterrier-asl[charts]'") from error


def check_chart(path: str) -> None:
    """Whether a chart can be saved there.

    Raises:
        ValueError: where not.
    """
    if Path(path).suffix not in ENDINGS:
        raise ValueError(f"{path} must end in one of {', '.join(ENDINGS)}")
    if not Path(path).resolve().parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {Path(path).parent}")


def without_unnamed_track(frame: pd.DataFrame) -> pd.DataFrame:
    """The table as it is shown: with one track, which has no name, there is no column of it."""
    if "track" in frame and not frame["track"].astype(bool).any():
        return frame.drop(columns="track")
    return frame


def listed() -> pd.DataFrame:
    """All analyses: name, source, and what each shows."""
    return pd.DataFrame(
        {
            "name": [one.name for one in ANALYSES],
            "paper": [one.paper for one in ANALYSES],
            "table or figure": [one.figure for one in ANALYSES],
            "what": [one.what for one in ANALYSES],
        }
    )


def notes(frame: pd.DataFrame) -> str:
    """What an analysis tells beside its table, in a line; '' for nothing."""
    told = {name: value for name, value in frame.attrs.items() if value is not False}
    return "; ".join(f"{name}: {_told(value)}" for name, value in told.items())


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{part} of {name}" for name, part in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)
