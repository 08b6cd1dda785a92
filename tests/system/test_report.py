"""The report in a browser, and of real collections."""

import contextlib
import csv
import io
import itertools
import re
import shutil
from pathlib import Path

import brute_force
import numpy as np
import pandas as pd
import pytest
from _reports import EVIL, EVIL_QUERY, QRELS, QUERIES, RUNS, TEXTS, a_run
from _required import missing

from pyterrier_asl import evaluate, ranks, report
from pyterrier_asl.evaluation.preferences import preferences
from pyterrier_asl.leaderboard.numbers import p_text
from pyterrier_asl.unjudged.holes import holes

THREE = {name: RUNS[name] for name in ("good", "fair", "poor")}


@pytest.fixture(scope="module")
def made():
    return report(RUNS, QRELS, topics=TEXTS, title=f"Report {EVIL}")


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        missing("chromium", "there is no chromium on the PATH")
    arguments = "--no-sandbox --disable-gpu --disable-sync --no-first-run".split()
    arguments += ["--disable-background-networking", "--disable-component-update"]
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
def opened(browser, file, width=1400, scheme="light", address=None):
    """The page in a browser without a network; errors of the browser fail the test."""
    size = {"width": width, "height": 850}
    context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address or file.as_uri())
    page.wait_for_selector("html[data-ready]")
    yield page
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.evaluate("window.hurt") is None
    context.close()


@contextlib.contextmanager
def page_of(browser, folder, *arguments, width=1400, **options):
    """The opened page of a report, and the report."""
    made = report(*arguments, **options)
    made.save(folder / "page.html")
    with opened(browser, folder / "page.html", width) as page:
        yield page, made


def reload(page) -> None:
    page.reload()
    page.wait_for_selector("html[data-ready]")


def choose(page, **labels: str) -> None:
    for name, label in labels.items():
        page.select_option("#" + name.replace("_", "-"), label=label)


def chosen(page, *names: str) -> list[str]:
    return [page.locator(f"#{name} option:checked").text_content() for name in names]


def width_of(page) -> int:
    """The width of all of the page, also of what has to be scrolled sideways."""
    return page.evaluate("document.documentElement.scrollWidth")


OUTSIDE = "all => all.filter((c) => c.getBoundingClientRect().right > innerWidth + 1).length"
CUT = "all => all.filter((c) => c.scrollWidth > c.clientWidth + 1).length"


