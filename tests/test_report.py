"""The report: its numbers are those of the analyses, and the page works in a browser."""

from __future__ import annotations

import base64
import contextlib
import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import brute_force
import ir_measures
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from conftest import _missing

from pyterrier_asl import ASL, LexiP, report
from pyterrier_asl.cli import main
from pyterrier_asl.evaluation import evaluate, means
from pyterrier_asl.preference import preference_matrix, preferences
from pyterrier_asl.reporting.gather import gather
from pyterrier_asl.reporting.standings import groups

#: A name, a query and a document that would do harm wherever they are taken for anything but text.
EVIL = "<script>window.hurt=1</script>\"'&\u2028</script><!--"
EVIL_QUERY = "q'\"<img src=x onerror=window.hurt=1>"


def a_run(seed: int, queries: list[str], documents: int = 60, noise: float = 1.0) -> dict:
    random = np.random.default_rng(seed)
    run = {}
    for query in queries:
        scores = noise * random.normal(size=documents) + (np.arange(documents) < 8)
        kept = random.permutation(documents)[:50]
        run[query] = {f"d{at}": float(scores[at]) for at in kept}
    return run


@pytest.fixture(scope="module")
def queries() -> list[str]:
    return [f"{number}" for number in range(1, 10)] + [EVIL_QUERY]


@pytest.fixture(scope="module")
def qrels(queries) -> dict:
    return {
        query: {f"d{at}": 2 if at < 4 else int(at < 8) for at in range(12)} for query in queries
    }


@pytest.fixture(scope="module")
def runs(queries) -> dict:
    names = ["good", "fair", "poor", "1", EVIL]
    return {
        name: a_run(seed, queries, noise=0.3 + seed / 2) for seed, name in enumerate(names)
    }


@pytest.fixture(scope="module")
def made(runs, qrels, queries):
    texts = {query: f"what about {query}" for query in queries}
    with pytest.warns(UserWarning, match="fewer than 8"):
        return report(runs, qrels, topics=texts, title=f"Report {EVIL}", stability=True)


def data_of(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found.group(1))


def unpacked(text: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape)


# The numbers


def test_the_leaderboard_is_what_evaluate_says(made, runs, qrels):
    measures = [ASL @ 1000, LexiP, ir_measures.AP, ir_measures.nDCG @ 10]
    expected = means(evaluate(runs, qrels, measures))
    found = {each.name: each.means for each in made.findings.standings}
    for column in expected.columns:
        np.testing.assert_allclose(found[column], expected[column])


def test_the_page_holds_every_value(made):
    data = data_of(made.html)
    assert data["systems"] == made.findings.names
    for shown, standing in zip(data["measures"], made.findings.standings):
        values = unpacked(shown["values"], "<f4", standing.values.shape)
        np.testing.assert_allclose(values, standing.values, rtol=1e-6)


def test_duels_are_the_preference_matrix(made, runs, qrels):
    expected = preference_matrix(runs, qrels)
    found = made.findings.duels.matrix
    for name in ("rrLP", "rrLP_p", "wins", "losses"):
        ours, theirs = getattr(found, name).to_numpy(float), getattr(expected, name).to_numpy(float)
        np.fill_diagonal(ours := ours.copy(), 0)
        np.fill_diagonal(theirs := theirs.copy(), 0)
        np.testing.assert_allclose(ours, theirs)
    assert found.cycles() == expected.cycles()


def test_places_of_rankings_give_sgnlp(made, runs, qrels):
    places = made.findings.duels.levels
    expected = preferences(runs["good"], runs["poor"], qrels)["sgnLP"].to_numpy()
    np.testing.assert_array_equal(np.sign(places[2] - places[0]), expected)


def test_ranks_of_relevant_documents(made, runs, qrels):
    data = data_of(made.html)["documents"]
    ranks = unpacked(data["ranks"], "<u2", (5, len(data["ids"])))
    query, run = "3", runs["fair"]["3"]
    order = sorted(run, key=lambda docno: (np.float32(run[docno]), docno), reverse=True)
    at = slice(*data["starts"][2:4])
    expected = [order.index(d) + 1 if d in order else 0 for d in data["ids"][at]]
    assert ranks[1][at].tolist() == expected
    assert set(data["ids"][at]) == {d for d, grade in qrels[query].items() if grade}


