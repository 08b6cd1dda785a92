"""What the columns of the printed tables of analyses are, where their names do not say it."""

from __future__ import annotations

import re

from ..common.lazy import pd

_ENDS = {
    "ci_low": "lower end of the confidence interval",
    "ci_high": "upper end of the confidence interval",
}
_CORRECTED = {
    "family": "number of p-values that a correction covers",
    "dropped": "pairs without a difference, which cannot be tested",
}
_TESTED = {
    **_ENDS,
    "effect": "{effect}",
    "statistic": "statistic of the test",
    "p": "p-value of the row alone",
    "p_corrected": "{corrected}",
    "significant": "whether p_corrected is at most alpha",
}
_OF_RUN = {
    "missing_share": "share of ASL that comes from relevant documents that were not retrieved",
    "unjudged_share": "share of unjudged documents among the irrelevant ones above relevant ones",
}
_FIRST_TEN = "ASL of the first 10 relevant documents of each query"
_RARENESS = {"alpha": "weight of rareness", "value": "P_Rareness of the system"}
_SAMPLES = {
    "ranking": "share of pairs of rankings ordered as by RR on all labels",
    "ranking_sd": "standard deviation of ranking over samples",
    "system_sd": "standard deviation of system over samples",
    "tied": "share of pairs of rankings that tie",
    "tied_sd": "standard deviation of tied over samples",
}
_POWER = {
    "level": "level of significance",
    "pairs": "pairs of systems",
    "significant": "pairs with a significant difference",
    "percent": "significant pairs, in percent of the pairs",
    **_CORRECTED,
}
_RANKINGS = "pairs of two systems' rankings for the same query"
_M, _P_1 = "number of relevant documents", "rank of the first relevant document"
_LEVEL = "recall level: the i-th relevant document"