def draw_all(page) -> None:
    for figure in page.query_selector_all("figure[data-chart]"):
        figure.scroll_into_view_if_needed()
        name = figure.get_attribute("data-chart")
        page.wait_for_selector(f"figure[data-chart={name}][data-drawn]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_every_figure_is_drawn_nothing_is_too_wide_and_axe_finds_no_violation(
    browser, file, width, scheme
):
    """Axe checks the Web Content Accessibility Guidelines and good practice, all parts unfolded."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("chromium", "axe-playwright-python is not installed")
    with opened(browser, file, width, scheme) as page:
        draw_all(page)
        assert width_of(page) == width
        assert page.eval_on_selector_all("canvas", OUTSIDE) == 0
        page.eval_on_selector_all("details", "all => all.forEach((one) => { one.open = true; })")
        draw_all(page)
        found = Axe().run(page)
        assert len(found.response["passes"]) > 30
        assert found.violations_count == 0, found.generate_report()


RUN = {"q": {"a": 2.0, "b": 1.0}}
ODD = {
    "one system": ({"a": RUN}, {"q": {"b": 1}}, ["AP", "ASL@10"]),
    "equal systems": ({"a": RUN, "b": RUN, "c": RUN}, {"q": {"b": 1}}, ["AP", "ASL@10", "LexiP"]),
    "nothing relevant": ({"a": RUN, "b": RUN}, {"q": {"a": 0}}, ["AP", "ASL@10"]),
    "no direction": ({"a": RUN, "b": RUN}, {"q": {"a": 1}}, ["Judged@10"]),
    "one ranking": ({"a": RUN, "b": RUN}, {"q": {"a": 1}}, ["RR"]),
    "long names": ({"a" * 200: RUN, "b " * 99: RUN}, {"q": {"a": 1}}, ["AP", "ASL@10"]),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_pages_open(browser, tmp_path, what):
    with page_of(browser, tmp_path, *ODD[what], width=390) as (page, _):
        draw_all(page)
        assert width_of(page) == 390


def column(page, measure: int) -> list[float]:
    cells = page.query_selector_all(f"#board tbody td[data-measure='{measure}']")
    return [float(cell.get_attribute("data-value")) for cell in cells]


def texts(page, selector: str) -> list[str]:
    return page.eval_on_selector_all(selector, "all => all.map(c => c.textContent)")


def best_of(made) -> str:
    return made.findings.names[made.findings.first.order[0]]


def number_of(made, name: str) -> int:
    return [each.name for each in made.findings.rankings].index(name)


def test_headings_sort_best_first_by_keyboard(browser, file, made):
    with opened(browser, file) as page:
        page.click("#board-columns summary")
        for name, better in (("ASL(g=10)@1000", "low"), ("LexiP", "high"), ("Judged@10", "")):
            measure = number_of(made, name)
            page.check(f"#board-columns input[value=m{measure}]")
            selector = f"#board thead th[data-measure='{measure}']"
            assert page.get_attribute(selector, "data-better") == better
            page.focus(f"{selector} button")
            page.keyboard.press("Enter")
            values = column(page, measure)
            assert values == sorted(values, reverse=better != "low")
            assert page.get_attribute(selector, "aria-sort") is not None
            page.keyboard.press("Enter")
            assert column(page, measure) == values[::-1]


HEADING, LINK = "#board thead th[data-measure='{}'] button", "#strip th a:text-is('AP')"


@pytest.mark.parametrize("how", ["list", HEADING, LINK], ids=["list", "heading", "link"])
def test_ranks_and_groups_follow_the_measure(browser, file, made, how):
    ranking = made.findings.rankings[number_of(made, "AP")]
    with opened(browser, file) as page:
        if how == "list":
            choose(page, measure="AP")
        else:
            page.click(how.format(number_of(made, "AP")))
        order = ranking.order.tolist()
        assert texts(page, "#board tbody th") == [made.findings.names[at] for at in order]
        rows = ranking.board.overall
        ends = [f"{a}–{b}" if a != b else f"{a}" for a, b in zip(rows["low"], rows["high"])]
        assert texts(page, "#board .ranks") == ends
        assert texts(page, "#board .order")[0].endswith("✱") == ranking.board.stars[0]
        possible = rows["name"][rows["could_be_best"]].tolist()
        assert texts(page, "#board tbody tr.possible th") == possible
        (says,) = page.locator(".verdict .says:visible").all_text_contents()
        assert " by AP" in says
        assert texts(page, "#board tbody td.rank") == [str(ranking.ranks[at]) for at in order]
        assert texts(page, "#board thead th")[2].startswith("AP")
        assert "measure=AP" in page.url
        assert page.input_value("#measure") == str(number_of(made, "AP"))


@pytest.mark.parametrize("width", [390, 1400])
def test_every_question_is_answered_at_once(browser, file, width):
    """The first window shows the verdict and its figure; a click unfolds further sentences."""
    with opened(browser, file, width) as page:
        for part in (".says:visible", ".ten li:visible"):
            box = page.locator(part).first.bounding_box()
            assert 0 <= box["y"] and box["y"] + box["height"] <= 850
        shown, found = (
            page.locator(f".answers {part}:visible").all_text_contents() for part in ("dt", "dd")
        )
        assert "is significantly better than" in dict(zip(shown, found))["Is it real?"]
        page.locator(".answers summary:visible").first.click()
        assert page.is_visible(".answers details[open] li")


@pytest.mark.parametrize("width", [390, 1400])
def test_names_of_systems_stay_different(browser, tmp_path, width):
    """Names that differ only at their ends are not cut off in tables and on axes."""
    names = [f"bm25-tuned-with-a-long-description-of-everything-{at}" for at in range(5)]
    runs = dict(zip(names, RUNS.values()))
    of_runs = (runs, QRELS, ["AP", "ASL@20", "LexiP"])
    with page_of(browser, tmp_path, *of_runs, width=width) as (page, _):
        assert sorted(texts(page, "#board tbody th.name")) == names
        for part in ("#board tbody th.name", ".ten li a", "#strip td.name"):
            assert page.eval_on_selector_all(part, CUT) == 0
        draw_all(page)
        for chart in ("loss", "judged", "matrix", "bump"):
            shown = re.findall(r"<text[^>]*>([^<]*)</text>", svg_of(page, chart))
            assert len({text for text in shown if "bm25" in text}) >= 5, (chart, shown)


def overlap(one: dict[str, float], other: dict[str, float], room: float) -> bool:
    """Whether two boxes have more than some pixels in common, in both directions."""
    for begin, size in (("x", "width"), ("y", "height")):
        end = min(box[begin] + box[size] for box in (one, other))
        if end - max(one[begin], other[begin]) <= room:
            return False
    return True


@pytest.mark.parametrize("width", [390, 700, 1280])
def test_names_of_eight_measures_do_not_overlap(browser, tmp_path, width):
    measures = "nDCG@10 ASL@1000 ASL(g=10)@1000 LexiP AP_Rareness@100 AP RR R@1000".split()
    with page_of(browser, tmp_path, RUNS, QRELS, measures, width=width) as (page, _):
        draw_all(page)
        page.set_content(svg_of(page, "bump"))
        whole = page.query_selector("svg").bounding_box()
        labels = page.query_selector_all(".role-axis-label text")
        boxes = {label.text_content(): label.bounding_box() for label in labels}
    assert set(measures) < set(boxes)
    for box in boxes.values():
        assert whole["x"] <= box["x"] and box["x"] + box["width"] <= whole["width"] + whole["x"]
        assert box["y"] + box["height"] <= whole["height"] + whole["y"]
    for one, other in itertools.combinations(boxes.values(), 2):
        assert not overlap(one, other, 1.5)


def test_chosen_columns_belong_to_the_address(browser, file):
    """They are kept when the page is reloaded, left, opened again and shared."""
    rr, retrieved = (f"#board-columns label:text-is(' {n}') input" for n in ("RR", "Retrieved"))

    def shown(page):
        heads = page.locator("#board thead th:visible").all_text_contents()
        return [head.strip(" ↑↓") for head in heads if head.startswith(("RR", "Retrieved", "AP"))]

    with opened(browser, file) as page:
        usual = shown(page)
        page.click("#board-columns summary")
        assert "column=" not in page.url
        page.check(rr)
        page.uncheck(retrieved)
        chosen = shown(page)
        assert "RR" in chosen and "Retrieved" in usual and "Retrieved" not in chosen
        reload(page)
        assert shown(page) == chosen
        page.click("nav a[data-section=about]")
        address = page.url
        page.click("#board-columns summary")
        page.uncheck(rr)
        assert "RR" not in shown(page)
        page.go_back()
        back = "document.querySelector('#board-columns [value=m0]') && location.hash"
        page.wait_for_function(back)
        assert shown(page) == chosen
    with opened(browser, file, address=address) as page:
        assert shown(page) == chosen
        page.click("#board-columns summary")
        page.uncheck(rr)
        page.check(retrieved)
        assert shown(page) == usual and "column=" not in page.url


def test_the_commands_of_a_pair_have_the_grade_of_the_page(browser, tmp_path):
    with page_of(browser, tmp_path, THREE, QRELS, ["AP"], rel=2) as (page, _):
        choose(page, pair_a="fair", pair_b="poor")
        assert page.text_content("#pair-planned").endswith(" QRELS fair poor -m 'AP' --rel 2")


def test_a_phone_shows_everything(browser, file):
    """Nothing has to be scrolled sideways, and no parts overlap."""
    with opened(browser, file, 390) as page:
        for part in ("nav a", "#pair-table td", "#moved td", "#unjudged-table td", "#documents td"):
            assert page.locator(part).count() > 5
            assert page.eval_on_selector_all(part, OUTSIDE) == 0, part
        labels = "all => all.map((one) => one.dataset.label)"
        row = page.eval_on_selector_all("#moved tbody tr:first-child td.num", labels)
        assert row == ["Grade", "Rank in A", "Rank in B"]
        for row in page.query_selector_all("#strip tbody tr"):
            boxes = [cell.bounding_box() for cell in row.query_selector_all("th, td:not(:empty)")]
            assert not any(overlap(*two, 1) for two in itertools.combinations(boxes, 2))
            assert row.eval_on_selector_all("th, td", CUT) == 0
        choose(page, measure="nDCG@10")
        box = page.query_selector("#board tbody tr td.chosen").bounding_box()
        assert box["x"] + box["width"] <= 390


def test_unjudged_shares_follow_the_measure_and_leave_out_equal_ones(browser, file, made):
    with opened(browser, file) as page:
        choose(page, measure="AP")
        draw_all(page)
        _, (head, *rows) = saved(page, page.query_selector("[data-chart=judged] [data-save=csv]"))
        svg = svg_of(page, "judged")
    assert head[0] == "system" and len(head) > 1
    assert all(len({row[at] for row in rows}) > 1 for at in range(len(head)))
    order = [made.findings.names[at] for at in made.findings.rankings[number_of(made, "AP")].order]
    shown = [text for text in re.findall(r">([^<]*)</text>", svg) if text in order]
    assert shown == [name for name in order if name != EVIL]


def test_the_address_holds_what_is_chosen(browser, file, made):
    """A name in the address that is not on the page is ignored."""
    with opened(browser, file) as page:
        choose(page, pair_a="fair", pair_b=EVIL)
        choose(page, measure="LexiP")
        page.click("#query-table .open:text-is('7')")
        address = page.url
    assert EVIL not in address
    with opened(browser, file, address=f"{file.as_uri()}#pair?a=unknown&query=2") as page:
        assert chosen(page, "pair-a") == [best_of(made)]
        assert page.text_content("#query-h") == "Query 2"
    with opened(browser, file, address=address) as page:
        assert chosen(page, "pair-a", "pair-b", "measure") == ["fair", EVIL, "LexiP"]
        assert page.text_content("#query-h") == "Query 7"
        box = page.query_selector("#query").bounding_box()
        assert 0 <= box["y"] < 200


def test_links_reloading_and_going_back_keep_what_is_chosen(browser, file, made):
    both, hardest = ("measure", "pair-a"), QUERIES[made.findings.first.hardest_first[0]]
    with opened(browser, file) as page:
        page.click("#board a.system:text-is('poor')")
        assert chosen(page, "pair-a") == ["poor"]
        assert page.url.endswith(
            f"#pair?measure=nDCG%4010&a=poor&b={best_of(made)}&query={hardest}"
        )
        choose(page, measure="AP")
        choose(page, pair_a="poor")
        for section in ("queries", "about", "leaderboard"):
            page.click(f"nav a[data-section={section}]")
            assert chosen(page, *both) == ["AP", "poor"]
        page.click("#board a.system:text-is('fair')")
        assert chosen(page, *both) == ["AP", "fair"]
        reload(page)
        assert chosen(page, *both) == ["AP", "fair"]
        page.go_back()
        page.wait_for_function("document.querySelector('#pair-a option:checked').text === 'poor'")
        assert chosen(page, *both) == ["AP", "poor"]
        page.click("#strip th a:text-is('LexiP')")
        page.wait_for_function("document.querySelector('#measure option:checked').text === 'LexiP'")
        assert chosen(page, *both) == ["LexiP", "poor"]


def test_the_interval_of_a_system_greys_those_that_are_not_ordered_against_it(browser, file, made):
    better, names = made.findings.first.better, made.findings.names
    with opened(browser, file) as page:
        for system, name in enumerate(names):
            page.click(f"#board tr[data-system='{system}'] .order")
            ordered = better[system] | better[:, system]
            grey = {names[at] for at in np.flatnonzero(~ordered) if at != system}
            assert set(texts(page, "#board tr.unordered th")) == grey
            says = page.text_content("#board-says")
            assert f"Systems in grey do not differ significantly from {name}" in says


def test_choosing_a_query_by_keyboard(browser, file):
    with opened(browser, file) as page:
        page.locator("#query-table .open", has_text="onerror").focus()
        page.keyboard.press("Enter")
        assert page.text_content("#query-h") == f"Query {EVIL_QUERY}"
        assert page.text_content("#query-text") == f"what about {EVIL_QUERY}"
        assert len(page.query_selector_all("#documents tbody tr")) == 8
        page.select_option("#documents-depth", "10")
        page.select_option("#documents-which", "rare")
        counts = [int(text) for text in texts(page, "#documents tbody td:nth-child(3)")]
        assert all(1 <= count <= 3 for count in counts)


def test_top_tens_side_by_side(browser, file):
    with opened(browser, file, address=f"{file.as_uri()}#query?a=poor&b=fair&query=4") as page:
        for side, name in (("a", "poor"), ("b", "fair")):
            ranking = [str(d) for d in brute_force.ranking(RUNS[name]["4"], QRELS["4"])[:10]]
            assert texts(page, f"#query .tops .{side} li .id") == ranking
            relevant = [d for d in ranking if QRELS["4"].get(d)]
            assert texts(page, f"#query .tops .{side} li.relevant .id") == relevant
            unjudged = [d for d in ranking if d not in QRELS["4"]]
            assert texts(page, f"#query .tops .{side} li.unjudged .id") == unjudged


def test_two_systems(browser, file, made):
    with opened(browser, file) as page:
        choose(page, pair_a="good", pair_b="poor")
        found = preferences(RUNS["good"], RUNS["poor"], QRELS)["sgnLP"]
        said = page.text_content("#pair-says")
        assert f"is preferred on {(found > 0).sum()} queries" in said
        assert f"B (poor) on {(found < 0).sum()}." in said
        planned = page.text_content("#pair-planned")
        assert planned.endswith("pyterrier-asl compare QRELS good poor -m 'nDCG@10'")
        page.click("#pair-swap")
        assert page.text_content("#pair-says").startswith("By lexicographic precision A (poor)")


def pair_table(page) -> list[dict[str, str]]:
    """The rows of the table of A and B, by heading."""
    heads = [head.split("\u2003")[0] for head in texts(page, "#pair-table thead th")]
    rows = page.query_selector_all("#pair-table tbody tr")
    cells = [[c.text_content() for c in row.query_selector_all("th, td")] for row in rows]
    return [dict(zip(heads, row)) for row in cells]


@pytest.mark.filterwarnings("ignore")
def test_a_p_in_the_browser_is_on_the_side_of_alpha_where_it_is(browser, tmp_path):
    """Alpha is the p of an unordered pair, rounded to three places below it."""
    pairs = ranks(RUNS, QRELS, "AP").pairs()
    [above] = [row for row in pairs.itertuples() if 0 < row.p - round(row.p, 3)][:1]
    level = round(above.p, 3)
    with page_of(browser, tmp_path, RUNS, QRELS, ["AP"], alpha=level) as (page, _):
        choose(page, pair_a=above.a, pair_b=above.b)
        shown = pair_table(page)[0]["p, all pairs"]
    assert "✱" not in shown and float(shown) > level


def test_pairs_in_the_browser_match_ranks(browser, file, made):
    """Difference, p and star, for A against B and B against A."""
    decisive = made.findings.decisive
    boards = {each.name: ranks(RUNS, QRELS, each.named.measure) for each in decisive}
    with opened(browser, file) as page:
        for a, b in itertools.permutations(["good", "fair", "poor"], 2):
            choose(page, pair_a=a, pair_b=b)
            for row in pair_table(page):
                p = row["p, all pairs"]
                if (board := boards.get(row["Measure"])) is None:  # a count, or preferences
                    assert p == "–"
                    continue
                expected = board.p.loc[a, b]
                text = p_text(expected, board.draws, board.alpha).removeprefix("p = ")
                assert p.removesuffix(" ✱") == text
                assert p.endswith("✱") == board.better.loc[a, b] | board.better.loc[b, a]
                means = board.overall.set_index("name")["mean"]
                difference = float(row["B − A"].replace("−", "-"))
                assert difference == pytest.approx(means[b] - means[a], abs=0.06)


def test_no_two_systems_shown_have_one_colour(browser, tmp_path):
    runs = {f"s{seed}": a_run(seed, list(QRELS), noise=0.3 + seed / 9) for seed in range(15)}
    measures = ["ASL@1000", "AP", "LexiP"]
    with page_of(browser, tmp_path, runs, QRELS, measures) as (page, made):
        *_, last = order = [made.findings.names[at] for at in made.findings.first.order]
        choose(page, pair_a=last, pair_b=order[-2])
        draw_all(page)
        value = "getComputedStyle(document.body).getPropertyValue"
        shown = [page.evaluate(f"{value}('--{side}')") for side in "ab"]
        svg = {name: svg_of(page, name) for name in ("lengths", "bump")}
    assert shown[0] != shown[1]
    assert all(colour in svg[name] for colour in shown for name in svg)


def saved_text(page, button) -> tuple[str, str]:
    page.wait_for_timeout(150)  # Chromium allows ten downloads per second
    with page.expect_download() as download:
        button.click()
    content = Path(download.value.path()).read_text(encoding="utf-8")
    assert len(content) > 20
    return download.value.suggested_filename, content


def svg_of(page, chart: str) -> str:
    return saved_text(page, page.query_selector(f"[data-chart={chart}] [data-save=svg]"))[1]


def saved(page, button) -> tuple[str, list[list[str]]]:
    name, content = saved_text(page, button)
    return name, list(csv.reader(io.StringIO(content, newline="")))


def test_saved_data_has_the_numbers_of_the_library(browser, file, made):
    """A is poor, B is good, on query 4 by AP."""
    address = f"{file.as_uri()}#pair?a=poor&b=good&query=4&measure=AP"
    with opened(browser, file, address=address) as page:
        draw_all(page)
        files = [saved(page, button) for button in page.query_selector_all("[data-save]")]
    values = evaluate(RUNS, QRELS, ["AP"]).set_index(["name", "qid"])["AP"]
    by_query = values.groupby("qid")
    medians, spreads = by_query.median(), by_query.std()
    board = ranks(RUNS, QRELS, "AP")
    table = board.table.set_index("name")

    def part(name: str) -> list[dict[str, str]]:
        head, *rows = next(rows for title, rows in files if title.endswith(f"-{name}.csv"))
        return [dict(zip(head, row)) for row in rows]

    def check(row: dict[str, str], **expected: float) -> None:
        found = {name: float(row[name]) for name in expected}
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)

    assert {row["system"] for row in part("loss")} == set(RUNS)
    assert len(part("values")) == len(values) and len(part("matrix")) == len(RUNS) ** 2
    for row in part("values"):
        check(row, AP=values[row["run"], row["qid"]])
    for row in part("board"):
        of = table.loc[row["system"]]
        ends = {f"rank {end} by AP": of[end] for end in ("low", "high")}
        check(row, AP=of["mean"], **ends, **{"rank by AP": of["rank"]})
    for row in part("differences"):
        check(row, a=values["poor", row["query"]], b=values["good", row["query"]])
    for row in part("queries"):
        check(row, median=medians[row["query"]], spread=spreads[row["query"]], relevant=8)
    for row in part("strip"):
        check(row, value=values[row["system"], "4"])
    for row in part("ranks"):
        for side, name in (("in_a", "poor"), ("in_b", "good")):
            docs = brute_force.ranking(RUNS[name][row["query"]], QRELS[row["query"]])
            places = {str(docno): str(rank) for rank, docno in enumerate(docs, 1)}
            assert row[side] == places.get(row["document"], "not retrieved")
    for row in part("matrix"):
        signs = preferences(RUNS[row["system"]], RUNS[row["against"]], QRELS)["sgnLP"]
        check(row, wins=(signs > 0).sum(), losses=(signs < 0).sum())
    [row] = [row for row in part("pair-table") if row["measure"] == "AP"]
    a, b = table["mean"]["poor"], table["mean"]["good"]
    assert (row["system_a"], row["system_b"]) == ("poor", "good")
    check(row, mean_a=a, mean_b=b, difference=b - a)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_is_drawn_when_printed_right_after_opening(browser, file, tmp_path, scheme):
    with opened(browser, file, width=740, scheme=scheme) as page:
        page.pdf(path=tmp_path / "report.pdf")
        figures = len(page.query_selector_all("figure[data-chart]"))
        assert len(page.query_selector_all("figure[data-drawn]")) == figures > 5
        assert page.get_attribute("html", "class") == ""
        page.emulate_media(media="print")
        size = "parseFloat(getComputedStyle(document.querySelector('#board td')).fontSize)"
        assert page.evaluate(size) >= 8 * 96 / 72 - 0.01, "8 points"
        assert width_of(page) <= 740, "tables fit on paper"


def test_tables_can_be_read_without_scripts(browser, file):
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.is_visible("#board tbody tr:first-child")
    assert page.is_visible("#query-table tbody tr:first-child")
    assert page.is_visible("#summary .says") and page.is_visible("#summary .ten li")
    page.click("#summary summary")
    assert page.is_visible("#summary .answers li")
    context.close()


def test_a_pair_whose_values_are_left_out_has_means_and_tests(browser, tmp_path, monkeypatch):
    """Queries show the systems with values on the page."""
    monkeypatch.setattr("pyterrier_asl.reporting.findings.MOST", 1)
    with page_of(browser, tmp_path, THREE, QRELS, ["AP"]) as (page, made):
        means = dict(zip(made.findings.names, made.findings.first.means))
        names = sorted(means, key=means.get, reverse=True)
        assert "not on this page" not in page.text_content("#pair-says")
        choose(page, pair_b=names[2])
        assert "of one of the two are not on this page" in page.text_content("#pair-says")
        cells = texts(page, "#pair-table tbody tr:first-child > *")
        difference = float(cells[3].replace("−", "-"))
        assert difference == pytest.approx(means[names[2]] - means[names[0]], abs=6e-5)
        assert cells[4] != "–"
        draw_all(page)
        _, rows = saved(page, page.query_selector("#leaderboard [data-save=values]"))
        assert {row[0] for row in rows[1:]} == set(names[:2])


FOUR_GRADES = {
    query: {d: (at * 7 + number) % 4 for at, d in enumerate(of)}
    for number, (query, of) in enumerate(QRELS.items())
}
BOUNDED = {"nDCG@5": "nDCG@5", "AP": "AP@100", "ASL@20": "ASL@20"}


def test_bounds_and_documents_to_judge_match_holes(browser, tmp_path):
    """Also of two systems in the other order: the ranks change sides, the sentence stays."""
    with page_of(browser, tmp_path, THREE, FOUR_GRADES, list(BOUNDED)) as (page, _):
        pairs = [("good", "fair"), ("poor", "fair")]
        for (name, cut), pair in itertools.product(BOUNDED.items(), pairs):
            choose(page, measure=name, pair_a=pair[0], pair_b=pair[1])
            expected = holes({n: THREE[n] for n in THREE if n in pair}, FOUR_GRADES, cut)
            says = page.text_content("#unjudged-says")
            assert says.startswith(f"{expected.difference.describe()}.")
            assert ("Bounds need a cut-off: these are of AP@100" in says) == (name == "AP")
            is_open = expected.verdict == "open"
            assert ("There is nothing to judge" in says) != is_open
            assert page.is_visible("#unjudged-list") == is_open
            places = 1 if name == "ASL@20" else 4
            todo = expected.todo.head(10 * is_open)
            todo = todo[[float(f"{abs(w):.{places}f}") > 0 for w in todo["weight"]]]
            rows = "#unjudged-table tbody tr"
            assert texts(page, f"{rows} .id") == todo["docno"].tolist()
            assert [text.strip() for text in texts(page, f"{rows} th")] == todo["qid"].tolist()
            ranks = [todo["rank_a"], todo["rank_b"]][:: 1 if pair[0] == "good" else -1]
            for column, of_run in zip((3, 4), ranks):
                shown = texts(page, f"{rows} td:nth-child({column})")
                assert shown == ["–" if pd.isna(rank) else str(rank) for rank in of_run]
            for weight, effect in zip(todo["weight"], texts(page, f"{rows} td:last-child")):
                b_gains = (weight > 0) == (name != "ASL@20")
                helped = expected.difference.b if b_gains else expected.difference.a
                assert effect == f"{abs(weight):.{places}f} for {helped}"


def test_a_measure_without_bounds_and_judged_documents_say_so(browser, tmp_path):
    runs = {name: {q: {"d1": 2.0, "d9": 1.0} for q in QRELS} for name in ("one", "other")}
    with page_of(browser, tmp_path, runs, QRELS, ["P@2", "SetP"]) as (page, _):
        says = page.text_content("#unjudged-says")
        nothing = "There is nothing to judge: no labels make the other system better."
        assert says == f"By P@2 all documents of both systems are judged. {nothing}"
        choose(page, measure="SetP")
        assert page.text_content("#unjudged-says") == "SetP has no bounds."
        assert page.is_hidden("#unjudged-table")


def test_trec8_is_small_and_opens_quickly(browser, data, tmp_path):
    folder = data / "trec8-adhoc"
    page_file = tmp_path / "trec8.html"
    report(folder / "runs", folder / "qrels.txt.gz").save(page_file)
    assert page_file.stat().st_size < 4e6
    with opened(browser, page_file) as page:
        ready = page.evaluate("performance.now()")
        assert ready < 2000 * 3  # other load on the machine
        assert len(page.query_selector_all("#board tbody tr")) == 129