def test_missing_share_and_unjudged(made):
    quality = made.findings.quality
    assert list(quality.index) == made.findings.names
    assert quality["missing_share"].between(0, 1).all()
    assert quality["unjudged_share"].between(0, 1).all()


def test_search_lengths_add_up(made):
    assert (made.findings.lost.counts.sum(axis=1) == len(made.findings.finders)).all()


@pytest.mark.parametrize("test", ["tukey-two-way", "t"])
def test_no_two_of_a_group_differ(runs, qrels, test):
    with pytest.warns(UserWarning, match="fewer than 8"):
        findings = gather(runs, qrels, test=test)
    for standing in findings.standings:
        for first, last in standing.groups:
            members = standing.order[first : last + 1]
            assert not standing.differs[np.ix_(members, members)].any()


def test_groups_after_tukey_hold_all_that_do_not_differ():
    means = np.array([9.0, 8.5, 7.0, 6.8, 3.0])
    differs = np.abs(means[:, None] - means) > 1.8
    found = groups(differs)
    together = {(a, b) for first, last in found for a in range(first, last + 1)
                for b in range(first, last + 1)}  # fmt: skip
    assert together == {(a, b) for a, b in np.argwhere(~differs).tolist()}


def test_relevance_grade_is_said_once(runs, qrels):
    findings = gather(runs, qrels, ["AP", "ASL@100", "AP(rel=1)"], rel=2)
    assert [each.name for each in findings.standings] == ["AP", "ASL@100", "AP(rel=1)"]
    expected = means(evaluate(runs, qrels, ["AP(rel=2)", "AP"]))
    np.testing.assert_allclose(findings.standings[0].means, expected["AP(rel=2)"])
    np.testing.assert_allclose(findings.standings[2].means, expected["AP"])


@pytest.mark.filterwarnings("ignore:.*fewer than 8")
def test_rareness_is_over_the_runs(runs, qrels):
    measures = ["AP_Rareness@10", "P_Rareness@20", "AP_Rareness"]
    expected = means(evaluate(runs, qrels, measures))
    for standing in gather(runs, qrels, measures).standings:
        np.testing.assert_allclose(standing.means, expected[standing.name])


# Odd input


@pytest.mark.parametrize("names", [["good"], ["good", "poor"]])
def test_few_systems(runs, qrels, names):
    with contextlib.suppress(UserWarning):
        page = report({name: runs[name] for name in names}, qrels, ["ASL@100", "AP"]).html
    assert ("System against system" in page) == (len(names) > 1)


def test_equal_runs_and_queries_without_relevant_documents(runs, qrels):
    qrels = {**qrels, "none": {"d1": 0}}
    page = report({"a": runs["good"], "b": runs["good"]}, qrels, ["ASL@100", "AP"], stability=True)
    assert "NaN" not in json.dumps(data_of(page.html))


def test_nothing_relevant_at_all():
    run = {"q": {"a": 2.0, "b": 1.0}}
    page = report({"a": run, "b": run, "c": run}, {"q": {"a": 0}}, ["ASL@100", "AP"]).html
    assert data_of(page)["documents"]["ids"] == []


def test_one_query(runs, qrels):
    page = report(
        {name: {"1": run["1"]} for name, run in runs.items()}, {"1": qrels["1"]}, ["ASL@9"]
    ).html
    assert "nan" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)


def test_fractional_grades(runs, qrels):
    grades = {q: {d: grade * 0.85 for d, grade in of.items()} for q, of in qrels.items()}
    page = report({"a": runs["good"], "b": runs["fair"]}, grades, ["ASL@100"]).html
    assert set(data_of(page)["documents"]["grades"]) == {1.7}