#: Function of an analysis -> column -> what it is. Columns of measures have the measure's name.
LEGENDS: dict[str, dict[str, str]] = {
    "run_quality": {"ASL@g1-10": _FIRST_TEN, **_OF_RUN},
    "headroom": {
        "measure": f"ASL@g1-10 is {_FIRST_TEN}",
        "best_run": "the run with the best value",
        "value": "its value",
        **_OF_RUN,
    },
    "effective_share": {
        "share": "share of relevant documents that determines AP, mean over queries",
        "pooled": "the share over the documents of all queries together",
    },
    "compare_techniques": {
        "measure": f"ASL@g1-10 is {_FIRST_TEN}",
        "RRIE": "relative reduction in error: part of the distance to 1 that the new run removes",
        "difference": "new less old",
        **_TESTED,
    },
    "reordering": {
        "change": "the step; cumulative: from AP to ASL",
        "dSort": "change of the number of better systems, in percent of the systems, the largest",
        "dSort_sd": "standard deviation of dSort over tracks",
        "tau": "Kendall's tau of the order of systems before and after the change",
        "tau_sd": "standard deviation of tau over tracks",
        "dValue": "new value / old value, ASL as 1/ASL",
        "dValue_sd": "standard deviation of dValue over systems",
        "moved": "the system with the largest dSort",
        "better_before": "systems significantly better by the old measure",
        "better_after": "systems significantly better by the new measure",
    },
    "search_length_distribution": {
        "low": "shortest search length of the bin",
        "high": "longest search length of the bin",
        "found": "relevant documents that the run retrieved",
        "missing": "relevant documents that it did not retrieve",
        "share": "documents by all relevant documents",
    },
    "search_length_changes": {
        "low": "least difference of the bin: search length in a less search length in b",
        "high": "greatest difference of the bin",
        "documents": "relevant documents that a or b retrieved",
        "share": "documents by all of these documents",
        "both": "documents that both runs retrieved",
        "only_a": "documents that only a retrieved",
        "only_b": "documents that only b retrieved",
        "from_missing": "only_a + only_b",
    },
    "system_preferences": {
        "a": "the first system",
        "b": "the second system",
        "mean": "mean preference over queries; positive prefers a",
        "wins": "queries that prefer a",
        "losses": "queries that prefer b",
        **_TESTED,
        **_CORRECTED,
    },
    "system_order": {
        "mean": "mean preference over queries and all other systems",
        "mean_rank": "rank by mean",
        "borda": "points per query: 1 per system it is preferred to, 1/2 per tie",
        "borda_rank": "rank by borda",
        "mc4_round": "round in which the random walk stays at the system",
        "mc4": "share of the time that the walk stays there",
        "mc4_rank": "rank by the random walk",
        "cycle": "number of the cycle of preferences, 0: none",
    },
    "cycles": {
        "a": "a system preferred to b",
        "b": "a system preferred to c",
        "c": "a system preferred to a",
        "weakest": "the smallest of these three mean preferences",
    },
    "discriminative_power": _POWER,
    "preference_discrimination": _POWER,
    "stability": {
        "absolute": "stability if differences up to the fuzz are ties",
        "relative": "stability if differences up to this share of the larger mean are ties",
        "queries": "queries of a draw",
    },
    "rare_finds": {
        "found": "relevant documents that the system finds",
        "alone": "relevant documents that no other system finds",
        "few": "relevant documents that at most this number of systems find (see below)",
        "mean_rareness": "mean of 1 - S_d/S over the relevant documents found",
        "recall": "found by all relevant documents",
        "pool": "relevant documents that at least one system finds",
        "coverage": "pool by all relevant documents",
    },
    "rare_documents": {
        "S_d": "runs or groups that find the document",
        "S": "runs or groups in all",
        "rareness": "1 - S_d/S",
        "best_rank": "best rank in any run, 0: not retrieved",
        "found_by": "names of the runs or groups that find the document",
    },
    "synthetic_systems": {
        **_RARENESS,
        "system": "rare retrieves documents that no other system retrieves, common the relevant "
        "documents that most systems retrieve",
        "documents": "relevant documents that the synthetic system retrieves",
        "value": "P_Rareness of the synthetic system",
        "rank": "1 plus the number of real systems with a better value",
    },
    "agreement_by_alpha": {
        **_RARENESS,
        "tau": "Kendall's tau of the systems' order with their order at alpha 0",
        "tau_AP": "tau with more weight at the top of the ranking",
    },
    "agreement_by_number_of_systems": {
        "systems": "systems drawn, among which documents are rare",
        "tau": "Kendall's tau of their order with their order by rareness among all",
        "standard_error": "standard error of tau over draws",
        "undefined": "draws in which all systems tie",
    },
    "rareness_by_pool": {
        "pool": "the runs counted in S_d",
        "member": "whether the run is one of them",
        "value": "the measure with this pool",
        "rank": "rank by value",
        "moved": "ranks above the rank by all runs",
    },
    "rareness_without_own_group": {
        "runs_of_group": "number of runs of the group",
        "value": "value if all runs are counted",
        "rank": "rank by value",
        "value_without": "value if the other runs of the group are not counted",
        "rank_without": "rank by value_without",
    },
    "missing_labels": {
        "fraction": "share of the labels that a sample keeps",
        **_SAMPLES,
        "system": "share of pairs of systems ordered as by mean RR on all labels",
    },
    "missing_queries": {
        "fraction": "share of the queries that a sample keeps",
        **_SAMPLES,
        "system": "share of pairs of systems ordered as by mean RR over all queries",
    },
    "preference_levels": {
        "m": _M,
        "RR": "number of different values of reciprocal rank",
        "lexiprecision": "number of different values of the lexicographic order",
    },
    "tie_probability": {"m": _M, "p_1": _P_1, "probability": "probability of the same p_1"},
    "tie_probability_by_rank": {
        "p_1": _P_1,
        "rankings": "rankings with this p_1",
        "pairs": "these rankings with another system's for the same query",
        "probability": "share of the pairs with the same p_1",
    },
    "ties_by_recall_level": {
        "i": _LEVEL,
        "pairs": _RANKINGS,
        "probability": "share of the pairs with the document at the same rank",
        "both_missing": "share of pairs in which neither run retrieves the document",
    },
    "recall_level_needed": {
        "i": _LEVEL,
        "pairs": "pairs of rankings that differ first at this level",
        "cumulative": "share of all pairs that differ there or before",
    },
    "level_correlations": {
        "i": _LEVEL,
        "j": "a deeper recall level",
        "pairs": _RANKINGS,
        "correlation": "Pearson's, of the differences of the pairs, each pair in both directions",
    },
    "level_regressions": {
        "i": _LEVEL,
        "j": "steps from level i to the level that predicts",
        "coefficient": "coefficient of the difference at level i + j",
        "R2": "share of variance at level i that is explained",
        "pairs": _RANKINGS,
    },
    "prediction_from_suffixes": {
        "pairs": "pairs of rankings with different reciprocal ranks",
        "right": "pairs whose first difference the predictor predicts",
        "ties": "pairs that the predictor ties",
        "percent": "right, in percent of the pairs",
        "percent_of_untied": "right, in percent of the pairs that the predictor does not tie",
    },
    "ties": {"pairs": _RANKINGS, "ties": "pairs that tie", "percent": "ties in percent of pairs"},
    "collection_statistics": {
        "requests": "queries",
        "rel/request": "relevant documents per query",
        "docs/request": "retrieved documents per run and query",
        "judged/request": "judged documents per query",
        "without_relevant": "queries without a relevant document",
        "unanswered": "pairs of run and query without an answer",
    },
    "human_range": {
        "who": "the judge, or the manual runs",
        "judged_by": "whose judgements score them and the system",
        "low": "MAP of the judge in the worst order, or least MAP of the manual runs",
        "tick": "expected MAP of the judge in random order, or mean of the manual runs",
        "high": "MAP of the judge in the best order, or greatest MAP of the manual runs",
        "bar": "MAP of the system",
        "bar_run": "the system",
    },
    "satisfaction": {
        "n": "number of documents read",
        "S@n": "share of queries with a relevant document in the first n",
        **_ENDS,
    },
    "compare_with_assessors": {
        "judged_by": "whose judgements score the run",
        "bound": "order of the judge's documents: best (upper), random (expected), worst (lower)",
        "run_AP": "AP of the run",
        "judge_AP": "AP of the judge's documents as a run",
        "difference": "run_AP - judge_AP",
        **_TESTED,
    },
    "assessor_scores": {
        "retrieved": "documents that the judge finds relevant, per query",
        "common": "documents that both judges find relevant, per query",
        "relevant": "documents that the original judge finds relevant, per query",
        "upper": "MAP in the best order",
        "expected": "MAP in a random order, expected",
        "lower": "MAP in the worst order",
    },
    "lengths_by_rank": {
        "length": "mean length over the queries with such a document at this rank",
        "documents": "number of these documents",
    },
}

