"""Verdicts on judges, against reference implementations and judges of known agreement.
Tests of compare_judges.py, verdicts.py, reversals.py."""

import json
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from _files import write_qrels
from click.testing import CliRunner
from small import JUDGE, QRELS, RUNS, TWO_RUNS, collection
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests

import pyterrier_asl as asl
from pyterrier_asl.assessment.compare_judges import summary_of
from pyterrier_asl.assessment.judges import Judges
from pyterrier_asl.assessment.verdicts import BELOW, UNDECIDED, UNKNOWN, WITHIN, judge_lines
from pyterrier_asl.cli import main
from pyterrier_asl.measures.parsing import named_measures
from pyterrier_asl.statistics.agreement import tau_ap

DOCNOS = [f"d{number}" for number in range(30)]


def truth(queries: int, seed: int = 1) -> np.ndarray:
    """Whether documents are relevant, one row per query."""
    return np.random.default_rng(seed).random((queries, len(DOCNOS))) < 0.4


def judged(labels: np.ndarray, mistakes: float, seed: int) -> dict[str, dict[str, int]]:
    """Judgements with errors on a random share of the documents."""
    wrong = np.random.default_rng(seed).random(labels.shape) < mistakes
    return {
        f"q{number}": dict(zip(DOCNOS, map(int, row))) for number, row in enumerate(labels ^ wrong)
    }


def runs(labels: np.ndarray, systems: int = 10, step: float = 0.25) -> dict[str, dict]:
    """Systems of different skill."""
    draw = np.random.default_rng(99)
    return {
        f"s{number}": {
            f"q{q}": dict(zip(DOCNOS, (number * step * row + draw.normal(size=len(row))).tolist()))
            for q, row in enumerate(labels)
        }
        for number in range(systems)
    }


def rows_of(report) -> pd.DataFrame:
    return report.agreement.set_index(["judge", "agreement"])


def tau_by(systems, *by: tuple[dict, str], tau=scipy.stats.kendalltau) -> float:
    """Kendall's tau between the rankings by two qrels and measures, by SciPy, or another one."""
    means = [
        asl.evaluate(systems, qrels, [measure]).groupby("name", sort=False)[measure].mean().round(9)
        for qrels, measure in by
    ]
    found = tau(*means)
    return getattr(found, "statistic", found)


# Which grades are relevant

GRADED = {f"q{n}": {"a": 2 + n % 2, "b": 1, "c": 0, "d": 1 + n % 3} for n in range(6)}
BINARY = {f"q{n}": {"a": 1, "b": n % 2, "c": 0, "d": 1} for n in range(6)}
RANKINGS = {
    name: {f"q{n}": dict(zip(order, (4, 3, 2, 1))) for n in range(6)}
    for name, order in {"x": "abcd", "y": "dbac", "z": "cbda", "w": "bdca"}.items()
}


#: Measure, options, the measure by the graded labels, and what the label adds.
RELS = [
    *(("AP", {}, "AP", ""), ("AP", {"rel": 1, "judge_rel": 1}, "AP", "")),
    ("AP", {"rel": 2, "judge_rel": {"m": 1}}, "AP(rel=2)", ", m: rel=1"),
    ("AP(rel=2)", {"judge_rel": {"m": 1}}, "AP(rel=2)", ", m: rel=1"),
    ("AP(rel=2)", {"judge_rel": 1}, "AP(rel=2)", ", m: rel=1"),
    ("AP(rel=2)", {"rel": 1, "judge_rel": 1}, "AP(rel=2)", ", m: rel=1"),
    ("nDCG@3", {"rel": 2, "judge_rel": 1}, "nDCG@3", ""),
]


@pytest.mark.parametrize(("measure", "options", "graded", "judge"), RELS)
def test_a_measures_own_rel_beats_rel_and_a_judges_own_beats_both(measure, options, graded, judge):
    report = asl.judges(GRADED, {"m": BINARY}, RANKINGS, [measure], test="t", draws=5, **options)
    rows = report.agreement[report.agreement["agreement"] == "tau"]
    assert rows["measure"].tolist() == report.reversals["measure"].tolist() == [graded + judge]
    tau = tau_by(RANKINGS, (GRADED, graded), (BINARY, graded.removesuffix("(rel=2)")))
    assert rows["value"].iloc[0] == pytest.approx(tau)


