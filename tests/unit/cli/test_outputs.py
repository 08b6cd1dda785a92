"""``-o`` of commands that save a file: the form of the file prints its content."""

from __future__ import annotations

import pytest
from _files import write_qrels, write_run
from click.testing import CliRunner

from pyterrier_asl.cli import main

QRELS = {f"q{n}": {"a": 1, "b": n % 2, "c": 0} for n in range(12)}
RUNS = {
    "one": {q: {"c": 9, "a": 8, "b": 6} for q in QRELS},
    "two": {q: {"b": n % 4, "a": 2, "c": 1} for n, q in enumerate(QRELS)},
}
POOL = ["pool", "two.run", "one.run", "--name", "mine"]
JUDGE = ["none", "one.run", "two.run", "--judge", "llm=qrels", "-m", "AP@2", "--queries", "3"]


@pytest.mark.parametrize(
    ("arguments", "form", "said"),
    [
        (POOL, "parquet", "output.parquet: RarenessPool('mine"),
        (["plan-audit", *JUDGE], "tsv", "documents"),
        (["report", "qrels", "two.run", "one.run", "-m", "AP"], "html", "Report(2 systems"),
    ],
    ids=["pool", "plan-audit", "report"],
)
def test_a_form_prints_what_a_file_holds(tmp_path, monkeypatch, arguments, form, said):
    monkeypatch.chdir(tmp_path)
    write_qrels(QRELS, "qrels")
    for name, run in RUNS.items():
        write_run(run, f"{name}.run")
    before = sorted(tmp_path.iterdir())
    printed = CliRunner().invoke(main, [*arguments, "-o", form])
    assert printed.exit_code == 0, printed.stderr
    assert said in printed.stderr and sorted(tmp_path.iterdir()) == before
    assert "wrote" not in printed.stderr
    assert CliRunner().invoke(main, [*arguments, "-o", f"file.{form}"]).exit_code == 0
    saved = (tmp_path / f"file.{form}").read_bytes()
    # The page shows its command.
    assert printed.stdout_bytes.replace(b"-o html", b"-o file.html") == saved
