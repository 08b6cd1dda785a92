"""The file of a report: complete, offline, safe, and the same for the same input (render.py)."""

import base64
import gzip
import hashlib
import html
import json
import os
import re
import urllib.parse
from pathlib import Path

import brute_force
import numpy as np
import pandas as pd
import pytest
from _reports import (
    EVIL,
    EVIL_QUERY,
    QRELS,
    RUNS,
    TEXTS,
    TWO,
    command,
    data_of,
    data_source,
    unpacked_values,
    write_files,
)
from click.testing import CliRunner

from pyterrier_asl import report
from pyterrier_asl.analysis import run_quality
from pyterrier_asl.cli import main
from pyterrier_asl.reporting.contents import digests

pytest.importorskip("vl_convert", reason="reports need pyterrier-asl[report]")
pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than 8")


@pytest.fixture(scope="module")
def made():
    return report(RUNS, QRELS, topics=TEXTS, title=f"Report {EVIL}")


def test_the_page_holds_every_value_and_the_numbers_of_each_system_and_query(made):
    data = data_of(made.html)
    assert data["systems"] == made.findings.names and 'class="left-out"' not in made.html
    quality = run_quality(RUNS, QRELS).set_index("run").loc[[*RUNS]]
    assert (data["cutoff"], data["rel"], data["retrieved"]) == (1000, 1, [50] * len(RUNS))
    assert data["missingShare"] == pytest.approx(quality["missing_share"].tolist())
    assert data["unjudgedShare"] == pytest.approx(quality["unjudged_share"].tolist())
    for shown, ranking in zip(data["measures"], made.findings.rankings):
        values = unpacked_values(shown["values"], ranking.values.shape)
        np.testing.assert_allclose(values, ranking.values, rtol=1e-6)
        assert shown["medians"] == pytest.approx(np.median(ranking.values, axis=0), rel=1e-5)
        deviations = np.std(ranking.values, axis=0, ddof=1)
        assert shown["spreads"] == pytest.approx(deviations, rel=1e-5, abs=1e-9)


def test_ranks_of_relevant_documents(made):
    data = data_of(made.html)["documents"]
    ranks = np.reshape(data["ranks"], (5, data["starts"][-1]))
    query, run = "3", RUNS["fair"]["3"]
    order = sorted(run, key=lambda docno: (np.float32(run[docno]), docno), reverse=True)
    at = slice(*data["starts"][2:4])
    expected = [order.index(d) + 1 if d in order else 0 for d in data["ids"][at]]
    assert ranks[1][at].tolist() == expected
    assert set(data["ids"][at]) == {d for d, grade in QRELS[query].items() if grade}


def test_text_cannot_become_markup(made):
    page = made.html
    assert page.count("window.hurt=1</script>") == 0
    assert "<img src=x" not in page
    assert "\u2028" not in data_source(page)
    assert data_of(page)["systems"][4] == EVIL
    assert data_of(page)["queries"][9] == EVIL_QUERY


def test_a_name_with_a_null_character_leaves_none_in_the_page():
    name = "one\0two"
    page = report({name: RUNS["1"], "other": RUNS["fair"]}, QRELS, ["AP"]).html
    assert "\0" not in page and "one\ufffdtwo" in page
    assert data_of(page)["systems"][0] == name


TITLES = {"dl20.qrels": "dl20:", "qrels.txt.gz": "Comparison of", "qrels-trec8.txt": "trec8:"}
TITLES |= {"scifact-test.qrels.tsv": "scifact-test:"}


@pytest.mark.parametrize("file", TITLES)
def test_the_title_names_the_collection(tmp_path, file):
    path, text = tmp_path / file, b"q 0 a 1\n"
    path.write_bytes(gzip.compress(text) if file.endswith(".gz") else text)
    runs = {"x": {"q": {"a": 1}}, "y": {"q": {"a": 2}}}
    assert f"<title>{TITLES[file]} 2 systems</title>" in report(runs, path, ["AP"]).html


def test_only_the_scripts_of_the_page_may_run(made):
    policy = re.search('http-equiv="Content-Security-Policy" content="(.*?)"', made.html).group(1)
    scripts = re.findall('<script type="module">(.*?)</script>', made.html, re.S)
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    assert f"script-src {allowed};" in html.unescape(policy) and len(scripts) == 2
    assert "unsafe-eval" not in policy and "vegaEmbed" in scripts[0]