# The human range


def test_the_human_range_is_on_the_pairs_that_the_judge_and_all_people_judged():
    """On 20 easy documents only the first person and the machine have labels, and they agree."""
    labels = truth(12)
    people = [judged(labels, 0.15, seed) for seed in (2, 3)]
    machine = judged(labels, 0.3, 4)
    easy = {f"e{number}": number % 2 for number in range(20)}
    wider = {q: docs | easy for q, docs in people[0].items()}
    machine_wider = {q: docs | easy for q, docs in machine.items()}

    def rows(first, model):
        others = {"second": people[1], "model": model}
        how = {"people": ["second"], "reference": "first", "test": "t", "draws": 10}
        report = asl.judges(first, others, runs(labels, 6, 0.3), "P@5", **how)
        table = report.agreement
        return table[table["judge"] == "model"].set_index("agreement"), report

    narrow, _ = rows(people[0], machine)
    wide, report = rows(wider, machine_wider)
    columns = "value ci_low ci_high human_low human_high less_human less_low less_high".split()
    for kind in ("agreement", "kappa", "tau", "tau_AP", "RBO"):
        assert wide.loc[kind, columns].tolist() == pytest.approx(narrow.loc[kind, columns].tolist())
        assert wide.loc[kind, ["pairs", "queries", "human_pairs"]].tolist() == [360, 12, 360]
    # Table, sentence and chart show the same value.
    value = wide.loc["kappa", "value"]
    (line,) = [text for text in report.sentences() if text.startswith("model: ")]
    assert f"kappa {value:.3f} [" in line and "people among themselves" in line
    assert (
        "Caution: the values are on the 360 pairs of query and document that model and all people "
        "judged; on the 600 that model and first judged they can differ."
    ) in line
    (drawn,) = report.chart().to_dict()["datasets"].values()
    (drawn,) = (row for row in drawn if (row["judge"], row["agreement"]) == ("model", "kappa"))
    assert (drawn["value"], drawn["label"]) == (value, "model (n = 360)")
    # The agreement without a range is on all pairs that both have judged.
    alone = asl.judges(wider, {"model": machine_wider}, draws=5).agreement.iloc[0]
    pairs = [(wider[q][d], machine_wider[q][d]) for q in wider for d in wider[q]]
    assert alone["value"] == pytest.approx(np.mean([a == b for a, b in pairs]))
    assert alone["pairs"] == 600 and alone["human_pairs"] == 0


def test_a_judge_without_a_pair_that_all_people_judged():
    person, second = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 0}}
    given = {"one": {**person, "p": {"z": 1}}, "two": second, "m": {"p": {"z": 1}}}
    judges = Judges.of(given, people=["one", "two"])
    summary = summary_of(judges, [], draws=5)
    table = summary.agreement.query("agreement == 'kappa'").set_index("judge")
    assert table.loc["m", "human_pairs"] == 0 and table.loc["m", "verdict"] == UNKNOWN
    unknown = "How people agree is unknown: "
    lines = summary.lines()
    assert f"{unknown}no document was judged by m and all people." in lines["m"]
    assert f"{unknown}two is one of two people." in lines["two"]


def test_judges_without_a_query_of_all_can_still_agree_on_documents():
    docs = {"a": 1, "b": 0, "c": 1}
    given = {"x": {"p": docs}, "y": {"p": docs, "q": docs}, "z": {"q": docs}}
    judges = Judges.of(given, people=["x", "y"])
    summary = summary_of(judges, [], draws=5)
    kappa = summary.agreement.query("agreement == 'kappa'").set_index("judge")
    assert kappa.loc["y", "value"] == 1 and np.isnan(kappa.loc["z", "value"])
    assert summary.lines()["z"].startswith("z: no document was judged by z and x.")
    assert summary.best == [] and summary.differences.empty  # y and z share no pair with x
    with pytest.raises(ValueError, match="no query was judged by all judges"):
        _ = judges.qids


