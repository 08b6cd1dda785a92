"""Systems with several runs, groups of queries, and the number of queries, in comparisons."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from _calls import call, rows
from _files import write_qrels, write_run
from scipy import stats

import pyterrier_asl as asl
from pyterrier_asl.statistics.groups import group_differences
from pyterrier_asl.statistics.power import queries_needed
from pyterrier_asl.statistics.repetitions import compare_repetitions

QIDS = [f"q{number:02}" for number in range(30)]
QRELS = {qid: {f"d{k}": int(k % 3 == n % 3) for k in range(8)} for n, qid in enumerate(QIDS)}
#: Eight queries, twelve, six and four, mixed.
GROUPS = {q: "ABBCADBABBCADB"[n % 14] if n < 28 else "DD"[n % 2] for n, q in enumerate(QIDS)}


def run(seed, skill, worse=()):
    """A run that ranks relevant documents higher, or in some queries lower."""
    draw = np.random.default_rng(seed)
    return {
        q: {d: (-1 if q in worse else skill) * g + draw.normal() for d, g in docs.items()}
        for q, docs in QRELS.items()
    }


OLD = [run(1, 0.8), run(2, 0.9)]
NEW = [run(3, 0.9), run(4, 1.0), run(5, 0.8)]
ONE = run(6, 0.8, [q for q in QIDS if GROUPS[q] == "A"])
SYSTEMS = {"new": NEW, "old": OLD, "one": ONE}
MEASURES = ["AP", "ASL@5"]
RUNS = {"old": OLD[0], "one": ONE}


def values(of_run, measure="AP"):
    return asl.evaluate({"run": of_run}, QRELS, [measure])[measure].to_numpy()


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_qrels(QRELS, "qrels")
    for name, of_run in {"old-1": OLD[0], "old-2": OLD[1], "one": ONE}.items():
        write_run(of_run, f"{name}.run")
    for number, of_run in enumerate(NEW, 1):
        write_run(of_run, f"new-{number}.run")
    Path("groups").write_text("qid\tgroup\n" + "".join(f"{q}\t{g}\n" for q, g in GROUPS.items()))


# Repetitions


@pytest.mark.parametrize("measure", MEASURES)
def test_repetitions_are_a_part_of_the_variance(measure):
    found = asl.compare(SYSTEMS, QRELS, MEASURES, baseline="old", correction="bonferroni")
    table = found.table.set_index(["run", "measure"])
    a = [values(of_run, measure) for of_run in OLD]
    for name, of_system in (("new", NEW), ("one", [ONE])):
        row, b = table.loc[(name, measure)], [values(of_run, measure) for of_run in of_system]
        tested = compare_repetitions(a, b)
        assert row["p"] == pytest.approx(tested.comparison.p)
        assert row["p_corrected"] == pytest.approx(min(1, 2 * tested.comparison.p))
        assert row["repetitions"] == pytest.approx(tested.share)
        assert row["b"] == pytest.approx(np.mean(b))
        gain = (np.mean(b, axis=0) - np.mean(a, axis=0)) * (1 if measure == "AP" else -1)
        assert (row["wins"], row["losses"]) == ((gain > 0).sum(), (gain < 0).sum())
        halves = row[["half_any_repetitions", "half_twice_queries"]].tolist()
        assert halves == pytest.approx([tested.half_any_repetitions, tested.half_twice_queries])
        naive = stats.ttest_1samp(gain, 0).pvalue
        assert abs(naive - row["p"]) > 1e-3


def test_what_repetitions_are_is_said():
    found = asl.compare(SYSTEMS, QRELS, MEASURES, baseline="old")
    row = found.table.iloc[0]
    half = (row["ci_high"] - row["ci_low"]) / 2
    texts = [half, row["half_any_repetitions"], row["half_twice_queries"]]
    now, any_number, twice = (f"±{number:.4g}" for number in texts)
    said = (
        f"AP of new: repetitions are {100 * row['repetitions']:.0f} % of the variance: {now}; with "
        f"any number of them {any_number}, with twice the queries {twice}."
    )
    assert said in found.remarks()
    assert "The noise between repetitions of one is not known and not counted." in found.remarks()
    assert "t-test for pairs with random effects of repetitions, two-sided" in found.remarks()[0]
    assert "\nA: old, 2 runs (baseline)" in str(found)
    plain = asl.compare(RUNS, QRELS, MEASURES)
    assert "repetitions" not in plain.table and "epetitions" not in str(plain)
    alone = asl.compare({"old": OLD[0], "one": ONE, "new": NEW}, QRELS, MEASURES).table
    assert alone["repetitions"].isna().tolist() == [True, True, False, False]


def test_an_equal_baseline_that_ran_again_has_no_noise():
    """The test is the paired t of one run: there is nothing between the repetitions."""
    again = asl.compare({"live": [OLD[0]] * 3, "one": [ONE, ONE]}, QRELS, "AP").table.iloc[0]
    single = asl.compare({"live": OLD[0], "one": ONE}, QRELS, "AP").table.iloc[0]
    assert again["p"] == pytest.approx(single["p"]) and again["repetitions"] == pytest.approx(0)
    equal = {"live": [OLD[0]] * 2, "new": [OLD[0]] * 2}
    [verdict] = asl.compare(equal, QRELS, conditions="AP worse p<.05").verdicts
    assert verdict.outcome.name == "PASS" and "equal values in every query" in verdict.message


def test_a_query_that_one_repetition_does_not_answer_is_named():
    short = {q: NEW[1][q] for q in QIDS[1:]}
    found = asl.compare({"old": OLD, "new": [NEW[0], short]}, QRELS, conditions="AP worse p<.9")
    assert "new (run 2) does not answer 1 of 30 queries (e.g. 'q00')" in found.notes[0]
    assert found.verdicts[-1].outcome.name == "FAIL" and "new (run 2)" in found.verdicts[-1].message
    back = asl.compare({"new": [NEW[0], short], "old": OLD}, QRELS, conditions="AP worse p<.9")
    assert back.verdicts[0].outcome.name == "ERROR"


def test_files_are_repetitions_by_the_end_of_their_names(files):
    runs = [f"{name}.run" for name in ("old-1", "new-1", "one", "old-2", "new-3", "new-2")]
    printed = rows(call("compare", "qrels", *runs, "--repetitions", "-", "-m", "AP", "-o", "jsonl"))
    expected = asl.compare(SYSTEMS, QRELS, "AP", baseline="old").table.set_index("run")
    assert [row["run"] for row in printed] == ["new", "one"]
    for row in printed:
        assert row["p"] == pytest.approx(expected.loc[row["run"], "p"])
    result = call("compare", "qrels", *runs, "--repetitions", "_")
    assert result.exit_code == 2 and "no two of the runs old-1, new-1" in result.stderr


def test_scores_have_columns_of_repetitions_and_groups(files):
    """As from the runs; the rows are shuffled."""
    runs = {"old-1": OLD[0], "old-2": OLD[1], **{f"new-{n}": of for n, of in enumerate(NEW)}}
    table = asl.evaluate(runs, QRELS, MEASURES)
    table[["name", "seed"]] = table["name"].str.split("-", expand=True)
    table = table.assign(category=table["qid"].map(GROUPS)).sample(frac=1, random_state=1)
    systems = {"old": OLD, "new": NEW}
    found = asl.compare(asl.read_scores(table), baseline="old")
    expected = asl.compare(systems, QRELS, MEASURES)
    columns = ["a", "b", "p", "repetitions", "wins", "detectable"]
    assert found.table[columns].to_numpy() == pytest.approx(expected.table[columns].to_numpy())
    one = table[table["seed"] == "1"].drop(columns="seed").sort_values("qid")
    one.to_csv("scores.csv", index=False)
    args = ["--scores", "scores.csv", "old", "new", "--groups", "category", "--show", "groups"]
    printed = rows(call("compare", *args, "-o", "jsonl"))
    pair = {"old": OLD[0], "new": NEW[1]}
    of_runs = asl.compare(pair, QRELS, MEASURES, groups=GROUPS).groups
    by_group = of_runs.set_index(["measure", "group"])["p"]
    for row in printed:
        p = by_group[row["measure"], row["group"]]
        assert row["p"] is None if np.isnan(p) else row["p"] == pytest.approx(p)
    result = call("compare", *args[:5], "topic", "-o", "jsonl")
    assert result.exit_code == 2 and "declare another column" in result.stderr
    with pytest.raises(ValueError, match="several repetitions: only compare tests them"):
        asl.ranks(asl.read_scores(table), measures="AP")


# Groups of queries


def test_differences_in_groups():
    found = asl.compare(RUNS, QRELS, "AP ASL@5 rrLP", groups=GROUPS)
    columns = "run measure group queries difference shrunken p depends".split()
    assert found.groups.columns.tolist() == columns and len(found.groups) == 3 * 4
    for measure in MEASURES:
        of_measure = found.groups[found.groups["measure"] == measure].set_index("group")
        a, b = (values(of_run, measure) for of_run in (OLD[0], ONE))
        names = of_measure.index.tolist()
        codes = [names.index(GROUPS[q]) for q in QIDS]
        tests = group_differences(b - a, codes, max(np.abs(a).max(), np.abs(b).max()))
        for column, expected in zip(columns[3:7], tests[1:]):
            assert of_measure[column].tolist() == pytest.approx(expected, nan_ok=True)
        assert of_measure["depends"].tolist() == pytest.approx([tests.depends] * 4)
        assert of_measure.loc["A", "difference"] == pytest.approx(
            np.mean([y - x for q, x, y in zip(QIDS, a, b) if GROUPS[q] == "A"])
        )
        assert of_measure.loc["A", "p"] < 0.05 and np.isnan(of_measure.loc["C", "p"])
        start = f"The difference of one from old in {measure} depends on the group (p"
        [said] = [remark for remark in found.remarks() if remark.startswith(start)]
        assert "one is worse in A (" in said
    assert "C has fewer than 6 queries: no test." in found.remarks()


def test_equal_runs_do_not_depend_on_the_group():
    found = asl.compare({"old": OLD[0], "new": OLD[0]}, QRELS, "AP", groups=GROUPS)
    assert found.remarks()[0] == (
        "The difference of new from old in AP does not depend on the group (p = 1.0000): the mean "
        "over all queries stands for each of the 3 groups."
    )
    few = asl.compare({"old": OLD[0], "new": ONE}, QRELS, "AP", groups=dict.fromkeys(QIDS, "all"))
    assert "in AP: only one group has 6 queries or more, so groups are not" in few.remarks()[0]
    each = asl.compare({"old": OLD[0], "new": ONE}, QRELS, "AP", groups={q: q for q in QIDS})
    assert "no group has 6 queries or more" in each.remarks()[0]
    assert asl.compare({"old": OLD[0], "new": ONE}, QRELS, "AP").groups.empty


@pytest.mark.parametrize(
    ("text", "outcome", "said"),
    [
        ("AP worse in any group p<.05", "FAIL", "A: -"),
        ("AP better in any group p<.05", "PASS", "in none of 4 groups; not tested: C"),
        ("AP worse by 90% in any group p<.05", "PASS", "in none of 4 groups"),
        ("ASL@5 worse in any group p<.05", "FAIL", "A: +"),
        ("AP worse in any group", "FAIL", "A: -"),
        ("AP worse in any group p<.0001", "ERROR", "p cannot be below 0.000488 in any group"),
    ],
)
def test_a_condition_in_any_group(text, outcome, said):
    [found] = asl.compare(RUNS, QRELS, groups=GROUPS, conditions=text).verdicts
    assert found.outcome.name == outcome and said in found.message
    assert len(found.cases) == (0 if outcome == "ERROR" else 4)
    failing = [case.run for case in found.cases if case.outcome.name == "FAIL"]
    assert (failing == ["A"]) is (outcome == "FAIL" and "p<" in text)


def test_no_group_of_enough_queries():
    small = {q: str(n // 5) for n, q in enumerate(QIDS)}
    condition = "AP worse in any group p<.9"
    [found] = asl.compare(RUNS, QRELS, groups=small, conditions=condition).verdicts
    assert found.outcome.name == "ERROR" and "no group has 6 queries or more" in found.message


def test_groups_in_every_output(files):
    two = ["qrels", "old-1.run", "one.run", "--groups", "groups"]
    table = asl.compare({"old-1": OLD[0], "one": ONE}, QRELS, "AP", groups="groups").groups
    printed = rows(call("compare", *two, "-m", "AP", "--show", "groups", "-o", "jsonl"))
    assert [row["group"] for row in printed] == table["group"].tolist() == list("ABCD")
    assert printed[0]["shrunken"] == pytest.approx(table["shrunken"][0])
    text = call("compare", *two, "-m", "AP", "--show", "groups").stdout
    assert "B - A in groups of queries:" in text and "p of dependence" in text
    guard = ["--fail-if", "AP worse in any group p<.05", "--junit", "g.xml", "-o", "jsonl"]
    result = call("compare", *two, *guard)
    assert result.exit_code == 1 and json.loads(result.stdout.splitlines()[-1])["status"] == 1
    suite = ElementTree.parse("g.xml").getroot()
    names = {case.get("classname"): len(case.findall("failure")) for case in suite.iter("testcase")}
    assert names == {"one, A": 1, "one, B": 0, "one, C": 0, "one, D": 0}
    found = call("compare", *two[:3], "--show", "groups")
    assert found.exit_code == 2 and "--show groups needs --groups" in found.stderr


def test_the_chart_of_groups_goes_from_raw_to_shrunken():
    found = asl.compare(RUNS, QRELS, MEASURES, groups=GROUPS)
    drawn = found.chart("groups").to_dict()
    [data] = [of for of in drawn["datasets"].values() if "shrunken" in of[0]]
    kept = ["group", "difference", "p", "depends"]
    assert len(data) == 8 and [data[0][name] for name in kept] == found.groups.loc[0, kept].tolist()
    assert "2 of 8." in str(drawn["title"])


# The number of queries


def test_the_queries_that_a_difference_needs():
    found = asl.compare(RUNS, QRELS, MEASURES, detect=0.05, alpha=0.1)
    a, b = ([values(of_run, name) for name in MEASURES] for of_run in (OLD[0], ONE))
    expected = [queries_needed(y - x, 0.05, alpha=0.1) for x, y in zip(a, b)]
    columns = ["queries_needed", "queries_needed_by_sd"]
    assert found.table[columns].to_numpy().tolist() == [list(pair) for pair in expected]
    assert (
        "A t-test finds a difference of 0.05 of one with probability .8 over this many queries: "
        f"{expected[0][0]:,} by AP and {expected[1][0]:,} by ASL@5." in found.remarks()
    )
    equal = asl.compare({"old": OLD[0], "new": OLD[0]}, QRELS, "AP", detect=0.05)
    assert np.isnan(equal.table.loc[0, "queries_needed"]) and "finds a diff" not in str(equal)
    for wrong in (0, float("nan"), "x"):
        with pytest.raises(ValueError, match="give a difference above 0"):
            asl.compare(RUNS, QRELS, "AP", detect=wrong)