def test_nothing_is_fetched(made):
    head = made.html[: made.html.index('id="data"')]
    assert "default-src 'none'" in head
    assert not re.search(r'(?:src|href)="(?!#|data:,)', head)
    assert "@import" not in head and "url(" not in head


@pytest.mark.slow
def test_the_same_input_makes_the_same_page():
    first, second = (report(TWO, QRELS, ["AP"]) for _ in range(2))
    assert first.html == second.html


def test_an_old_file_is_replaced_only_by_a_complete_one(made, tmp_path, small_files):
    target = tmp_path / "report.html"
    target.write_text("<!DOCTYPE html>old")
    with small_files(), pytest.raises(OSError, match=f"cannot write {target}: File too large"):
        made.save(target)
    assert target.read_text() == "<!DOCTYPE html>old" and list(tmp_path.iterdir()) == [target]
    target.write_text("notes")
    with pytest.raises(OSError, match="report.html"):
        made.save(target)
    made.save(target, force=True)
    assert target.read_text(encoding="utf-8") == made.html


def test_the_page_names_version_and_digests(made):
    from pyterrier_asl import __version__

    assert f"pyterrier-asl {__version__}" in made.html
    of_qrels, of_runs = digests(made.findings.runs)
    for digest in (of_qrels, *of_runs):
        assert digest in made.html


def test_links_name_what_the_page_holds(made):
    data = data_of(made.html)
    measures = [measure["name"] for measure in data["measures"]]
    known = dict(zip("ab", [data["systems"]] * 2)) | {"query": data["queries"], "measure": measures}
    states = re.findall(r'<a href="#(\w+)" data-state="(.*?)"', made.html)
    assert len(states) > 5
    for section, state in states:
        assert f'id="{section}"' in made.html
        for name, value in urllib.parse.parse_qsl(html.unescape(state)):
            assert value in known[name]


def test_a_single_system_has_no_median_and_no_pair(made):
    page = report({"a": RUNS["good"]}, QRELS, ["ASL@100", "AP"]).html
    text = re.sub(r"<(script|style).*?</\1>|<[^>]*>", "", page, flags=re.S)
    assert "edian" not in text and "all systems" not in text
    assert "<title>Comparison of 1 system</title>" in page
    assert "System against system" not in page and "System against system" in made.html


def test_texts_of_documents(tmp_path):
    docs = pd.DataFrame({"docno": [f"d{at}" for at in range(60)]})
    docs["text"] = docs["docno"] + " <b>"
    docs.to_json(tmp_path / "docs.jsonl", orient="records", lines=True)
    held = data_of(report(TWO, QRELS, ["AP"], docs=tmp_path / "docs.jsonl").html)["documents"]
    assert held["text"] == [f"{docno} <b>" for docno in held["ids"]]
    with pytest.raises(ValueError, match="documents need the columns docno and text"):
        report(TWO, QRELS, ["AP"], docs=docs[["text"]])


def test_what_is_left_out_of_a_large_page_is_said(monkeypatch):
    """With a lower limit: a page that exceeds the usual one takes minutes."""
    runs = {name: RUNS[name] for name in ("good", "fair", "poor")}
    monkeypatch.setattr("pyterrier_asl.reporting.findings.MOST", 1)
    made = report(runs, QRELS, ["AP"])
    assert "only for the 2 best of 3 systems by AP, to keep it small" in made.html
    data, ranking = data_of(made.html), made.findings.first
    assert data["held"] == (best := sorted(ranking.order[:2].tolist()))
    values = unpacked_values(data["measures"][0]["values"], (2, len(QRELS)))
    np.testing.assert_allclose(values, ranking.values[best], rtol=1e-6)
    assert np.reshape(data["tops"]["documents"], (2, len(QRELS), 10)).all()
    assert len(np.reshape(data["documents"]["ranks"], (2, data["documents"]["starts"][-1]))) == 2


def test_notebooks_show_the_verdict(made):
    shown = made._repr_html_()
    assert shown.startswith(
        "<p>Only good could be the best of 5 systems by nDCG@10 (10 topics).</p>"
    )
    assert f"Report(5 systems, 10 queries, {len(made.html) / 10**6:.1f} MB)" in shown
    assert "<script" not in shown and "<a " not in shown


# Unusual input


