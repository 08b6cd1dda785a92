"""pt.asl.Experiment against pt.Experiment where it is correct, and against loops otherwise.
Tests of arguments.py, highlighting.py, recorder.py, trial.py."""

import pickle
import re
import time
import warnings
from contextlib import contextmanager

import brute_force
import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from _systems import QUERIES, Toy, expected, qrels, results, system, topics
from ir_measures import AP, RR, nDCG
from scipy import stats

from pyterrier_asl import ASL, AP_Rareness, Experiment, P_Rareness, RarenessPool, compare
from pyterrier_asl.measures import TBG, LexiP, nASL

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*fewer than 8:UserWarning",
    "ignore:There are shared pipeline:UserWarning",
    "ignore:precompute_prefix was True:UserWarning",
)


def systems(n=4):
    return {f"toy{i}": system(i) for i in range(n)}


def values(frame, measure):
    """The value of every query, by a loop or by ir_measures."""
    if measure == "ASL@5":
        return np.array(expected(lambda d, g: brute_force.asl(d[:5], g, k=5), frame, qrels()))
    run = frame.rename(columns={"qid": "query_id", "docno": "doc_id"})
    judged = qrels().rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    found = {m.query_id: m.value for m in ir_measures.iter_calc([measure], judged, run)}
    return np.array([found[q] for q in QUERIES])


