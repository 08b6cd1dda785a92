"""``pyterrier-asl tune`` prints the values of the pipeline with the printed settings."""

import gzip
import json
import math
import re
import sys
from pathlib import Path

import brute_force
import ir_measures
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from _calls import call, rows
from click.testing import Result

from pyterrier_asl import RobertsonPRF, TermIndex
from pyterrier_asl.common.extras import install_command
from pyterrier_asl.tuning import clarke

pytest.importorskip("optuna")

WORDS = [f"w{number}" for number in range(30)]


def made_up(seed: int) -> tuple[dict[str, str], dict[str, str], dict[str, dict[str, int]]]:
    """Documents, queries and judgements."""
    draw = np.random.default_rng(seed)
    share = 1 / np.arange(3, len(WORDS) + 3)
    docs = {
        f"d{number}": " ".join(draw.choice(WORDS, draw.integers(3, 30), p=share / share.sum()))
        for number in range(60)
    }
    queries = {f"q{number}": " ".join(draw.choice(WORDS[5:], 2)) for number in range(6)}
    # Documents with more words of the query are relevant more often.
    qrels = {
        qid: {
            docno: int(sum(text.split().count(w) for w in query.split()) + draw.normal() > 1.5)
            for docno, text in docs.items()
        }
        for qid, query in queries.items()
    }
    return docs, queries, qrels


WORLDS = {"here": made_up(1), "there": made_up(2)}