def test_equal_runs_and_queries_without_relevant_documents():
    qrels = {**QRELS, "none": {"d1": 0}}
    page = report({"a": RUNS["good"], "b": RUNS["good"]}, qrels, ["ASL@100", "AP"])
    assert "NaN" not in json.dumps(data_of(page.html))
    assert "No cycles" not in page.html and 'data-chart="matrix"' not in page.html


def test_one_query_without_a_relevant_document():
    run = {"q": {"a": 2.0, "b": 1.0}}
    page = report({"a": run, "b": run, "c": run}, {"q": {"a": 0}}, ["ASL@100", "AP"]).html
    assert "nan" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)
    documents = data_of(page)["documents"]
    assert documents["starts"] == [0, 0] and documents["ids"] == ["a", "b"]
    assert "Every system has the same rank by all of these measures." in page


def test_fractional_grades():
    grades = {q: {d: grade * 0.85 for d, grade in of.items()} for q, of in QRELS.items()}
    page = report({"a": RUNS["good"], "b": RUNS["fair"]}, grades, ["ASL@100"]).html
    documents = data_of(page)["documents"]
    assert set(documents["grades"][: documents["starts"][-1]]) == {1.7}


def test_no_document_is_held_twice(made):
    """Relevant documents come first; relevant documents of top tens are not repeated."""
    data = data_of(made.html)["documents"]
    relevant = [(q, d) for q, of in QRELS.items() for d, grade in of.items() if grade]
    tops = (
        (q, brute_force.ranking(of, QRELS[q])[:10]) for r in RUNS.values() for q, of in r.items()
    )
    others = {(q, str(d)) for q, top in tops for d in top if not QRELS[q].get(d)}
    assert data["ids"][: len(relevant)] == [d for _, d in relevant]
    rest = len(relevant) + len(others)
    assert sorted(data["ids"][len(relevant) : rest]) == sorted(d for _, d in others)
    assert all(grade < 0 for grade in data["grades"][rest:])  # the documents to judge next


# The command


def test_command_with_tracks_and_judges(tmp_path):
    """The page has the leaderboard over both, and its command."""
    qrels, *runs = write_files(tmp_path)
    folder, output = tmp_path / "runs", tmp_path / "out.html"
    folder.mkdir()
    for run in runs:
        run.rename(folder / run.name)
    ones = tmp_path / "ones.qrels"
    lines = [line.split() for line in qrels.read_text().splitlines()]
    more = [f"{q}x 0 {d} 1" for q, _, d, g in lines[:12]]  # fewer than 10 topics
    ones.write_text("\n".join([f"{q} 0 {d} {int(g != '0')}" for q, _, d, g in lines] + more))
    arguments = ["report", "-m", "AP", "-o", output]
    for track, judgements in (("a", qrels), ("b", ones)):
        arguments += ["--track", track, judgements, folder, "--judge", f"{track}=gpt={qrels}"]
    command(*arguments)
    page = output.read_text(encoding="utf-8")
    assert "<title>a and b: 2 systems</title>" in page and "Over all collections" in page
    assert re.search(r"<span>In a: <b>\d+</b> queries</span>", page)  # of b there are more
    assert f"--track b ones.qrels runs --judge b=gpt={qrels.name}" in html.unescape(page)


def test_command_refuses_scores():
    done = CliRunner().invoke(main, ["report", "--scores", "a.csv", "-o", "page.html"])
    assert done.exit_code == 2 and "'compare' and 'ranks' take scores" in done.output


def test_a_file_name_that_is_not_utf_8_does_not_stop_a_report(tmp_path):
    qrels, good, fair = write_files(tmp_path)
    (tmp_path / "runs").mkdir()
    other = os.fsdecode(b"go\xffod.run")
    try:
        good.rename(tmp_path / "runs" / other)
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    fair.rename(tmp_path / "runs" / "fair.run")
    report(tmp_path / "runs", qrels, ["AP"]).save(tmp_path / "page.html")
    data = data_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert sorted(data["systems"]) == ["fair", "go\ufffdod"]


def test_a_folder_that_cannot_be_written_is_named_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("pyterrier_asl.reporting.report", lambda *given, **how: pytest.fail())
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    arguments = ["report", *write_files(tmp_path), "-o", tmp_path / "page.html"]
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    assert result.exit_code == 2
    assert f"cannot write {tmp_path / 'page.html'}: the folder" in result.output
