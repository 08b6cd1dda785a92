"""``evaluate`` with the names and options of trec_eval, whose values pytrec_eval has."""

import ir_measures
import pytest
import pytrec_eval
from _calls import call
from _files import write_qrels, write_run

from pyterrier_asl.measures.parsing import parse_measures

#: q2 is not answered, and q3 has no document of grade 2.
QRELS = {"q3": {"a": 1, "b": 0}, "q1": {"a": 2, "b": 1, "c": 0, "d": 2}, "q2": {"a": 2, "b": 1}}
RUN = {"q1": {"c": 4.0, "a": 3.0, "b": 2.0, "x": 1.0}, "q3": {"b": 2.0, "a": 1.0}}

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_qrels(QRELS, "qrels")
    write_run(RUN, "a.run")
    write_run(RUN, "b.run")


def means(*arguments):
    done = call("evaluate", "qrels", "a.run", "-o", "tsv", *arguments)
    assert done.exit_code == 0, done.stderr
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def test_counts_keep_their_meaning_with_a_minimum_grade():
    """6 documents are retrieved, 3 of grade 1 or more, 1 of 2; 4 are relevant for q1 and q3."""
    names = "map num_ret num_rel num_rel_ret"
    by_trec_eval = pytrec_eval.RelevanceEvaluator(QRELS, {"num_ret", "num_rel_ret"}, 2)
    values = by_trec_eval.evaluate(RUN).values()
    expected = {name: sum(of[name] for of in values) for name in ("num_ret", "num_rel_ret")}
    assert expected == {"num_ret": 6, "num_rel_ret": 1}
    found = means("--rel", "2", "-m", names)
    assert found == {"AP(rel=2)": 0.0833, "num_ret": 6, "num_rel": 4, "NumRet(rel=2)": 1}
    found = means("-m", names)
    assert (found["num_ret"], found["num_rel"], found["num_rel_ret"]) == (6, 4, 3)
    assert means("--rel", "1", "-m", "AP NumRet(rel=2)")["NumRet(rel=2)"] == 1


def test_lists_and_single_names_print_alike():
    several = means("-m", "P.1,2 iprec_at_recall.0.10,0.50 ndcg_cut_2")
    names = "P_1 P_2 iprec_at_recall_0.10 iprec_at_recall_0.50 ndcg_cut_2".split()
    assert [*several] == names
    single = means(*(word for name in names for word in ("-m", name)))
    assert single == several == means("-m", "P.1 P.2 iprec_at_recall.0.10,0.50 ndcg_cut.2")
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"P.1,2", "iprec_at_recall.0.10,0.50"})
    by_query = evaluator.evaluate(RUN).values()
    for name in names[:4]:
        assert several[name] == pytest.approx(sum(of[name] for of in by_query) / 3, abs=5e-5)


@pytest.mark.parametrize("name", ["gm_map", "Rndcg", "G", "11pt_avg", "utility"])
def test_measures_that_ir_measures_lacks_get_the_list_of_those_it_has(name):
    done = call("evaluate", "qrels", "a.run", "-m", name)
    start, _, listed = done.stderr.partition("of trec_eval; it has ")
    assert done.exit_code == 2 and start.endswith(
        f"'{name}': ir_measures does not have this measure "
    )
    has = listed.strip().split(", ")
    assert len(has) == 21 and all(ir_measures.parse_trec_measure(own) for own in has)
    assert all(parse_measures(own) for own in has)


def test_options_of_trec_eval_are_taken_or_have_a_hint():
    assert means("-c", "-m", "map") == means("-m", "map") == {"map": 0.2963}
    lines = call("evaluate", "qrels", "a.run", "-c", "-q", "-m", "map", "-o", "tsv").stdout
    assert len(lines.splitlines()) == 4
    for option, hint in {"-M": "-m 'AP@100'", "-J": "-m 'AP(judged_only=True)'"}.items():
        for value in ([], ["100"]):
            done = call("evaluate", "-m", "map", "qrels", "a.run", option, *value)
            assert done.exit_code == 2 and f"there is no {option}: write " in done.stderr
            assert hint in done.stderr


def test_latex_has_a_caption_a_label_and_pages():
    arguments = ["-m", "map NumRet", "-o", "latex"]
    one = call("evaluate", "qrels", "a.run", *arguments).stdout
    assert r"\caption{Means over 3 queries.}" in one and r"\label{tab:evaluation}" in one
    two = call("evaluate", "qrels", "a.run", "b.run", *arguments).stdout
    assert r"\caption{Means over 3 queries; bold: the best of each measure.}" in two
    assert r"\begin{table}" in two and "longtable" not in two
    values = call("evaluate", "qrels", "a.run", "-q", *arguments).stdout
    assert r"\caption{Values over 3 queries.}" in values
    tracks = ["--track", "x", "qrels", "a.run", "--track", "y", "qrels", "a.run"]
    assert (
        "Means over 3 queries of x and 3 queries of y."
        in call("evaluate", *tracks, *arguments).stdout
    )
    files = [str(write_run(RUN, f"r{n}.run")) for n in range(50)]
    many = call("evaluate", "qrels", *files, *arguments).stdout
    assert r"\begin{longtable}" in many and r"\begin{table}" not in many
    assert r"\caption{" in many and r"\label{tab:evaluation}" in many