def test_systems_are_asked_the_topics(runs, qrels):
    class System:
        def transform(self, topics):
            rows = [
                (q, d, score) for q in topics["qid"] for d, score in runs["good"][q].items()
            ]
            return pd.DataFrame(rows, columns=["qid", "docno", "score"])

        __call__ = transform

    topics = pd.DataFrame({"qid": list(qrels), "query": "words"})
    found = report({"s": System()}, qrels, ["AP"], topics=topics).findings
    expected = means(evaluate({"s": runs["good"]}, qrels, ["AP"]))
    assert found.standings[0].means[0] == pytest.approx(expected.loc["s", "AP"])
    with pytest.raises(ValueError, match="'s' is a transformer: pass topics="):
        report({"s": System()}, qrels, ["AP"])


# The file


def test_text_cannot_become_markup(made):
    page = made.html
    assert page.count("window.hurt=1</script>") == 0
    assert "<img src=x" not in page
    assert "\u2028" not in data_source(page)
    assert data_of(page)["systems"][4] == EVIL
    assert data_of(page)["topics"][9] == EVIL_QUERY


def data_source(page: str) -> str:
    return re.search(r'id="data">(.*?)</script>', page, re.S).group(1)


def test_nothing_is_fetched(made):
    head = made.html[: made.html.index('id="data"')]
    assert "default-src 'none'" in head
    assert not re.search(r'(?:src|href)="(?!#|data:,)', head)
    assert "@import" not in head and "url(" not in head


def test_the_same_input_makes_the_same_page(runs, qrels):
    first, second = (report({"a": runs["1"], "b": runs["fair"]}, qrels, ["AP"]) for _ in range(2))
    assert first.html == second.html


def test_it_replaces_a_file_only_by_a_whole_one(made, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError):
        made.save(target)
    assert target.read_text() == "old" and list(tmp_path.iterdir()) == [target]


@pytest.fixture
def files(runs, qrels, tmp_path) -> list[Path]:
    """Judgements and two runs as files."""

    def lines(of, form):
        return "\n".join(form(q, d, v) for q, each in of.items() for d, v in each.items()) + "\n"

    plain = {q: of for q, of in qrels.items() if q != EVIL_QUERY}
    written = [tmp_path / "qrels", tmp_path / "good.run", tmp_path / "fair.run"]
    written[0].write_text(lines(plain, lambda q, d, v: f"{q} 0 {d} {v}"))
    for path in written[1:]:
        run = {q: runs[path.stem][q] for q in plain}
        path.write_text(lines(run, lambda q, d, v: f"{q} Q0 {d} 0 {v} x"))
    return written


def test_command(files, tmp_path):
    topics = tmp_path / "topics.tsv"
    topics.write_text("1\tfirst words\n")
    output = tmp_path / "out.html"
    arguments = ["report", *files, "-o", output, "-m", "ASL@100 AP", "--topics", topics,
                 "--title", "Mine"]  # fmt: skip
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output
    assert "2 systems, 9 topics" in result.output
    page = output.read_text(encoding="utf-8")
    assert "<title>Mine</title>" in page and "first words" in page
    nowhere = CliRunner().invoke(main, ["report", "x", "y", "-o", str(tmp_path / "no" / "f.html")])
    assert nowhere.exit_code == 2 and "there is no folder" in nowhere.output


def test_command_with_lengths(files, runs, qrels, tmp_path):
    words = {f"d{at}": 20 * at + 1 for at in range(60)}
    (tmp_path / "words.txt").write_text("".join(f"{d} {w}\n" for d, w in words.items()))
    arguments = ["report", *files, "-o", tmp_path / "out.html", "-m", "TBG", "-k", "30",
                 "--lengths", tmp_path / "words.txt"]  # fmt: skip
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output
    data = data_of((tmp_path / "out.html").read_text())
    (measure,) = data["measures"]
    for name, mean in zip(data["systems"], measure["means"]):
        values = [
            brute_force.tbg(brute_force.ranking(runs[name][q], qrels[q]), qrels[q], words)
            for q in qrels if q != EVIL_QUERY
        ]  # fmt: skip
        assert mean == pytest.approx(np.mean(values), rel=1e-5)