ROW = {"judge": "m", "reference": "nist", "measure": "", "agreement": "kappa", "value": 0.373}
ROW |= {"ci_low": 0.3, "ci_high": 0.45, "human_low": 0.218, "human_high": 0.218, "queries": 40}
ROW |= {"verdict": WITHIN, "human_pairs": 18386, "pairs": 18386, "judged_by_both": 18386}
TAU = {"agreement": "tau", "measure": "AP", "value": 0.883, "human_low": 0.79, "human_high": 0.85}


def line_of(*changes: dict) -> str:
    rows = [ROW | {"agreement": "agreement"}, *(ROW | changed for changed in changes)]
    (line,) = judge_lines(pd.DataFrame(rows), ["nist", "second"]).values()
    return line


def test_a_line_says_what_a_judge_can_be_used_for():
    little = "Caution: people agree little with each other on labels (kappa 0.218)."
    assert line_of({}, TAU) == (
        "m: ranks systems as people do by AP (tau 0.883 [0.300, 0.450] on 18,386 pairs; people "
        "among themselves 0.790 to 0.850); labels agree little (kappa 0.373 [0.300, 0.450]), as "
        f"people's do (0.218). {little}"
    )
    below = line_of({"verdict": BELOW, "human_low": 0.4, "value": 0.4}, TAU | {"verdict": BELOW})
    assert below.startswith("m: ranks systems less like people than people do by AP (tau 0.883 [")
    assert below.endswith(
        "; labels agree (kappa 0.400 [0.300, 0.450]), less than people's (0.400 to 0.218)."
    )
    open_ = line_of({"verdict": UNDECIDED, "queries": 9}, TAU | {"verdict": UNDECIDED})
    assert "perhaps as people do, which 40 queries do not show by AP (tau" in open_
    assert "; people's have 0.218, and 9 queries do not show whether that is more." in open_
    assert open_.endswith("Caution: intervals of 9 queries are too narrow (10 are needed).")
    assert "the 18,386 pairs of query" in line_of({"judged_by_both": 18387})


def test_kappa_of_one_class_is_not_informative():
    """Qrels with relevant documents only: kappa would be 0 at any agreement."""
    labels = truth(20)
    only = {q: dict.fromkeys(docs, 1) for q, docs in judged(labels, 0, 2).items()}
    machine = judged(labels, 0, 2)
    share = float(labels.mean())
    for first, other, rates in ((only, machine, (1, share)), (machine, only, (share, 1))):
        report = asl.judges(first, {"m": other}, draws=20, reference="nist")
        rows = report.agreement.set_index("agreement")
        assert rows.loc["kappa", ["value", "ci_low", "ci_high"]].isna().all()
        assert rows.loc["agreement", "value"] == pytest.approx(share)
        assert rows.loc["kappa", ["reference_relevant", "relevant"]].tolist() == list(rates)
        assert report.sentences()[0] == (
            "m: kappa is not informative, because all labels of a judge are the same: agreement "
            f"{share:.3f}, share of relevant documents by nist {rates[0]:.3f}, m {rates[1]:.3f}."
        )
        assert report.sentences()[1:] == ["How people agree is unknown: there is one person."]
        assert set(rows["verdict"]) == {UNKNOWN} and report.chart().to_dict()