def write_collection(folder: Path, documents: list[dict], queries: str, judged: str) -> None:
    folder.mkdir()
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    (folder / "docs.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "queries.tsv").write_text(queries)
    (folder / "qrels.txt").write_text(judged)


@pytest.fixture
def folders(tmp_path, monkeypatch) -> Path:
    """The folder the command is run in: two collections, here/ and there/."""
    monkeypatch.chdir(tmp_path)
    for name, (docs, queries, qrels) in WORLDS.items():
        parts = [(docno, *text.split(" ", 1)) for docno, text in docs.items()]
        documents = [{"docno": d, "title": title, "text": text} for d, title, text in parts]
        lines = [f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items()]
        topics = "".join(f"{q}\t{text}\n" for q, text in queries.items())
        write_collection(tmp_path / name, documents, topics, "".join(lines))
    return tmp_path


def tune(*arguments: str) -> Result:
    return call("tune", *arguments, "--trials", "3")


def printed(*arguments: str) -> tuple[dict[str, dict[tuple[str, str], float]], str]:
    """Column -> stage and name -> value, and the sentences."""
    result = tune(*arguments, "-o", "jsonl")
    lines = rows(result)
    columns = [name for name in lines[0] if name not in ("stage", "name")]
    table = {c: {(row["stage"], row["name"]): row[c] for row in lines} for c in columns}
    return table, result.stderr


def measured(world: str, *stages: dict, topics: slice = slice(None)) -> dict[str, float]:
    """Mean AP and TBG of the pipeline."""
    values = by_query(world, *stages, topics=topics)
    return {name: float(np.mean(each)) for name, each in values.items()}


def index_of(docs: dict[str, str]) -> TermIndex:
    documents = [{"docno": docno, "text": text} for docno, text in docs.items()]
    return TermIndex.from_documents(documents, verbose=False)


def by_query(
    world: str, retrieval: dict, feedback: dict, final: dict, topics: slice = slice(None)
) -> dict[str, np.ndarray]:
    """AP and TBG of the pipeline for each query, by ir_measures and by a loop."""
    docs, queries, qrels = WORLDS[world]
    index = index_of(docs)
    pipeline = index.bm25(**retrieval) >> RobertsonPRF(index, **feedback) >> index.bm25(**final)
    asked = dict(list(queries.items())[topics])
    found = pipeline.transform(pd.DataFrame({"qid": list(asked), "query": list(asked.values())}))
    run: dict[str, dict] = {
        qid: dict(zip(part["docno"], part["score"])) for qid, part in found.groupby("qid")
    }
    judged = {qid: qrels[qid] for qid in asked}
    lengths = {docno: len(text.split()) for docno, text in docs.items()}
    tbg = [
        brute_force.tbg(brute_force.ranking(run.get(qid, {}), judged[qid]), judged[qid], lengths)
        for qid in asked
    ]
    ap = {m.query_id: m.value for m in ir_measures.AP.iter_calc(judged, run)}
    return {"AP": np.array([ap.get(qid, 0.0) for qid in asked]), "TBG": np.array(tbg)}


def settings(column: dict[tuple[str, str], float]) -> list[dict]:
    names = {
        "initial retrieval": ("b", "k1"),
        "feedback": ("fb_docs", "fb_terms", "gamma"),
        "final retrieval": ("b", "k1"),
    }
    return [{name: column[stage, name] for name in own} for stage, own in names.items()]


def test_weights_and_candidates(folders):
    """The tuned pipeline with relevance weights has the printed values; the winners are named."""
    asked = ("here", "-m", "AP", "--weights", "rsj", "--trials-only")
    columns, said = printed(*asked)
    found = columns["AP best"]
    assert settings(printed(*asked, "--seed", "9")[0]["AP best"]) != settings(found)
    retrieval, feedback, final = settings(found)
    values = measured("here", retrieval, {**feedback, "weights": "rsj"}, final)
    assert found["final retrieval", "AP"] == pytest.approx(values["AP"], abs=1e-9)
    defaults = measured("here", {}, {"weights": "rsj"}, {})["AP"]
    assert found["defaults on here", "AP"] == pytest.approx(defaults, abs=1e-9)
    (winners,) = re.findall(r"^The best settings by AP: (.*)\.$", said, re.M)
    stages = ("initial retrieval", "feedback", "final retrieval")
    for stage, name in zip(winners.split(", "), stages, strict=True):
        assert re.fullmatch(rf"{name} trial \d", stage)
    assert "Tuning for AP" not in said  # which compares on other queries


def test_split_compares_with_the_default_parameters(folders):
    columns, said = printed("here", "--split", "-m", "AP", "--weights", "rsj")
    found, even, rsj = columns["AP best"], slice(1, None, 2), {"weights": "rsj"}
    retrieval, feedback, final = settings(found)
    tuned = by_query("here", retrieval, feedback | rsj, final, topics=even)
    default = by_query("here", {}, rsj, {}, topics=even)
    for name in ("AP", "TBG"):
        means = tuned[name].mean(), default[name].mean()
        assert found["defaults on here, even", name] == pytest.approx(means[1], abs=1e-9)
        difference = found["difference on here, even", name]
        assert difference == pytest.approx(means[0] - means[1], abs=1e-9)
        expected = scipy.stats.ttest_rel(tuned[name], default[name]).pvalue
        p = found["difference on here, even", f"{name} p-value"]
        assert p == pytest.approx(expected, abs=1e-9)
    docs, queries, qrels = WORLDS["here"]
    asked = pd.DataFrame({"qid": [*queries][even], "query": [*queries.values()][even]})
    ranked = index_of(docs).bm25().transform(asked)
    run = {q: dict(zip(part["docno"], part["score"])) for q, part in ranked.groupby("qid")}
    judged = {qid: qrels[qid] for qid in asked["qid"]}
    bm25 = ir_measures.calc_aggregate([ir_measures.AP], judged, run)[ir_measures.AP]
    assert found["BM25 on here, even", "AP"] == pytest.approx(bm25, abs=1e-9)
    said = said.splitlines()[-1]
    assert said.startswith("Tuning for AP ")
    defaults = default["AP"].mean()
    assert f"on here, even: AP is {tuned['AP'].mean():.4f}, with " in said
    assert f"BM25 without feedback {bm25:.4f}" in said
    assert f"feedback with default parameters {defaults:.4f}" in said
    assert said.index(f"{max(bm25, defaults):.4f} (") > said.index("even: AP is")


def verdict_of(metric, tuned, bm25, defaults, p, **others):
    """The sentences for these means of a measure, and of others: (tuned, BM25, defaults, p)."""
    values = {metric: (tuned, bm25, defaults, p), **others}

    p_values = {f"{name} p-value": of[3] for name, of in values.items()}
    means = [{name: of[at] for name, of in values.items()} for at in range(3)]
    less = [{name: of[0] - of[at] for name, of in values.items()} | p_values for at in range(3)]
    return clarke._verdict(metric, "x", means[0], means[1], less[1], means[2], less[2])


@pytest.mark.parametrize(
    "metric, tuned, default, p, what",
    [("AP", 0.4, 0.3, 0.05, "helps"), ("AP", 0.4, 0.3, 0.0501, "has no significant effect")]
    + [("AP", 0.2, 0.3, 0.05, "hurts"), ("AP", 0.2, 0.3, 0.0501, "does not help")]
    + [("AP", 0.3, 0.3, math.nan, "does not help")]
    + [("ASL@10", 3.0, 4.0, 0.01, "helps"), ("ASL@10", 4.0, 3.0, 0.01, "hurts")],
)
@pytest.mark.parametrize("better", ["BM25", "defaults"])
def test_a_sentence_says_whether_tuning_helps(metric, tuned, default, p, what, better):
    """The sentence compares with the better of BM25 and feedback."""
    other = default + (1 if metric.startswith("ASL") else -0.05)
    untuned = (default, other) if better == "BM25" else (other, default)
    sentence = verdict_of(metric, tuned, *untuned, p)
    assert sentence.startswith(f"Tuning for {metric} {what} on x: ")
    assert ("no test can be made" in sentence) == math.isnan(p)
    names = {"BM25": "BM25 without feedback", "defaults": "feedback with default parameters"}
    assert f"with {names[better]} {default:.4f} (" in sentence
    assert "worse" not in sentence


@pytest.mark.parametrize(
    "other, worse",
    [
        ({"TBG": (1.0, 2.0, 3.0, 0.01)}, "TBG (1.0000, before 2.0000, paired t-test, p = 0.01)"),
        ({"ASL@9": (5.0, 3.0, 3.0, 0.05)}, "ASL@9 (5.0000, before 3.0000"),
        ({"ASL@9": (5.0, 3.0, 3.0, 0.0501)}, None),
        ({"TBG": (2.0, 1.0, 1.0, 0.01)}, None),
        ({"TBG": (2.0, 2.0, 2.0, math.nan)}, None),
        ({"NumRet": (1.0, 9.0, 9.0, 0.01)}, None),
    ],
)
def test_measures_that_became_significantly_worse_are_named(other, worse):
    sentence = verdict_of("AP", 0.4, 0.3, 0.2, 0.01, **other)
    if worse is None:
        assert "worse" not in sentence
    else:
        assert f"Significantly worse than with BM25 without feedback: {worse}" in sentence


@pytest.mark.parametrize("grade", [1, 0])
def test_one_topic_and_nothing_relevant_make_no_test(folders, grade):
    """One topic allows no test; without relevant documents tuning cannot help."""
    document = {"docno": "d1", "text": "w5 w6"}
    write_collection(folders / "other", [document], "q9\tw5\n", f"q9 0 d1 {grade}\n")
    said = tune("here", "-m", "AP", "--transfer", "other").stdout.splitlines()[-1]
    assert "no test can be made" in said and "worse" not in said
    assert "Tuning for AP helps" not in said and "hurts" not in said


def test_grades_can_be_words_and_columns_have_other_names(folders):
    asked, path = ("here", "-m", "AP", "-o", "tsv"), folders / "here/qrels.txt"
    numbers = tune(*asked).stdout
    lines = path.read_text().replace(" 1\n", " S\n").replace(" 0\n", " I\n").replace(" 0 ", " ")
    path.write_text(f"qid _id label\n{lines}".replace(" ", "\t"))
    given = ["--grades", "S=1 I=0", "--columns", "docno=_id"]
    assert tune(*asked, *given).stdout == numbers != ""


def test_what_is_written_and_that_nothing_else_is_overwritten(folders, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)  # adds megabytes of scripts to the page
    out = folders / "found/here"
    result = tune("here", "-m", "AP", "--out", "found/here", "-o", "tsv")
    table = pd.read_csv(out / "table.csv")
    head, first, *_ = result.stdout.splitlines()
    assert list(table.columns) == head.split("\t")
    assert first.split("\t")[:2] == table.iloc[0, :2].tolist()
    trials = pd.read_csv(out / "AP-initial-retrieval.csv")
    assert trials["trial"].tolist() == [-1, *range(3)]  # the defaults, then random settings
    assert trials["AP"].max() == pytest.approx(float(table.iloc[2, 2]))
    assert result.stderr.count("wrote ") == len(list(out.iterdir()))
    if (out / "scores.html").exists():
        assert "initial retrieval, tuned on AP" in (out / "scores.html").read_text()
    # A folder of results, and files of another kind, which are known at once.
    assert "there is no folder 'gone'" in tune("gone", "--out", "found/here").output
    for name in ("table.csv", "scores.html"):
        (out / name).write_text("my notes\n")
        result = tune("gone", "-m", "AP", "--out", "found/here")
        assert result.exit_code == 2 and f"{name}: it holds something else" in result.output
        assert "--force" in result.output and (out / name).read_text() == "my notes\n"
        (out / name).rename(out / f"my {name}")
    (out / "my table.csv").rename(out / "table.csv")
    assert tune("here", "-m", "AP", "--out", "found/here", "--force").exit_code == 0
    assert (out / "table.csv").read_text().startswith("stage,name,AP best")
    assert tune("gone", "--out", "here/qrels.txt").exit_code == 2


@pytest.mark.parametrize(
    "said, message",
    [
        (["gone", "--storage", "foo"], "the storage 'foo' cannot be opened"),  # before documents
        (["here", "-m", "Foo"], "'Foo': there is no such measure"),
        (
            ["here", "-m", "Judged@10"],
            "Judged@10 has no direction: neither more nor less is better",
        ),
        (["bad_docs"], "xxx...' ('text')"),
        (["null_text"], "docs.jsonl.gz: line 1: expected an object with docno and text"),
        (["null_docno"], "the docno is None; a docno is text or a whole number"),
        (["docs_twice"], "docs.jsonl.gz: docno 'd1' occurs twice, as document 1 and 2"),
        (["queries_twice"], "queries.tsv, line 2: query 'q1' occurs twice"),
        (["bad_queries"], "queries.tsv, line 1: expected qid<TAB>query, found 'q1 w1'"),
        (["other_topics"], "none of the 1 topics is judged"),
    ],
)
def test_what_cannot_be_tuned(folders, said, message):
    one, empty = {"docno": "d1", "text": "w1"}, {"docno": "d1", "text": ""}
    for name, documents, queries in [
        ("bad_docs", [one, {"docno": 1, "words": "x" * 99}], "q1\tw1\n"),
        ("null_text", [{"docno": "d1", "text": None}], "q1\tw1\n"),
        ("null_docno", [{"docno": None, "text": "w1"}], "q1\tw1\n"),
        ("docs_twice", [one, empty], "q1\tw\n"),
        ("queries_twice", [one], "q1\tw1\nq1\tw2\n"),
        ("bad_queries", [one], "q1 w1\n"),
        ("other_topics", [one], "z1\tw1\n"),
    ]:
        write_collection(folders / name, documents, queries, "q1 0 d1 1\n")
    result = tune(*said)
    assert result.exit_code == 2, result.output
    assert message in result.stderr.splitlines()[-1]


def test_without_optuna_it_says_what_to_install(folders, monkeypatch):
    monkeypatch.delitem(sys.modules, "pyterrier_asl.tuning.study", raising=False)
    monkeypatch.setitem(sys.modules, "optuna", None)
    result = tune("here")
    assert result.exit_code == 2
    error = f"Error: searches need Optuna: {install_command('tune')}"
    assert result.stderr.startswith(error)


def test_it_says_what_must_be_known_of_the_run_and_of_the_qrels(folders):
    """A query of words that no document has, and qrels that list relevant documents only."""
    here = folders / "here"
    lines = (here / "qrels.txt").read_text().splitlines(True)
    (here / "qrels.txt").write_text(
        "".join([*(x for x in lines if x.endswith(" 1\n")), "q9 0 d 1\n"])
    )
    with open(here / "queries.tsv", "a") as file:
        file.write("q9\tnothing\n")
    done = tune("here")
    notes = [line for line in " ".join(done.stderr.split()).split("Note: ")[1:]]
    assert len(notes) == 2 and "Warning" not in done.stderr
    assert re.match(r"the tuned pipeline does not answer 1 of \d queries \(e.g. 'q9'\); ", notes[0])
    assert notes[1].startswith("the qrels list relevant documents only: unjudged documents cannot")