_HALF = """
    import signal, sys, time
    from pathlib import Path
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also in the background

    def half(path, text, **how):
        with open(path, "w") as file:
            file.write(text[: len(text) // 2])
        print("half", flush=True)
        time.sleep(600)

    Path.write_text = half
    from pyterrier_asl.cli import main
    main(["report", *sys.argv[1:]])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
@pytest.mark.parametrize("before", ["an older report", None])
def test_an_interrupted_command_leaves_no_half_page(files, tmp_path, how, before):
    target = tmp_path / "page" / "report.html"
    target.parent.mkdir()
    if before:
        target.write_text(before)
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(_HALF), *files, "-o", target]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"half\n", process.stderr.read()
        process.send_signal(getattr(signal, how))
        assert process.wait(60) != 0
    left = {path.name: path.stat().st_size for path in target.parent.iterdir()}
    if how == "SIGKILL":
        (beside,) = (name for name in left if name.startswith(".report.html."))
        assert beside.endswith(".tmp") and left.pop(beside) > 0
    assert left == ({"report.html": len(before)} if before else {})


def test_texts_of_a_dataset(vaswani):
    qrels = pd.DataFrame(vaswani.qrels_iter())
    run = {
        q: {d: 1.0 for d in of["doc_id"].head(3)}
        for q, of in qrels.groupby("query_id") if int(q) < 5
    }
    page = report({"a": run, "b": run}, "irds:vaswani", ["AP"], dataset="irds:vaswani").html
    data = data_of(page)
    assert data["topicTexts"][0].startswith("MEASUREMENT OF DIELECTRIC")
    assert all(data["documents"]["text"])


def test_topics_that_do_not_fit(runs, qrels, tmp_path):
    with pytest.raises(ValueError, match="need the columns qid and query"):
        report({"a": runs["1"]}, qrels, ["AP"], topics=pd.DataFrame({"id": [1]}))
    path = tmp_path / "topics"
    path.write_text("1 no tab\n")
    with pytest.raises(ValueError, match="line 1: expected qid<TAB>query"):
        report({"a": runs["1"]}, qrels, ["AP"], topics=path)


# The browser


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        _missing("chromium", "there is no chromium on the PATH")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", "--no-first-run"]  # fmt: skip
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def file(made, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    made.save(path)
    return path


@contextlib.contextmanager
def opened(browser, file, width=1400, scheme="light"):
    """The page in a browser without a network, which may not complain of anything."""
    context = browser.new_context(
        viewport={"width": width, "height": 850}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]")
    yield page
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.evaluate("window.hurt") is None
    context.close()


def draw_all(page) -> None:
    for figure in page.query_selector_all("figure[data-chart]"):
        figure.scroll_into_view_if_needed()
        page.wait_for_selector(f"figure[data-chart={figure.get_attribute('data-chart')}][data-drawn]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_every_picture_is_drawn_and_nothing_is_too_wide(browser, file, width, scheme):
    with opened(browser, file, width, scheme) as page:
        draw_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        wide = "(all) => all.filter((c) => c.getBoundingClientRect().right > innerWidth + 1).length"
        assert page.eval_on_selector_all("canvas", wide) == 0


RUN = {"q": {"a": 2.0, "b": 1.0}}
ODD = {
    "one system": ({"a": RUN}, {"q": {"b": 1}}, ["AP", "ASL@10"]),
    "equal systems": ({"a": RUN, "b": RUN, "c": RUN}, {"q": {"b": 1}}, ["AP", "ASL@10", "LexiP"]),
    "nothing relevant": ({"a": RUN, "b": RUN}, {"q": {"a": 0}}, ["AP", "ASL@10"]),
    "nothing to be better in": ({"a": RUN, "b": RUN}, {"q": {"a": 1}}, ["Judged@10"]),
    "one order": ({"a": RUN, "b": RUN}, {"q": {"a": 1}}, ["RR"]),
    "long names": ({"a" * 200: RUN, "b " * 99: RUN}, {"q": {"a": 1}}, ["AP", "ASL@10"]),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_pages_open(browser, tmp_path, what):
    made = report(*ODD[what], stability=True)
    made.save(tmp_path / "odd.html")
    with opened(browser, tmp_path / "odd.html", 390) as page:
        draw_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 390


def column(page, number: int) -> list[float]:
    cells = page.query_selector_all(f"#board tbody tr td:nth-child({number})")
    return [float(cell.get_attribute("data-value")) for cell in cells]


def test_headings_sort_best_first(browser, file):
    with opened(browser, file) as page:
        for number, better in ((4, "low"), (6, "high")):
            head = page.query_selector(f"#board thead th:nth-child({number})")
            assert head.get_attribute("data-better") == better
            head.query_selector("button").focus()
            page.keyboard.press("Enter")
            values = column(page, number)
            assert values == sorted(values, reverse=better == "high")
            assert head.get_attribute("aria-sort") is not None
            page.keyboard.press("Enter")
            assert column(page, number) == values[::-1]


def test_groups_follow_the_measure(browser, file, made):
    with opened(browser, file) as page:
        page.select_option("#board-measure", label="AP")
        standing = next(each for each in made.findings.standings if each.name == "AP")
        names = page.eval_on_selector_all("#board tbody th", "all => all.map(c => c.textContent)")
        assert names == [made.findings.names[system] for system in standing.order]
        letters = page.eval_on_selector_all(".letters", "all => all.map(c => c.textContent)")
        assert letters == [standing.letters[system] for system in standing.order]


def test_filter(browser, file):
    with opened(browser, file) as page:
        page.fill("#board-filter", "OO")
        shown = page.eval_on_selector_all(
            "#board tbody tr:not([hidden]) th", "all => all.map(c => c.textContent)"
        )
        assert sorted(shown) == ["good", "poor"]


def test_choosing_a_topic_by_keyboard(browser, file, queries):
    with opened(browser, file) as page:
        page.locator("#topic-table .open", has_text="onerror").focus()
        page.keyboard.press("Enter")
        assert page.text_content("#topic-h") == f"Topic {EVIL_QUERY}"
        assert page.text_content("#topic-text") == f"what about {EVIL_QUERY}"
        assert len(page.query_selector_all("#documents tbody tr")) == 8
        page.select_option("#documents-depth", "10")
        page.select_option("#documents-which", "rare")
        counts = page.eval_on_selector_all(
            "#documents tbody td:nth-child(3)", "all => all.map(c => Number(c.textContent))"
        )
        assert all(1 <= count <= 3 for count in counts)


def test_two_systems(browser, file, made, runs, qrels):
    with opened(browser, file) as page:
        page.select_option("#pair-a", label="good")
        page.select_option("#pair-b", label="poor")
        found = preferences(runs["good"], runs["poor"], qrels)["sgnLP"]
        said = page.text_content("#pair-says")
        assert f"is preferred on {(found > 0).sum()} topics" in said
        assert f"B (poor) on {(found < 0).sum()}, neither on {(found == 0).sum()}" in said
        row = page.text_content("#pair-table tbody tr:first-child")
        asl = made.findings.asl.means
        assert f"{asl[0]:.1f}" in row and f"{asl[2]:.1f}" in row
        page.click("#pair-swap")
        assert page.text_content("#pair-says").startswith("By lexicographic precision A (poor)")


def test_data_can_be_saved(browser, file, made):
    with opened(browser, file) as page:
        draw_all(page)
        for button in page.query_selector_all("[data-save]"):
            page.wait_for_timeout(150)  # Chromium refuses more than ten in a second
            with page.expect_download() as saved:
                button.click()
            content = open(saved.value.path(), encoding="utf-8").read()
            assert len(content) > 20
            if saved.value.suggested_filename.endswith("loss.csv"):
                rows = list(csv.reader(io.StringIO(content, newline="")))
                assert len(rows) == 1 + 2 * len(made.findings.names)
                assert {row[0] for row in rows[1:]} == set(made.findings.names)


# Real tracks


def test_trec8_is_small_and_opens_quickly(browser, data, tmp_path):
    folder = data / "trec8-adhoc"
    page_file = tmp_path / "trec8.html"
    report(folder / "runs", folder / "qrels.txt.gz").save(page_file)
    assert page_file.stat().st_size < 15e6
    with opened(browser, page_file) as page:
        ready = page.evaluate("performance.now()")
        assert ready < 2000 * 3  # a machine that does other things besides
        assert len(page.query_selector_all("#board tbody tr")) == 129
