"""The demo: the source of its documents, its numbers, and its sentences about them."""

import re

import brute_force
import pytest
from _systems import by_query
from click.testing import CliRunner

from pyterrier_asl import __version__
from pyterrier_asl.cli import main
from pyterrier_asl.experiment import demo, demo_collection
from pyterrier_asl.experiment.demo import BM25, FEEDBACK, SHORT

COLUMNS = ["AP", "nDCG@10", "RR", "R@1000", "ASL@1000", "ASL(g=10)@1000", "LexiP", "TBG"]
COLUMNS += ["AP_Rareness@100"]


def means(**values: list[float]) -> dict[str, dict[str, float]]:
    """Means of the systems a and b; ``ASL10`` stands for ASL(g=10)@1000."""
    names = {"ASL": "ASL@1000", "R": "R@1000", "ASL10": "ASL(g=10)@1000"}
    return {names.get(name, name): dict(zip("ab", pair)) for name, pair in values.items()}


# The numbers


@pytest.fixture(scope="module")
def generated() -> tuple[demo_collection.DemoCollection, demo.Demonstration]:
    collection = demo_collection.generated(documents=400, topics=10)
    return collection, demo.demonstrate(collection)


def test_the_table_is_what_loops_over_the_results_give(generated):
    collection, shown = generated
    values = shown.scores.set_index("run")
    assert values.columns.tolist() == COLUMNS
    assert re.search("could be the best.* by nDCG@10", shown.remarks[-1])
    assert values.index.tolist() == [BM25, FEEDBACK, SHORT] == list(demo.SYSTEMS)
    lengths = {d["docno"]: len(d["text"].split()) for d in collection.documents}
    judged = by_query(collection.qrels, "label")
    runs = {name: by_query(run, "score") for name, run in demo.retrieve(collection).items()}
    rankings = {
        name: {qid: brute_force.ranking(of[qid], judged[qid]) for qid in of}
        for name, of in runs.items()
    }
    for name, docs_of in rankings.items():
        for column, measure in {
            "ASL@1000": lambda docs, qid: brute_force.asl(docs, judged[qid], k=1000),
            "ASL(g=10)@1000": lambda docs, qid: brute_force.asl(docs, judged[qid], k=1000, g=10),
            "LexiP": lambda docs, qid: brute_force.lexip(docs, judged[qid]),
            "TBG": lambda docs, qid: brute_force.tbg(docs, judged[qid], lengths),
            "AP_Rareness@100": lambda docs, qid: brute_force.rareness(
                docs, judged[qid], [other[qid] for other in rankings.values()], k=100
            )[1],
        }.items():
            expected = sum(measure(docs, qid) for qid, docs in docs_of.items()) / len(judged)
            assert values.at[name, column] == pytest.approx(expected, abs=1e-9), (name, column)


def test_lost_is_what_a_loop_over_the_relevant_documents_gives(generated):
    collection, shown = generated
    run = demo.retrieve(collection)[SHORT]
    assert run.groupby("qid").size().max() == 200
    missing = total = 0.0
    not_found = 0
    for qid, of_query in collection.qrels.groupby("qid"):
        answer = run[run["qid"] == qid]
        docs = brute_force.ranking(dict(zip(answer["docno"], answer["score"])), {})
        wanted = set(of_query["docno"])
        found = [rank for rank, doc in enumerate(docs, 1) if doc in wanted]
        after_all = 1000 - len(found) + 1
        lost = len(wanted) - len(found)
        missing += lost * after_all / len(wanted)
        total += (lost * after_all + sum(r - i for i, r in enumerate(found))) / len(wanted)
        not_found += lost
    shares = not_found / len(collection.qrels), missing / total
    assert demo.missed_by(run, collection.qrels) == pytest.approx(shares, abs=1e-12)
    assert f"{shares[1]:.0%} ({shares[0]:.0%}) for '{SHORT}'." in shown.remarks[1]
    assert total / 10 == pytest.approx(shown.scores["ASL@1000"].iloc[2])


# The sentences


def test_order_names_the_pair_that_ap_and_asl_disagree_about_most():
    said = demo.about_order(means(AP=[0.3, 0.25], ASL=[201.0, 101.0], R=[0.7, 0.9]))
    assert said == (
        "AP puts 'a' above 'b' (0.3000 and 0.2500), ASL@1000 puts it below: a relevant "
        "document has on average 200 irrelevant documents above it in the first run and 100 in the "
        "second, with R@1000 0.70 and 0.90."
    )

    alike = demo.about_order(means(AP=[0.3, 0.25], ASL=[101.0, 201.0], R=[0.7, 0.9]))
    assert alike == "AP and ASL@1000 put no two systems into opposite orders."


def test_the_top_names_the_best_by_each_measure():
    said = demo.about_the_top(means(AP=[0.3, 0.3], ASL10=[3.0, 2.0], LexiP=[0.6, 0.5]))
    assert "'b'; by LexiP, the first before all others: 'a'; by AP: 'a' and 'b' alike." in said


# The command


@pytest.mark.slow
def test_generated_collection_has_a_system_that_ap_and_asl_disagree_about_too():
    first, *_ = demo.demonstrate(demo_collection.generated()).remarks
    assert "AP puts 'BM25 + feedback, first 200' above 'BM25'" in first


def test_command_prints_a_row_for_each_system_and_a_column_for_each_measure():
    printed = CliRunner().invoke(main, ["demo"], catch_exceptions=False)
    assert printed.exit_code == 0
    head, *rows = printed.stdout.split("\n\n")[2].splitlines()
    assert head.split() == [name.partition("@")[0] for name in COLUMNS]
    assert [row.split("  ")[0].strip() for row in rows[2:5]] == [BM25, FEEDBACK, SHORT]
    assert all(len(row.split()[-9:]) == 9 for row in rows[2:5])
    assert "Warning" not in printed.stderr
    assert printed.stdout.count("\n* ") == len(demo.SYSTEMS) + 5


def test_version_is_the_packages():
    assert __version__ in CliRunner().invoke(main, ["--version"]).stdout