def test_values_match_the_definitions_on_the_pairs_that_both_judged():
    """JUDGE lacks queries and documents of the qrels, and has others."""
    systems, qrels = collection(systems=12)
    both = {q: qrels[q].keys() & JUDGE[q].keys() for q in qrels if q in JUDGE}
    shared = [{q: {d: by[q][d] for d in both[q]} for q in both} for by in (qrels, JUDGE)]
    whole = [{q: by[q] for q in both} for by in (qrels, JUDGE)]
    report = asl.judges(qrels, {"m": JUDGE}, systems, "AP", rel=2, draws=5)
    rows = rows_of(report).loc["m"]
    expected, other = (tau_by(systems, *((by, "AP(rel=2)") for by in of)) for of in (shared, whole))
    assert rows.loc["tau", "value"] == pytest.approx(expected) != pytest.approx(other)
    by = [(qrels, "AP(rel=2)") for qrels in shared]
    ways = [tau_by(systems, *of, tau=tau_ap) for of in (by, by[::-1])]
    assert rows.loc["tau_AP", "value"] == pytest.approx(np.mean(ways)) and ways[0] != ways[1]
    a, b = (np.array([grade for docs in of.values() for grade in docs.values()]) for of in shared)
    assert (rows["pairs"] == len(a)).all()
    table = pd.crosstab(a >= 2, b >= 2).to_numpy()
    assert rows.loc["kappa", "value"] == pytest.approx(cohens_kappa(table).kappa)
    assert rows.loc["agreement", "value"] == pytest.approx(np.mean((a >= 2) == (b >= 2)))
    shares = rows.loc["kappa", ["reference_relevant", "relevant"]]
    assert shares.tolist() == pytest.approx([np.mean(a >= 2), np.mean(b >= 2)])
    confusion = report.confusion.set_index(["grade_a", "grade_b"])
    grades = confusion["pairs"]
    assert grades[0, 3] == np.sum((a == 0) & (b == 3)) != grades[3, 0] and grades.sum() == len(a)
    assert confusion["share_of_a"][0, 3] == pytest.approx(grades[0, 3] / np.sum(a == 0))


# Which judge?


def test_nine_judges_can_be_distinguished_by_few_draws():
    """A p of 36 pairs of judges cannot be significant with 1,000 draws."""
    labels = truth(12)
    names = {f"j{number}": 0.05 + 0.35 * (number > 0) for number in range(9)}
    others = {n: judged(labels, wrong, seed) for seed, (n, wrong) in enumerate(names.items(), 5)}
    report = asl.judges(judged(labels, 0.02, 20), others, draws=10)
    kappa = report.differences.query("agreement == 'kappa'")
    best = kappa[kappa["judge"] == "j0"]
    assert len(kappa) == 36 and len(best) == 8
    assert report.draws == 7200 and 36 * 2 / 1001 > 0.05
    assert (best["p"] == 0).all() and best["significant"].all()
    assert "<0.01 " in str(report)  # 36 * 2 / 7201


def test_agreement_of_every_two_judges_and_one_opinion_of_copies():
    """JUDGE has other queries and documents than the qrels; pairs that both judged count."""
    copy = {q: docs | {"other": 2} for q, docs in JUDGE.items()}
    judges = {"j": JUDGE, "copy": copy, "half": {q: QRELS[q] for q in list(QRELS)[:6]}}
    report = asl.judges(QRELS, judges, RUNS, ["P@5"], reference="nist", draws=5, test="t")
    every = {"nist": QRELS, **judges}
    among = report.among.set_index(["judge", "other", "agreement"])
    for a, b in combinations(every, 2):
        pairs = [(q, d) for q, docs in every[a].items() for d in docs if d in every[b].get(q, {})]
        shared = {
            name: {q: {d: every[name][q][d] for p, d in pairs if p == q} for q, _ in pairs}
            for name in (a, b)
        }
        tables = pd.crosstab(*([shared[n][q][d] >= 1 for q, d in pairs] for n in (a, b)))
        kappa, tau = (among.loc[(a, b, kind)] for kind in ("kappa", "tau"))
        assert kappa["value"] == pytest.approx(cohens_kappa(tables.to_numpy()).kappa)
        assert kappa["pairs"] == tau["pairs"] == len(pairs)
        assert tau["value"] == pytest.approx(tau_by(RUNS, *((shared[n], "P@5") for n in (a, b))))
    kappa = among["value"].xs("kappa", level="agreement")
    with_nist = kappa["nist", "j"], kappa["nist", "copy"]
    assert kappa["j", "copy"] == 1 > 0.95 > max(with_nist) and kappa["nist", "half"] == 1
    ends = " to ".join(dict.fromkeys(f"{end:.3f}" for end in sorted(with_nist)))
    says = f"j and copy are one opinion: their kappa with each other is 1.000, with nist {ends}."
    assert says in report.best and says in report.sentences()[0]
    shown = report._tables()["among"].table.set_index("judge")
    assert shown.loc["half", "nist"] == shown.loc["nist", "half"] == 1 and np.isnan(shown["j"]["j"])
    assert "Judges among themselves" in json.dumps(report.chart("among").to_dict())