@contextmanager
def without_warnings():
    """A warning is an error, except the one that the qrels of these tests have grades above 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*judged documents have a grade from")
        yield


def same(ours, theirs):
    """Asserts that the result has the columns and values of pt.Experiment."""
    assert set(ours.columns) == set(theirs.columns)
    pd.testing.assert_frame_equal(ours[theirs.columns], theirs, check_exact=True)


def experiment(made, measures, call=Experiment, **options):
    """The call with these systems, or so many, and the topics and qrels of these tests."""
    made = systems(made) if isinstance(made, int) else made
    return call(made, topics(), qrels(), measures, **options)


# Equal to pt.Experiment where it is correct

HIGHER = [AP, nDCG @ 10, RR, nASL @ 10, LexiP, TBG]


#: Options of pt.Experiment, each with one kind of systems; in the full suite with all kinds.
OPTIONS = [
    {"baseline": 1, "round": 2},
    {"baseline": 2, "correction": "bonferroni", "correction_alpha": 0.2},
    {"baseline": 1, "test": "wilcoxon"},
    {"baseline": 1, "test": lambda a, b: (0, float(np.mean(a) - np.mean(b)))},
    {"round": {"AP": 1, "TBG": 3}, "baseline": 0, "correction": "holm"},
    {"batch_size": 4, "baseline": 3},
    {"plan": "tree", "verbose": False, "baseline": 1},
    {"precompute_prefix": True},
    {"perquery": True, "round": 2},
    {"dataframe": False},
    {"dataframe": False, "perquery": True},
    {"filter_by_topics": False},
    {"filter_by_qrels": True},
    {"validate": "ignore"},
]
KINDS = ["list", "dict", "frames"]
CASES = [
    pytest.param(
        options,
        kind,
        id=re.sub(" at 0x[0-9a-f]+", "", f"{kind}-{options}"),
        marks=[pytest.mark.slow] if (i + j) % len(KINDS) else [],
    )
    for i, options in enumerate(OPTIONS)
    for j, kind in enumerate(KINDS)
]


@pytest.mark.parametrize(("options", "kind"), CASES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_it_returns_what_pt_experiment_returns(options, kind):
    def made():
        if kind == "dict":
            return systems()
        return list(systems().values()) if kind == "list" else [results(i) for i in range(4)]

    names = {"names": ["a", "b", "c", "d"]} if kind != "dict" else {}
    some = topics([*QUERIES[:5]])
    theirs = pt.Experiment(made(), some, qrels(), HIGHER, **names, **options)
    ours = Experiment(made(), some, qrels(), HIGHER, **names, **options)
    if isinstance(theirs, dict):
        assert ours == theirs
    elif options.get("perquery"):
        by = ["name", "qid", "measure"]
        ours, theirs = (frame.sort_values(by, ignore_index=True) for frame in (ours, theirs))
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    else:
        same(ours, theirs)


def test_both_are_a_tuple_with_names():
    theirs = experiment(2, HIGHER, pt.Experiment, perquery="both", round=2)
    ours = experiment(2, HIGHER, perquery="both", round=2)
    same(ours.averages, theirs.averages)
    both = ours.perquery, theirs.perquery
    same(*(frame.sort_values(["name", "qid", "measure"], ignore_index=True) for frame in both))
    assert ours[0] is ours.averages and "<table" in ours._repr_html_()
    ours = experiment(2, HIGHER, perquery="both", dataframe=False)
    assert ours == experiment(2, HIGHER, pt.Experiment, perquery="both", dataframe=False)


def test_text_means_what_pyterrier_means_by_it_before_what_ir_measures_does():
    asked = ["map", "ndcg_cut_10", "AP", "ASL@5", "nDCG@10", "recall", "num_q", "P_5", AP]
    table = experiment(2, asked)
    theirs = experiment(2, ["ndcg_cut_10", "recall", "num_q", AP], pt.Experiment)
    for name in set(theirs.columns):
        assert table[name].tolist() == theirs[name].tolist()
    assert table["map"].tolist() == theirs["AP"].tolist()
    assert table["nDCG@10"].tolist() == theirs["ndcg_cut_10"].tolist()
    asl = [np.mean(values(results(i), "ASL@5")) for i in range(2)]
    assert table["ASL@5"].tolist() == pytest.approx(asl)
    assert list(table.columns)[:6] == ["name", "map", "ndcg_cut_10", "AP", "ASL@5", "nDCG@10"]
    both = ["AP", "map", "sgnLP", "rrLP", "LexiP"]
    assert set(both) <= set(experiment(2, both, baseline=0))
    assert experiment(2, "map").columns.tolist() == ["name", "map"]
    table = experiment(2, [RR, ASL @ 5, AP, LexiP], baseline=0)
    assert list(table.columns[:6]) == ["name", "RR", "ASL@5", "AP", "LexiP", "RR +"]


def test_topics_without_judgements_do_not_spoil_the_averages():
    more = topics([*QUERIES, "q99"])
    made = {"a": Toy("a", results(1, [*QUERIES, "q99"]))}
    plain = pt.Experiment(made, more, qrels(), [AP, ASL])
    with without_warnings():
        same(Experiment(made, more, qrels(), [AP, ASL]), plain)
    with pytest.warns(UserWarning, match="1 topic not in the qrels .* the values are NaN"):
        both = Experiment(made, more, qrels(), [AP, ASL], perquery="both")
    same(both.averages, plain)
    assert both.perquery[both.perquery["qid"] == "q99"]["value"].isna().all()


@pytest.mark.parametrize("kind", [int, object, "category", "int64[pyarrow]"])
def test_query_ids_may_be_numbers(kind):
    def numbered(frame):
        return frame.assign(qid=frame["qid"].str[1:].astype(int).astype(kind))

    run = numbered(results(1))
    before = run.copy()
    table = Experiment([run], numbered(topics()), numbered(qrels()), [AP, ASL @ 5], names=["a"])
    assert table["ASL@5"].tolist() == pytest.approx([np.mean(values(results(1), "ASL@5"))])
    assert table["AP"].tolist() == pytest.approx([np.mean(values(results(1), AP))])
    pd.testing.assert_frame_equal(run, before)  # the frame of the user does not change


def test_topics_and_qrels_may_be_files(tmp_path):
    path = tmp_path / "qrels"
    lines = [f"{q} 0 {d} {label}" for q, d, label in qrels().itertuples(index=False)]
    path.write_text("\n".join(lines) + "\n")
    table = Experiment(systems(2), topics(), str(path), [AP])
    same(table, experiment(2, [AP], pt.Experiment))


def test_mean_response_time_belongs_to_the_system():
    slow = Toy("slow", results(1))
    transform = slow.transform

    def sleepy(inp):
        time.sleep(0.06)
        return transform(inp)

    slow.transform = sleepy
    asked = ["mrt", AP, AP_Rareness @ 5, "rrLP"]
    made = {"fast": system(0), "slow": slow}
    for plan in ({"plan": "tree", "verbose": False}, {"batch_size": 6}):
        table = experiment(made, asked, baseline="fast", **plan)
        assert table.columns.tolist()[:5] == ["name", "AP", "AP_Rareness@5", "rrLP", "mrt"]
        assert table["mrt"][1] >= 10 and table["mrt"][1] > table["mrt"][0]
        assert not [c for c in table.columns if c.startswith("mrt ")]
    table = experiment([system(0)], ["mrt", AP], names=["a"], dataframe=False)
    assert set(table["a"]) == {"AP", "mrt"}


# The direction


def marked(styler):
    """(row, column) -> the mark of the cell."""
    styler._compute()
    columns = list(styler.data.columns)
    return {(row, columns[column]): css for (row, column), css in styler.ctx.items() if css}


@pytest.mark.parametrize("how", ["bold", "colour"])
def test_highlight_follows_the_direction(how):
    styler = experiment(3, ["mrt", ASL @ 5, AP], baseline=0, highlight=how)
    table, cells = styler.data, marked(styler)
    for column, best in (("ASL@5", "idxmin"), ("AP", "idxmax"), ("mrt", "idxmin")):
        assert [row for row, name in cells if name == column] == [getattr(table[column], best)()]
    theirs = experiment(3, [AP], pt.Experiment, baseline=0, highlight=how)
    ours = experiment(3, [AP], baseline=0, highlight=how)
    assert marked(ours) == marked(theirs)


def test_highlight_marks_ties_and_averages_and_leaves_out_counts():
    made = {"a": system(2), "b": system(2), "c": system(1)}
    theirs = experiment(made, [AP], pt.Experiment, highlight="color")
    assert [row for row, _ in marked(theirs)] == [0, 1]
    assert marked(experiment(made, [AP], highlight="color")) == marked(theirs)
    table = experiment(3, [ir_measures.NumRet, AP], baseline=0, highlight="bold")
    names = {column for _, column in marked(table)}
    assert "AP" in names and not {column for column in names if column.startswith("NumRet")}
    both = experiment(2, [ASL], perquery="both", highlight="bold")
    assert marked(both.averages) and len(both.perquery) == 12


@pytest.mark.parametrize(
    "how, mark", [("bold", r"\bfseries"), ("color", r"{\cellcolor[HTML]{90EE90}}")]
)
def test_highlighted_values_are_marked_and_names_escaped_in_latex(how, mark, tmp_path):
    named = {"bm25_b.4": system(1), "50%": system(2)}
    table = experiment(named, [AP @ 100], highlight=how, round=4)
    text = table.to_latex()
    best = table.data["AP@100"].max()
    assert text.count(mark) == 1 and f"{mark} {best:.6f}" in text
    assert r"bm25\_b.4 &" in text and r"50\% &" in text and r"\toprule" in text
    assert "font-weight" not in text and "lightgreen" not in text
    table.to_latex(tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text() == text
    assert "name" in table.format(precision=2).to_latex() and ".00" not in text


def test_latex_marks_the_best_and_what_differs_from_the_baseline():
    """The p of the frame, and the direction of the measure: ASL falls where AP rises."""
    made = {"a_1": system(1), "b": system(2), "c": system(3), "d": system(4)}
    how = {"baseline": "c", "correction": "bh", "correction_alpha": 0.99}
    frame = experiment(made, [AP, ASL, ir_measures.NumRet], **how)
    text = experiment(made, [AP, ASL, ir_measures.NumRet], highlight="latex", **how)
    cells = {}
    for name, row in zip(made, text.partition("\\midrule\n")[2].splitlines()):
        cells[name] = row.removesuffix(r" \\").split(" & ")[1:]
    for row, name in enumerate(made):
        for column, (label, up) in enumerate({"AP": True, "ASL": False, "NumRet": None}.items()):
            mean, base = frame[label][row], frame[label][2]
            cell = f"{mean:.4f}"
            if up is not None and mean == (frame[label].max() if up else frame[label].min()):
                cell = rf"\textbf{{{cell}}}"
            if up is not None and frame[f"{label} p-value corrected"][row] <= 0.99:
                cell += "$^{+}$" if (mean > base) == up else "$^{-}$"
            assert cells[name][column] == cell
    marked = [cell[-3:-2] for row in cells.values() for cell in row if cell.endswith("}$")]
    assert {"+", "-"} == {*marked} and text.count("a\\_1 &") == 1
    assert "worse than c (t-test, correction: bh, $p \\leq 0.99$)" in text
    assert "significantly" not in experiment(made, [AP], highlight="latex")


# Preferences


def preferred(a, b, rel=1, k=1000, judged_only=False):
    """rrLP of every query, by a loop over its definition."""

    def loop(docs, grades):
        docs = [doc for doc in docs if doc in grades] if judged_only else docs
        return brute_force.reciprocal_ranks(docs[:k], grades, rel)

    both = (expected(loop, frame, qrels()) for frame in (a, b))
    return [brute_force.rr_lp(x, y) for x, y in zip(*both)]


@pytest.mark.parametrize(
    ("asked", "rel", "k", "options"),
    [
        ("", 1, 1000, {"batch_size": 2}),
        ("(rel=2)", 2, 1000, {"plan": "tree", "verbose": False}),
        ("@3", 1, 3, {}),
        ("(judged_only=True)", 1, 1000, {}),
    ],
)
def test_preferences_over_the_baseline(asked, rel, k, options):
    table = experiment(3, [f"sgnLP{asked}", AP, f"rrLP{asked}"], baseline=1, **options)
    for row in (0, 2):
        rrlp, other = (
            preferred(results(row), results(1), rel, k, only)
            for only in ("judged" in asked, "judged" not in asked)
        )
        assert rrlp != other
        wins, losses = sum(x > 0 for x in rrlp), sum(x < 0 for x in rrlp)
        for name in ("sgnLP", "rrLP"):
            assert table[f"{name}{asked} +"][row] == wins
            assert table[f"{name}{asked} -"][row] == losses
        assert table[f"rrLP{asked}"][row] == pytest.approx(np.mean(rrlp))
        assert table[f"sgnLP{asked}"][row] == pytest.approx(np.mean(np.sign(rrlp)))
        t = stats.ttest_1samp(rrlp, 0).pvalue
        assert table[f"rrLP{asked} p-value"][row] == pytest.approx(t, nan_ok=True)
        if wins + losses:
            sign = stats.binomtest(wins, wins + losses).pvalue
            assert table[f"sgnLP{asked} p-value"][row] == pytest.approx(sign)
    assert table[f"rrLP{asked}"][1] == 0 == table[f"sgnLP{asked}"][1]
    ends = ["+", "-", "p-value"]
    assert table.loc[1, [f"rrLP{asked} {end}" for end in ends]].isna().all()
    assert table.columns.tolist()[1:4] == [f"sgnLP{asked}", "AP", f"rrLP{asked}"]


def test_preferences_alone_for_every_query_and_against_several():
    each = experiment(3, ["rrLP"], baseline=["toy0", "toy2"], perquery=True)
    for row in each.itertuples():
        a, b = (results(int(name[-1])) for name in (row.name, row.measure[-4:]))
        assert row.measure == f"rrLP vs {row.measure[-4:]}"
        assert row.value == pytest.approx(preferred(a, b)[QUERIES.index(row.qid)])
    assert len(each) == 3 * 6 * 2


@pytest.mark.slow
def test_several_baselines_say_vs_whom():
    asked = [AP, ASL @ 5, "rrLP"]
    table = experiment(3, asked, baseline=[0, "toy2"], correction="holm")
    for number in (0, 2):
        alone = experiment(3, asked, baseline=number, correction="holm")
        for column in alone.columns[1:]:
            stem, _, end = column.partition(" ")
            wide = f"{stem} vs toy{number} {end}".strip()
            name = column if column in ("AP", "ASL@5") else wide
            pd.testing.assert_series_equal(table[name], alone[column], check_names=False)
    assert len(table.columns) == 1 + 2 + 2 + 2 * 3 * 5
    alone = experiment(3, [AP], baseline=[1])
    same(alone, experiment(3, [AP], pt.Experiment, baseline=1))


def test_corrections_count_every_system_but_the_baseline():
    made = systems(4) | {"again": system(1)}  # equal to the baseline, so p is 1
    table = experiment(made, ["rrLP", ASL @ 5], baseline=1, correction="bonferroni")
    for name in ("rrLP", "ASL@5"):
        p = table[f"{name} p-value"].to_numpy()
        got = table[f"{name} p-value corrected"].to_numpy()
        assert got[[0, 2, 3]] == pytest.approx(np.minimum(p[[0, 2, 3]] * 4, 1))
        assert p[4] == got[4] == 1 and np.isnan(got[1])
        assert table[f"{name} reject"].dtype == bool and not table[f"{name} reject"][[1, 4]].any()
    options = {"baseline": 1, "correction": "bonferroni", "correction_alpha": got[2]}
    rejected = experiment(made, [ASL @ 5], **options)["ASL@5 reject"]  # p at most alpha
    assert got[2] < 1 and rejected.tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("method", ["holm", "bonferroni", "bh", "none", "fdr_by"])
def test_corrections_have_the_names_of_compare_and_of_pyterrier(method):
    options = {"baseline": 0, "correction": method, "correction_alpha": 0.5}
    table = experiment(4, [ASL @ 5], **options)
    if method == "none":
        assert "ASL@5 p-value corrected" not in table
        return
    options["correction"] = {"bh": "fdr_bh"}.get(method, method)
    theirs = experiment(4, [ASL @ 5], pt.Experiment, **options)
    same(table.filter(regex="p-value"), theirs.filter(regex="p-value"))


# The pool of the systems of the experiment


def rareness(frames, row, k, alpha):
    """The mean of AP_Rareness@k, by a loop over its definition."""
    rankings = [expected(lambda docs, grades: docs, f, qrels()) for f in frames]
    grades = {f"d{d}": int(d < 4) for d in range(10)}
    pools = zip(rankings[row], map(list, zip(*rankings)))
    return np.mean([brute_force.rareness(d, grades, of, k, alpha)[1] for d, of in pools])


@pytest.mark.parametrize(
    "options",
    [{}, {"batch_size": 2, "baseline": 0}, {"plan": "tree", "verbose": False, "validate": "error"}],
    ids=str,
)
def test_rareness_gets_the_pool_of_the_systems_and_each_runs_once(options, capsys):
    made = systems(9)
    with without_warnings():
        warnings.filterwarnings("ignore", message="There are shared|The following pipelines")
        # ir_measures' parser, from Python 3.12 on
        warnings.filterwarnings("ignore", category=DeprecationWarning, message=r"(ast\.|Attribute)")
        table = experiment(made, [AP, "AP_Rareness(alpha=1)@5", P_Rareness @ 5, TBG], **options)
    batches = -(-6 // options.get("batch_size", 6))
    assert [one.calls for one in made.values()] == [batches] * 9
    frames = [results(i) for i in range(9)]
    for row in (0, 4, 8):
        rare = rareness(frames, row, 5, 1)
        assert table["AP_Rareness(alpha=1)@5"][row] == pytest.approx(rare)
    plain = experiment(9, [AP, TBG], pt.Experiment)
    assert table[["AP", "TBG"]].equals(plain[["AP", "TBG"]])
    said = capsys.readouterr().err
    assert "the 9 systems of the experiment: toy0, toy1" in said and "toy8" in said
    assert "P_Rareness@5" in table.columns


def test_the_pool_is_as_deep_as_the_measures_need_and_a_small_one_warns():
    asked = [P_Rareness @ 3, AP_Rareness(alpha=1, depth=5) @ 4, AP_Rareness]
    frames = [results(i) for i in range(3)]
    with pytest.warns(UserWarning, match="8 or more are needed"):
        table = experiment([Toy(str(i), f) for i, f in enumerate(frames)], asked)
    pool = RarenessPool.from_runs({str(i): f for i, f in enumerate(frames)}, name="mine")
    pooled = [measure(pool=pool) for measure in asked]
    known = experiment(frames, pooled, pt.Experiment)
    assert (table[list(map(str, asked))] == known[list(map(str, pooled))].to_numpy()).all(axis=None)
    assert experiment(2, pooled[:1]).columns[1].startswith("P_Rareness(pool='mine-")


# Saved results


@pytest.mark.parametrize("save_format", ["trec", pickle])
def test_saved_results_are_reused(tmp_path, save_format):
    saving = {"save_dir": str(tmp_path), "save_format": save_format}
    asked = ["map", ASL @ 5, AP_Rareness @ 5, "rrLP"]
    first = experiment(3, asked, baseline=0, **saving)
    made = systems(3)
    again = experiment(made, asked, baseline=0, **saving, save_mode="reuse")
    same(again, first)
    assert [one.calls for one in made.values()] == [0, 0, 0]
    saved = pd.read_csv(tmp_path / "aggregated.csv")
    assert saved.columns.tolist() == first.columns.tolist()
    each = pd.read_csv(tmp_path / "perquery.csv")
    assert set(each["measure"]) == {"map", "ASL@5", "AP_Rareness@5", "rrLP"}
    assert len(each) == 3 * 6 * 4


@pytest.mark.parametrize(
    ("round", "of_means", "by_query", "perquery"),
    [(2, (2, 2), 2, "both"), ({"ASL@5": 1}, (9, 1), 9, True)],
)
def test_summaries_are_rounded_as_the_results(tmp_path, round, of_means, by_query, perquery):
    """Also by options that nothing but the summaries use."""
    exact = experiment(3, ["map", ASL @ 5], perquery="both", baseline=1)
    options = {"perquery": perquery, "baseline": 1, "save_dir": tmp_path, "round": round}
    experiment(3, ["map", ASL @ 5], **options)
    means = pd.read_csv(tmp_path / "aggregated.csv")
    for measure, places in zip(("map", "ASL@5"), of_means):
        assert means[measure].round(9).equals(exact.averages[measure].round(places))
    p = "ASL@5 p-value"
    assert means[p].tolist() == pytest.approx(exact.averages[p].tolist(), abs=1e-12, nan_ok=True)
    saved, values = pd.read_csv(tmp_path / "perquery.csv")["value"], exact.perquery["value"]
    assert saved.round(9).tolist() == values.round(by_query).tolist()


@pytest.mark.parametrize(
    "content, why",
    [
        (b"name,map\na,0.5\nb,0.5,7\n", "Expected 2 fields in line 3"),
        (b"", "No columns"),
        (b"\x00\xff\n1\n", "invalid start byte"),
        (b"system,map\na,0.5\n", "'name'"),
    ],
)
def test_a_damaged_summary_is_named(tmp_path, content, why):
    (tmp_path / "aggregated.csv").write_bytes(content)
    with pytest.raises(ValueError, match=f"aggregated.csv is not a summary.*({why})"):
        experiment(2, ["map"], save_dir=tmp_path)
    assert (tmp_path / "aggregated.csv").read_bytes() == content


def test_summaries_keep_earlier_systems_and_columns(tmp_path):
    experiment(2, ["map"], save_dir=tmp_path)
    with without_warnings():
        experiment({"1": system(7)}, ["map"], save_dir=tmp_path)
    experiment({"1": system(7)}, ["map", ASL], save_dir=tmp_path, save_mode="overwrite")
    saved = pd.read_csv(tmp_path / "aggregated.csv", dtype={"name": str})
    assert sorted(saved["name"]) == ["1", "toy0", "toy1"]
    assert saved.columns.tolist() == ["name", "map", "ASL"]


def test_summaries_know_systems_and_queries_by_any_name(tmp_path):
    """Also names that mean a missing value in CSV."""
    for number in (1, 2):
        made = {name: system(number) for name in ("NA", "None", "007", "1", "a\nb")}
        table = experiment(made, ["map"], save_dir=tmp_path, save_mode="overwrite")
        saved = pd.read_csv(tmp_path / "aggregated.csv", dtype={"name": str}, na_filter=False)
        assert saved["name"].tolist() == list(made)
        assert saved["map"].tolist() == pytest.approx(table["map"].tolist(), rel=1e-12)
        each = pd.read_csv(tmp_path / "perquery.csv", dtype={"name": str}, na_filter=False)
        assert each["name"].value_counts().to_dict() == dict.fromkeys(made, 6)


def test_a_name_cannot_be_a_path(tmp_path):
    folder = tmp_path / "inner" / "saved"
    folder.mkdir(parents=True)
    for name in ("../a", "a/b", "/tmp/a"):
        with pytest.raises(ValueError, match=f"bad characters .*{name}"):
            experiment({name: system(1)}, [AP], save_dir=folder)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_only_what_is_not_saved_is_run(tmp_path):
    experiment(2, [AP], save_dir=tmp_path)
    made = systems(3)
    table = experiment(made, [P_Rareness @ 5], save_dir=tmp_path, save_mode="reuse")
    assert [one.calls for one in made.values()] == [0, 0, 1]
    same(table, experiment(3, [P_Rareness @ 5]))


# Warnings and errors


@pytest.mark.filterwarnings("default:.*judged documents have a grade from:UserWarning")
def test_grades_above_1_without_a_minimum_grade_are_warned_of():
    with pytest.warns(UserWarning, match="18 of 60 judged documents have a grade from 1"):
        experiment([results(1)], [AP], names=["a"])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*judged documents have a grade from")
        experiment([results(1)], [AP(rel=2), nDCG @ 10], names=["a"])


def test_a_system_that_shares_nothing_with_the_qrels_is_named():
    strange = Toy("strange", results(1).assign(docno=lambda f: "xx" + f["docno"]))
    for asked in ([AP], [P_Rareness @ 5]):
        with pytest.raises(ValueError, match="run 'b': none of the documents of the run is judged"):
            experiment({"a": system(1), "b": strange}, asked)
    others = topics().assign(qid=lambda f: "xx" + f["qid"])
    keep = {"filter_by_topics": False, "filter_by_qrels": False}
    other = Toy("other", results(1).assign(qid=lambda f: "xx" + f["qid"]))
    with pytest.raises(ValueError, match="run 'b': the run answers none of the 6 judged queries"):
        Experiment({"b": other}, others, qrels(), [AP], **keep)
    first = system(1)
    with pytest.raises(ValueError, match="run 'b': none"):  # raised before any system runs
        experiment({"a": first, "b": strange.results}, [AP])
    assert first.calls == 0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (results(1).iloc[:0], " has no results"),
        (results(1).assign(score=np.nan), ": the column score of .* is not a number"),
        (results(1).drop(columns=["score", "rank"]), ": the run: there is no column score"),
        (results(1).assign(score="high"), ": the column score of .* must be (a )?number"),
    ],
)
@pytest.mark.parametrize("asked", [AP, AP_Rareness])
@pytest.mark.filterwarnings("ignore:Experiment Pipeline Validation")
def test_results_that_cannot_be_scored_name_the_system(wrong, says, asked):
    for bad in (wrong, Toy("x", wrong)):
        with pytest.raises(ValueError, match=f"system 'b'{says}"):
            experiment({"a": system(1), "b": bad}, [asked])


@pytest.mark.parametrize(
    ("plan", "measures"), [({}, [AP, "mrt", "rrLP"]), ({"plan": "tree", "verbose": False}, [AP])]
)
def test_a_batch_without_results_is_an_error_that_names_the_system(plan, measures):
    made = [system(1), Toy("short", results(2, ["q1", "q2", "q5", "q6"]))]
    for size in (1, 2):
        with pytest.raises(ValueError) as caught:
            experiment(made, measures, baseline=0, batch_size=size, **plan)
        assert str(caught.value).startswith("system 'short' has no results for a batch of topics")
        assert "make batch_size larger, or leave it out" in str(caught.value)
    assert len(experiment(made, measures, baseline=0, batch_size=4, **plan)) == 2


P_CASES = {
    "ties": [[0.5, 0.5], [1.0, 0.5], [1 / 3, 0.5]],
    "no variance": [[0.5, 0.5], [1.0, 1.0], [0.5, 0.5]],
    "one query": [[0.5], [1.0], [0.5]],
    "many": [[1 / (1 + (q * s) % 7) for q in range(30)] for s in (1, 2, 3, 4)],
}


@pytest.mark.parametrize("case", P_CASES)
@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_p_is_the_p_of_compare(case, test):
    """Of a measure and a cost, of one and of several systems."""
    ranks = {f"s{s}": [round(1 / value) for value in of] for s, of in enumerate(P_CASES[case])}
    qids = [f"q{q}" for q in range(len(P_CASES[case][0]))]
    rows = {
        name: [(q, f"d{r}" if r != at else "a", -r) for q, at in zip(qids, of) for r in range(1, 9)]
        for name, of in ranks.items()
    }
    columns = ["qid", "docno", "score"]
    made = {name: pd.DataFrame(of, columns=columns) for name, of in rows.items()}
    judged = pd.DataFrame({"qid": qids, "docno": "a", "label": 1})
    options = {"baseline": 0, "test": test, "correction": "holm"}
    for names in (list(made), list(made)[:2]):
        few = {name: made[name] for name in names}
        table = Experiment(few, topics(qids), judged, [RR, ASL @ 9], **options)
        for measure in ("RR", "ASL@9"):
            expected = compare(few, judged, measure, baseline="s0", test=test).table
            own = expected[expected["measure"] == measure].set_index("run")
            found = table.set_index("name").loc[own.index]
            assert found[f"{measure} p-value"].tolist() == pytest.approx(own["p"], nan_ok=True)
            if test == "t" and case == "many" and len(names) == 2:
                assert found[f"{measure} p-value corrected"].tolist() == own["p"].tolist()


def test_preferences_take_the_rel_of_the_measures():
    asked = ["AP(rel=2)", "RR(rel=2)", "nDCG", "sgnLP"]
    follows = experiment(2, asked, baseline=0)
    said = experiment(2, ["sgnLP(rel=2)", "sgnLP"], baseline=0)
    beside = experiment(2, ["AP(rel=2)", "RR", "sgnLP"], baseline=0)
    assert follows["sgnLP"].tolist() == said["sgnLP(rel=2)"].tolist()
    assert beside["sgnLP"].tolist() == said["sgnLP"].tolist() != said["sgnLP(rel=2)"].tolist()
    own = experiment(2, ["AP(rel=2)", "sgnLP(rel=1)"], baseline=0)
    assert own["sgnLP(rel=1)"].tolist() == said["sgnLP"].tolist()
