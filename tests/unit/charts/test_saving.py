"""Saved charts: names stay text, and a file is replaced completely or not at all."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from pyterrier_asl.charts.drawing import captioned
from pyterrier_asl.charts.saving import ENDINGS, check_path, save_chart

alt = pytest.importorskip("altair")

EVIL = "</script><script>window.hurt=1</script><img src=x onerror=window.hurt=1><!-- \u2028"


def drawn(name):
    data = alt.InlineData(values=[{"name": name, "value": 1}])
    chart = alt.Chart(data, title=name).mark_bar()
    return chart.encode(x="name:N", y="value:Q", tooltip="name:N")


def elements(page):
    """The elements that a browser sees, in their order."""
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.append(tag)

    Reader().feed(page)
    return found


@pytest.mark.parametrize("alone", [True, False])
def test_a_name_cannot_become_markup(tmp_path, monkeypatch, alone):
    """With vl-convert the page contains its scripts; without it the page loads them."""
    if alone:
        pytest.importorskip("vl_convert")
    else:
        monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    pages = []
    for name in ("bm25", EVIL):
        chart = captioned(drawn(name), name, name)
        save_chart(chart, tmp_path / "chart.html")
        pages.append((tmp_path / "chart.html").read_text(encoding="utf-8"))
        pages.append(chart.to_html())
    assert elements(pages[0]) == elements(pages[2]) and elements(pages[1]) == elements(pages[3])
    assert not any("window.hurt=1<" in page or "<img src=x" in page for page in pages[2:])


def test_markup_leaves_every_kind_of_data_and_stays_found():
    """Columns, sort orders and lists are renamed alike, so that they still match."""
    frame = pd.DataFrame({"<b>": ["x</y", "a < b"], "n": [1, 2], "of": [["<i"], []]})
    chart = alt.Chart(frame).mark_bar().encode(x="n:Q", y=alt.Y("<b>:N", sort=["x</y"]))
    spec = captioned(alt.layer(chart), "<u>", "<s").to_dict()
    (rows,) = spec["datasets"].values()
    assert rows[0] == {"‹b>": "x‹/y", "n": 1, "of": ["‹i"]} and rows[1]["‹b>"] == "a < b"
    encoding = spec["layer"][0]["encoding"]["y"]
    assert (encoding["field"], encoding["sort"]) == ("‹b>", ["x‹/y"])
    assert (spec["title"]["text"], spec["title"]["subtitle"]) == ("‹u>", ["‹s"])
    assert frame.columns.tolist() == ["<b>", "n", "of"], "the caller's frame is not changed"


def test_without_altair_it_is_said_what_to_install(tmp_path, monkeypatch):
    check_path(tmp_path / "chart.html")
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    with pytest.raises(ValueError, match="charts need Altair: pip install"):
        check_path(tmp_path / "chart.html")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_chart_that_cannot_be_saved_leaves_the_old_one(tmp_path, small_files, ending):
    pytest.importorskip("vl_convert")
    path = tmp_path / f"chart{ending}"
    save_chart(drawn("old"), path)
    old = path.read_bytes()
    with small_files(), pytest.raises(OSError, match=f"cannot write {path}: File too large"):
        save_chart(drawn("new"), path)
    assert path.read_bytes() == old
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_without_vl_convert_only_pages_are_saved(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    with pytest.raises(ValueError, match="^.svg needs vl-convert: pip install"):
        save_chart(drawn("name"), tmp_path / "chart.svg")
    save_chart(drawn("name"), tmp_path / "chart.html", title="")
    assert [path.name for path in tmp_path.iterdir()] == ["chart.html"]


def test_pictures_have_three_pixels_for_each_of_the_chart(tmp_path):
    pytest.importorskip("vl_convert")
    save_chart(drawn("bar"), tmp_path / "chart.png")
    save_chart(drawn("bar"), tmp_path / "chart.svg")
    width = int(re.search(r'<svg[^>]*? width="(\d+)"', (tmp_path / "chart.svg").read_text())[1])
    assert int.from_bytes((tmp_path / "chart.png").read_bytes()[16:20], "big") == 3 * width


@pytest.mark.parametrize(("title", "heading"), [(None, "The title"), ("Mine", "Mine"), ("", "")])
def test_a_title_is_drawn_replaced_or_left_out(tmp_path, title, heading):
    chart = captioned(drawn("bar"), "The title", "The caption.")
    save_chart(chart, tmp_path / "c.svg", title=title)
    text = (tmp_path / "c.svg").read_text()
    assert [name for name in ("The title", "Mine") if name in text] == [heading][: len(heading)]
    assert ("The caption." in text) == bool(heading) and "bar" in text


def test_a_chart_needs_an_ending_and_a_folder(tmp_path):
    with pytest.raises(ValueError, match="chart.gif must end in one of .html, .svg, .png, .pdf"):
        check_path(tmp_path / "chart.gif")
    with pytest.raises(FileNotFoundError, match="there is no folder .*nowhere"):
        check_path(tmp_path / "nowhere" / "chart.svg")
    (tmp_path / "other.svg").write_text("something else")
    for save in (check_path, lambda path: save_chart(drawn("a"), path)):
        with pytest.raises(OSError, match="other.svg"):
            save(tmp_path / "other.svg")
    check_path(tmp_path / "other.svg", force=True)
