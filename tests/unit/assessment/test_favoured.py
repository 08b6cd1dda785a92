"""The runs that judges favour: table, sentences and chart of ``judges``."""

import numpy as np
import pytest
import scipy
from small import JUDGE, LACKED, collection

import pyterrier_asl as asl
from pyterrier_asl.assessment.favoured import favour_sentences

QUERIES = [f"q{number}" for number in range(12)]
DOCS = [f"d{number}" for number in range(8)]


def _labels(draw: np.random.Generator) -> dict:
    return {q: dict(zip(DOCS, (draw.random(8) < 0.4).astype(int).tolist())) for q in QUERIES}


@pytest.fixture(scope="module")
def data():
    """People, a judge, and runs of which the judge reranked "own"."""
    draw = np.random.default_rng(3)
    people, judge = _labels(draw), _labels(draw)
    for qid in QUERIES:
        people[qid]["d0"] = judge[qid]["d0"] = 1
        judge[qid] |= {doc: people[qid][doc] for doc in DOCS[:6]}
    runs = {
        f"r{quality}": {
            qid: {doc: label * quality + draw.random() for doc, label in people[qid].items()}
            for qid in QUERIES
        }
        for quality in np.linspace(0, 1, 6).round(1)
    }
    runs["own"] = {
        qid: {doc: label + draw.random() / 9 for doc, label in judge[qid].items()}
        for qid in QUERIES
    }
    return people, judge, runs


def test_the_reranked_run_is_named(data):
    people, judge, runs = data
    measures = ["nDCG@5", "nASL@8", "ASL@8"]
    report = asl.judges(people, {"llm": judge}, runs, measures, draws=9, test="t")
    table = report.favoured
    columns = ["judge", "measure", "run", "value", "people", "favour", "p", "judged"]
    assert list(table)[:8] == columns
    assert set(table["run"][table["p"] <= 0.05]) == {"own"}
    by_measure = {name: part.set_index("run") for name, part in table.groupby("measure")}
    for column, qrels in (("people", people), ("value", judge)):
        means = asl.evaluate(runs, qrels, "nDCG@5").groupby("name")["nDCG@5"].mean()
        assert by_measure["nDCG@5"][column].to_dict() == pytest.approx(means.to_dict())
    ours = by_measure["nDCG@5"]
    slope = scipy.stats.theilslopes(ours["value"], ours["people"]).slope
    above = ours["value"] - slope * ours["people"]
    line = ours["value"] - (above - above.mean())
    assert ours["expected"].tolist() == pytest.approx(line.tolist())
    assert ours["favour"].tolist() == pytest.approx((ours["value"] - line).tolist())
    assert (ours["judged"] == 1).all()
    cost, gain = by_measure["ASL@8"], by_measure["nASL@8"].reindex(by_measure["ASL@8"].index)
    assert cost["favour"].tolist() == pytest.approx((8 * gain["favour"]).tolist())
    assert cost["p"].tolist() == gain["p"].tolist()
    assert cost["value"]["own"] < cost["expected"]["own"]

    (sentence,) = favour_sentences(table[table["measure"] == "nDCG@5"], 0.05)["llm"]
    of = ours.loc["own"]
    p = f"= {of['p']:.3g}" if of["p"] else "< 0.0002"  # one of 2^12 sign vectors
    assert sentence == (
        f"llm favours 'own' by {of['favour']:.3g} nDCG@5 more than its value by people lets expect "
        f"(p {p}, over 7 runs; people judged 100 % of its top documents): was it retrieved or "
        "reranked by this judge, or trained on its labels?"
    )
    assert "llm favours 'own'" in str(report)
    panels = report.chart(kind="favoured").to_dict()["vconcat"]
    assert [panel["layer"][0]["title"] for panel in panels] == ["nDCG@5", "nASL@8", "ASL@8"]


def test_every_person_must_agree_and_people_favour_nothing(data):
    people, judge, runs = data
    alone = asl.judges(people, {"llm": judge}, runs, ["nDCG@5"], draws=9, test="t").favoured
    # The second person agrees with the judge, so against this person no run is favoured.
    how = {"people": ["second"], "draws": 9, "test": "t"}
    both = asl.judges(people, {"llm": judge, "second": judge}, runs, ["nDCG@5"], **how)
    assert set(both.favoured["judge"]) == {"llm"}
    assert both.favoured["p"].tolist() == [1.0] * 7
    assert set(both.favoured["person"]) == {"second"}
    said = " ".join(both.sentences())
    assert "favours none of 7 runs" in said and "favours '" not in said
    # Somebody who labels as the first person does not change anything.
    same = asl.judges(people, {"llm": judge, "second": people}, runs, ["nDCG@5"], **how)
    assert same.favoured["p"].tolist() == alone["p"].tolist()


def test_the_share_of_judged_documents_is_that_of_people():
    """JUDGE lacks two queries, has three others and has judged other documents."""
    runs, qrels = collection(16, 5)
    judge = {q: dict(list(docs.items())[::2]) | {"d1": 1} for q, docs in qrels.items()} | JUDGE
    judge = {q: docs for q, docs in judge.items() if q not in LACKED}
    report = asl.judges(qrels, {"llm": judge}, runs, ["nDCG@5"], draws=9, test="t")
    shares = report.favoured.set_index("run")["judged"]
    shared = [qid for qid in qrels if qid in judge]
    assert len(shared) == len(qrels) - 2 == len(judge) - 3
    for name, run in runs.items():
        top = {q: sorted((s, d) for d, s in run.get(q, {}).items())[:-6:-1] for q in shared}
        by_people, by_judge = (
            np.mean([sum(d in of[q] for _, d in top[q]) / max(len(top[q]), 1) for q in shared])
            for of in (qrels, judge)
        )
        assert shares[name] == pytest.approx(by_people) and by_people != by_judge


def test_what_cannot_be_tested_says_why(data):
    people, judge, runs = data
    few = {name: runs[name] for name in [*runs][-4:]}
    report = asl.judges(people, {"llm": judge}, few, ["nDCG@5"], draws=9, test="t")
    assert report.favoured.empty
    assert report.untested == (
        "llm against reference, nDCG@5: no test, because there are 4 runs and 12 queries that both "
        "judged: at least 5 runs and 10 queries are needed.",
    )
    assert report.untested[0].split(":")[0] in str(report)
    with pytest.raises(ValueError, match="no favour was tested: 5 runs, 10 queries"):
        report.chart(kind="favoured")
    assert asl.judges(people, {"llm": judge}, draws=9).favoured is None
    with pytest.raises(ValueError, match="kind 'bars' is unknown"):
        report.chart(kind="bars")


def test_a_judge_who_contradicts_people_favours_no_run(data):
    people, _, runs = data
    opposite = {q: {doc: 1 - label for doc, label in docs.items()} for q, docs in people.items()}
    report = asl.judges(people, {"llm": opposite}, runs, ["nDCG@5"], draws=9, test="t")
    assert report.favoured["p"].isna().all()
    assert "its values of the runs do not grow with the values by people" in report.untested[0]