def _file(path, rows, judge):
    lines = [{judge: name, "qid": q, "docno": d, "score": g} for name, q, d, g in rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_a_column_of_judges_has_several_judges_or_people(tmp_path):
    labels = truth(12)
    own = {name: judged(labels, 0.1, seed) for seed, name in enumerate("xyz")}
    of_all = [(n, q, d, g) for n in "xyz" for q, docs in own[n].items() for d, g in docs.items()]
    rows = np.random.default_rng(1).permutation(of_all).tolist()
    path = _file(tmp_path / "j.jsonl", rows, "rater")
    machine, nist = judged(labels, 0.2, 9), judged(labels, 0.05, 8)
    report = asl.judges(nist, {"J": path}, judge_rel={"J": 1}, people=["J"], draws=5)
    direct = asl.judges(nist, {f"J/{n}": own[n] for n in "xyz"}, draws=5)
    value = rows_of(report)["value"]
    for name in "xyz":
        assert value[f"J/{name}", "kappa"] == rows_of(direct)["value"][f"J/{name}", "kappa"]
    assert len({value[f"J/{name}", "kappa"] for name in "xyz"}) == 3
    assert set(report.people) == {"reference", "J/x", "J/y", "J/z"}
    # Several people of the qrels are the human range; the reference is one of them.
    people = asl.judges(path, {"m": machine}, reference="y", draws=5)
    rest = {"x": own["x"], "z": own["z"], "m": machine}
    same = asl.judges(own["y"], rest, people=["x", "z"], reference="y", draws=5)
    columns = ["value", "human_low", "human_high", "less_human"]
    mine, theirs = (rows_of(of).loc[("m", "kappa"), columns] for of in (people, same))
    assert mine.tolist() == pytest.approx(theirs.tolist()) and people.reference == "y"
    with pytest.raises(ValueError, match="of one machine by one judgement of people, not of peop"):
        asl.audit(runs(labels), nist, "AP", path)


def test_different_labels_of_a_pair_by_one_judge_are_an_error(tmp_path):
    """Of 4 pairs 3 have two labels, 2 of them different ones."""
    labels = [("q", "a", 0), ("q", "b", 1), ("p", "a", 2), ("q", "c", 1), ("q", "a", 1)]
    labels += [("q", "b", 1), ("p", "a", 1)]
    path = _file(tmp_path / "j.jsonl", [("", *row) for row in labels], "note")
    nist = {"q": {"a": 1, "b": 0, "c": 1}, "p": {"a": 1}}
    says = (
        r"judge 'J' \(.*j.jsonl\) labels 3 pairs of query and document several times, 2 of them "
        r"differently \(by label 100 % of 0, 67 % of 1, 100 % of 2\), "
        r"such as 'a', 0 and 1 for query 'q'\. Keep"
    )
    for call, message in (
        (lambda: asl.judges(nist, {"J": path}), says),
        (lambda: asl.audit(TWO_RUNS, nist, "AP", path), "judge 'machine'"),
        (lambda: asl.plan_audit(TWO_RUNS, nist, "AP", path), "judge 'machine'"),
        (lambda: asl.ranks(TWO_RUNS, nist, "AP", judges={"J": path}), "judge 'J'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_labels_of_passages_are_labels_of_their_documents():
    """With ``collapse`` the highest of each document, in ``judges``, ``audit`` and ``ranks``."""
    by_people = judged(truth(12), 0.1, 3)
    draw = np.random.default_rng(4)
    by_judge = judged(truth(12), 0.2, 5)
    passages = {
        qid: {
            f"{docno}#{number}": grade * (number == best)
            for docno, grade in labels.items()
            for best in [draw.integers(3)]
            for number in draw.permutation(3)
        }
        for qid, labels in by_judge.items()
    }
    systems = {
        name: {qid: {f"{d}#0": score for d, score in of.items()} for qid, of in run.items()}
        for name, run in runs(truth(12)).items()
    }
    qrels = asl.Qrels(by_people, collapse="#")
    by_judge, by_passages = {"m": by_judge}, {"m": passages}
    first = dict(list(by_people.items())[:10])
    for results in (
        lambda of: asl.judges(qrels, of, systems, "AP", draws=9).agreement,
        lambda of: asl.ranks(systems, qrels, "AP", judges=of).table,
        lambda of: asl.audit(systems, asl.Qrels(first, collapse="#"), "AP", of["m"]).table,
    ):
        pd.testing.assert_frame_equal(results(by_passages), results(by_judge))
    last = {qid: {d.partition("#")[0]: g for d, g in of.items()} for qid, of in passages.items()}
    assert last != by_judge["m"]  # the last passage is not the best


def test_a_scale_that_differs_is_said():
    nist = {"q": {"a": 3, "b": 0, "c": 2, "d": 1}}
    for scale, least, says in (
        (
            (1, 0, 1, 0),
            1,
            r"labels go from 0 to 1, people's to 3, .* from 1 on: --judge-rel m=0.5\?",
        ),
        ((5, 1, 4, 2), 2, r"labels go from 1 to 5, people's to 3, .* from 2 on: --judge-rel m=3\?"),
    ):
        other = {"q": dict(zip("abcd", scale))}
        [note] = Judges.of({"people": nist, "m": other}, rel=least).notes_on()
        assert re.match(f"m's {says}", note)
        assert Judges.of({"people": nist, "m": other}, judge_rel={"m": 1}).notes_on() == []
    judges = Judges.of({"people": nist, "m": other}, RUNS)
    of_measure = judges.notes_on(named_measures("P(rel=3)@2 P(rel=2)@2"))
    assert [" from 1 on" in judges.notes_on()[0], " from 2 on" in of_measure[0]] == [True, True]
    own = {"q": {"a": 2, "b": 1, "z": 3}}  # a 3 for a document that people did not judge
    assert Judges.of({"people": {"q": {"a": 2, "b": 0}}, "m": own}).notes_on() == []


def shared_with(qrels, left_out):
    return {q: {d: g for d, g in docs.items() if d not in left_out} for q, docs in qrels.items()}


def test_two_judges_are_compared_in_the_same_draws_on_the_pairs_of_both():
    """A loop over the draws, where one judge lacks two documents of each query."""
    labels, systems = truth(14), runs(truth(14), 7, 0.2)
    mistakes = {"nist": 0.05, "good": 0.1, "bad": 0.4, "worse": 0.45}
    qrels = {n: judged(labels, wrong, seed) for seed, (n, wrong) in enumerate(mistakes.items(), 2)}
    qrels["bad"] = shared_with(qrels["bad"], {"d3", "d8"})
    others = {name: of for name, of in qrels.items() if name != "nist"}
    how = {"reference": "nist", "test": "t", "draws": 60, "seed": 3, "alpha": 0.2}
    report = asl.judges(qrels["nist"], others, systems, ["P@5", "AP"], **how)
    keys = ["measure", "agreement", "judge", "other"]
    rows = report.differences.set_index(keys).sort_index()
    first, second = "good", "bad"
    if ("AP", "tau", first, second) not in rows.index:  # the one that agrees more is first
        first, second = second, first
    row = rows.loc[("AP", "tau", first, second)]
    shared = {name: shared_with(qrels[name], {"d3", "d8"}) for name in ("nist", "good", "bad")}
    values = {
        name: asl.evaluate(systems, of, "AP").pivot(index="name", columns="qid", values="AP")
        for name, of in shared.items()
    }
    matrices = {name: of[list(shared["nist"])].to_numpy() for name, of in values.items()}
    counts = np.random.default_rng(3).multinomial(14, np.full(14, 1 / 14), 60)

    def less(weights):
        means = {name: (of @ weights).round(9) for name, of in matrices.items()}
        tau = {n: scipy.stats.kendalltau(means["nist"], means[n]).statistic for n in means}
        return tau[second] - tau[first]

    drawn = np.array([less(weights / 14) for weights in counts])
    observed = less(np.full(14, 1 / 14))
    half = np.diff(np.quantile(drawn, [0.1, 0.9]))[0] / 2
    assert row["difference"] == pytest.approx(observed) and observed < 0
    assert row["ci_low"] == pytest.approx(observed - half)
    assert row["ci_high"] == pytest.approx(observed + half)
    assert (row["pairs"], row["queries"]) == (14 * 28, 14)
    # At the level p the interval ends at 0.
    ends = np.quantile(drawn, [row["p"] / 2, 1 - row["p"] / 2])
    assert np.diff(ends)[0] / 2 == pytest.approx(-observed)
    for (_, _), own in report.differences.groupby(["measure", "agreement"]):
        corrected = multipletests(own["p"], method="holm")[1]
        assert own["p_corrected"].tolist() == pytest.approx(corrected.tolist())
        assert own["significant"].tolist() == (corrected <= 0.2).tolist()
        assert (own["difference"] <= 0).all()
    assert len(rows.loc[("", "kappa")]) == 3
    best, *_ = report.sentences()
    table = report.agreement.set_index(["measure", "agreement", "judge"])
    tau = table.loc[("P@5", "tau"), "value"]
    assert best.startswith(
        f"{tau.idxmax()} agrees best with nist on the ranking of 7 runs by P@5 (tau {tau.max():.3f}"
    )
    assert best.endswith("p is corrected for 3 pairs of judges, intervals are not).")
    is_worse = rows["significant"].xs("tau", level="agreement")
    assert is_worse["P@5"]["good"].all() and not is_worse["AP"].any()
    assert " agree significantly less (" in best  # by the first measure


def test_kappas_of_grades_of_one_scale_are_values():
    """Cohen 1960 and 1968, against statsmodels; grades of another scale have none."""
    draw = np.random.default_rng(5)
    first, other = draw.integers(0, 4, (2, 60))
    grades = [{"q": {f"d{n}": int(g) for n, g in enumerate(own)}} for own in (first, other)]
    counts = np.zeros((4, 4))
    np.add.at(counts, (first, other), 1)
    values = asl.judges(grades[0], {"m": grades[1]}, draws=5).agreement.set_index("agreement")
    for kind, wt in (("kappa_grades", None), ("kappa_linear", "linear")):
        assert values.loc[kind, "value"] == pytest.approx(cohens_kappa(counts, wt=wt).kappa)
    squares = np.subtract.outer(range(4), range(4)) ** 2
    assert values.loc["kappa_quadratic", "value"] == pytest.approx(
        cohens_kappa(counts, weights=squares).kappa
    )
    halves = {"q": {doc: grade // 2 for doc, grade in grades[1]["q"].items()}}
    kinds = asl.judges(grades[0], {"m": halves}, draws=5).agreement["agreement"]
    assert kinds.tolist() == ["agreement", "kappa"]
    one_class = {"q": dict.fromkeys(grades[0]["q"], 3)}
    rows = asl.judges(grades[0], {"m": one_class}, draws=5).agreement.set_index("agreement")
    assert rows.loc[["kappa_grades", "kappa_linear", "kappa_quadratic"], "value"].isna().all()


def test_fractional_grades_are_binned():
    person = {"q": {"a": 0, "b": 1, "c": 2, "d": 3}}
    mean_of_labels = {"q": {"a": 0.2, "b": 1.7, "c": 1.9, "d": 3}}
    report = asl.judges(person, {"m": mean_of_labels}, reference="nist", draws=5)
    matrix = report.confusion.set_index(["grade_a", "grade_b"])["pairs"]
    assert sorted(set(report.confusion["grade_b"])) == [0, 1, 3] and matrix.loc[2, 1] == 1
    assert matrix.sum() == 4
    assert "Documents by grade of nist (rows) and of the judge (columns):" in str(report)
    turned = asl.judges(mean_of_labels, {"m": person}, draws=5)
    assert turned.confusion.groupby("grade_a")["pairs"].sum().to_dict() == {0: 1, 1: 2, 3: 1}


@pytest.mark.parametrize(
    ("queries", "mistakes", "verdict"),
    [(150, 0.1, WITHIN), (150, 0.3, BELOW), (10, 0.15, UNDECIDED), (150, 0.02, WITHIN)],
)
def test_judges_of_known_agreement_with_two_people(queries, mistakes, verdict):
    labels = truth(queries)
    second, model = judged(labels, 0.1, 3), judged(labels, mistakes, 4)
    report = asl.judges(
        judged(labels, 0.1, 2), {"second": second, "model": model}, people=["second"], draws=300
    )
    row, second = (rows_of(report).loc[name, "kappa"] for name in ("model", "second"))
    assert (row["verdict"], second["verdict"]) == (verdict, UNKNOWN)  # there are no two others
    assert row["human_low"] == row["human_high"] == pytest.approx(second["value"])
    line = report.sentences()[2]
    says = {WITHIN: ", as people's do (", BELOW: ", less than people's ("}
    assert says.get(verdict, "10 queries do not show") in line
    assert f"(kappa {row['value']:.3f} [" in line and f"{row['human_low']:.3f}" in line


def test_how_much_less_a_judge_agrees_than_people_do():
    labels = truth(8)
    qrels = {
        name: judged(labels, wrong, seed)
        for seed, (name, wrong) in enumerate([("a", 0.1), ("b", 0.2), ("c", 0.1), ("m", 0.2)])
    }
    rest = {name: of for name, of in qrels.items() if name != "a"}
    report = asl.judges(qrels["a"], rest, people=["b", "c"], reference="a", draws=20)

    def agreed(x: str, y: str) -> float:
        pairs = [(qrels[x][q][d], qrels[y][q][d]) for q in qrels[x] for d in DOCNOS]
        return float(np.mean([one == other for one, other in pairs]))

    for judge in "mb":  # who is one of the people
        others = [person for person in "abc" if person != judge]
        beside = [
            agreed(judge, r) - np.mean([agreed(h, r) for h in others if h != r]) for r in others
        ]
        assert rows_of(report).loc[(judge, "agreement"), "less_human"] == pytest.approx(
            np.mean(beside)
        )


def test_a_single_query_has_no_interval_and_no_verdict():
    labels = truth(1)
    first = judged(labels, 0, 2)
    others = {"second": first, "model": judged(labels, 0.1, 3)}
    report = asl.judges(first, others, people=["second"], draws=10)
    ends = ["ci_low", "ci_high", "less_low", "less_high"]
    assert report.agreement[ends].isna().all(axis=None) and report.agreement["value"].notna().all()
    assert not any("[" in sentence for sentence in report.sentences())
    assert "and 1 query do not show" in report.sentences()[2]
    report.chart().to_dict()


def test_the_command(tmp_path, monkeypatch):
    """Its screen is a transcript."""
    monkeypatch.chdir(tmp_path)
    labels = truth(10)
    for name, seed in (("nist", 2), ("model", 3)):
        write_qrels(judged(labels, 0.1, seed), f"{name}.txt")

    def call(*arguments: str):
        return CliRunner().invoke(main, ["judges", "nist.txt", "--judge", *arguments])

    as_latex = call("model=model.txt", "-o", "latex").stdout
    assert r"\caption{Agreement with nist.txt. From, to: confidence interval" in as_latex
    assert "judge & agreement & value & from & to & pairs & queries" in as_latex
