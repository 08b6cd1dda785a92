"""ir_metadata at the head of runs."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from pyterrier_asl.io.metadata import metadata_lines, parse_metadata, read_metadata
from pyterrier_asl.io.runs import read_run, write_run

#: Like the examples of its authors, with tabs as indentation.
HEAD = """# ir_metadata.start
# tag: bm25
# actor:
# \tteam: A
# research goal:
#   description: |
#     two lines:
#     of text
# data:
#   test collection:
#     - name: vaswani
# ir_metadata.end
"""
METADATA = {
    "tag": "bm25",
    "actor": {"team": "A"},
    "research goal": {"description": "two lines:\nof text\n"},
    "data": {"test collection": [{"name": "vaswani"}]},
}
LINES = "1 Q0 a 0 2.5 bm25\n1 Q0 b 1 1.5 bm25\n"


def test_it_is_read_from_the_head_alone(tmp_path):
    path = tmp_path / "bm25.run.gz"
    path.write_bytes(gzip.compress((HEAD + LINES + "# ir_metadata.start\n").encode()))
    assert read_metadata(path) == METADATA


def test_a_run_keeps_it_when_it_is_written_again(tmp_path):
    first, again = tmp_path / "first.run", tmp_path / "again.run"
    first.write_text("# another comment\n" + HEAD + LINES)
    run = read_run(first)
    assert run.attrs["metadata"] == METADATA
    write_run(run, again)
    assert read_metadata(again) == METADATA
    assert again.read_text().endswith(LINES)
    pd.testing.assert_frame_equal(read_run(again), run)


def test_there_need_be_none(tmp_path):
    path = tmp_path / "bm25.run"
    path.write_text("# a comment\n" + LINES)
    assert read_metadata(path) == {}
    assert "metadata" not in read_run(path).attrs
    assert metadata_lines({}) == []


@pytest.mark.parametrize(
    "lines, message",
    [
        (["# ir_metadata.start", "# a: 1"], "does not end: add a line '# ir_metadata.end'"),
        (["# ir_metadata.start", "# a: [1", "# ir_metadata.end"], "is not YAML"),
        (["# ir_metadata.start", "# date: 2020-13-45", "# ir_metadata.end"], "is not YAML: month"),
        (["# ir_metadata.start", "# - a", "# ir_metadata.end"], "is not a mapping"),
        (["# ir_metadata.start", "# a: " + "[" * 3000, "# ir_metadata.end"], "nested too deeply"),
    ],
)
def test_what_is_no_metadata_is_named(lines, message):
    with pytest.raises(ValueError, match=r"the metadata of x.run") as error:
        parse_metadata(lines, "x.run")
    assert message in str(error.value)


def test_nothing_in_it_is_executed():
    lines = ["# ir_metadata.start", "# a: !!python/object/apply:os.getcwd []", "# ir_metadata.end"]
    with pytest.raises(ValueError, match="is not YAML"):
        parse_metadata(lines)


def test_a_run_with_blanks_in_ids_cannot_be_written(tmp_path):
    run = pd.DataFrame({"qid": ["1"], "docno": ["a b"], "score": [1.0]})
    with pytest.raises(ValueError, match="'a b'"):
        write_run(run, tmp_path / "x.run")
    assert not (tmp_path / "x.run").exists()