#: The effect size of each test; the others' is that of Tukey's.
_EFFECTS = {
    **dict.fromkeys(("t", "randomization"), "mean difference / standard deviation of differences"),
    "wilcoxon": "difference of the rank sums / their sum",
    "sign": "(wins - losses) / both",
    "unpaired-t": "mean difference / pooled standard deviation",
}
_EFFECT = "mean difference / root of the residual mean square"


def legend(function: str, frame: pd.DataFrame) -> list[str]:
    """A line for each column of an analysis' table whose name does not say all.

    Args:
        function: the name of the analysis' function.
        frame: the table, whose ``attrs``, or columns, have the test and the correction.
    """
    tests = set(frame["test"]) if "test" in frame else {frame.attrs.get("test")}
    effects = [f"{_EFFECTS.get(test, _EFFECT)} ({test})" for test in sorted(map(str, tests))]
    family = "all pairs of the preference" if "preference" in frame else "all rows"
    is_corrected = frame.attrs.get("correction") != "none"
    corrected = f"p, corrected for {family}" if is_corrected else "p, as there is no correction"
    texts = {name: LEGENDS[function].get(re.sub(r"\(.*\)", "", str(name))) for name in frame}
    return [
        f"{name}: {text.format(effect='; '.join(effects), corrected=corrected)}"
        for name, text in texts.items()
        if text
    ]
