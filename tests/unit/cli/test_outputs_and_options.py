"""Files and forms of the output, and options made from signatures."""

from __future__ import annotations

import json
import re

import click
import pytest
from _calls import call
from _files import write_qrels, write_run
from click.testing import CliRunner

from pyterrier_asl.cli import main, options

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


CONTEXT = click.Context(main)
COMMANDS = {name: main.get_command(CONTEXT, name) for name in main.list_commands(CONTEXT)}
ANALYZE = COMMANDS.pop("analyze")
COMMANDS |= {name: ANALYZE.get_command(CONTEXT, name) for name in ANALYZE.list_commands(CONTEXT)}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q 0 d1 1\nq 0 d3 1\n")
    for name, docs in {"a": "d1 d2 d3", "b": "d2 d1 d3"}.items():
        lines = [f"q Q0 {doc} {n} {9 - n} x\n" for n, doc in enumerate(docs.split())]
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


#: Short names of options, and the parameters that they may mean.
SHORT = {"-t": {"tracks"}, "-o": {"form", "output"}, "-m": {"measure", "measures"}, "-l": {"rel"}}
SHORT |= {"-k": {"cutoff"}, "-q": {"by_query", "show"}, "-p": {"places"}, "-j": {"jobs"}}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_default_and_a_short_name_means_one_thing(name):
    command = COMMANDS[name]
    words = " ".join(command.get_help(click.Context(command, terminal_width=10_000)).split())
    for option in command.params:
        default = option.to_info_dict().get("default")
        if isinstance(option, click.Option) and not option.is_flag and default:
            shown = default if not isinstance(default, (list, tuple)) else ", ".join(default)
            said = rf"{option.opts[-1]}\b.*?\[default: {re.escape(str(shown))}[];]"
            assert re.search(said, words)
        assert all(option.name in SHORT[short] for short in SHORT.keys() & {*option.opts})
    assert all(of_option.count("[default:") <= 1 for of_option in words.split(" --"))


def test_a_table_is_written_in_the_form_of_its_ending(files):
    printed = call("compare", "qrels", "a", "b", "-m", "AP", "-o", "jsonl").stdout
    done = call("compare", "qrels", "a", "b", "-m", "AP", "-o", "table.jsonl")
    assert done.exit_code == 0 and done.stdout == "" and "wrote table.jsonl" in done.stderr
    assert (files / "table.jsonl").read_text() == printed and json.loads(printed.splitlines()[0])
    for ending, part in {".txt": "AP", ".tsv": "\t", ".tex": "tabular", ".md": "| "}.items():
        assert call("evaluate", "qrels", "a", "b", "-o", f"t{ending}").exit_code == 0
        assert part in (files / f"t{ending}").read_text()


def test_an_exit_status_is_kept_and_an_error_writes_nothing(files):
    guard = ["compare", "qrels", "a", "b", "--fail-if", "AP worse", "-o"]
    assert call(*guard, "table.tsv").exit_code == 1 and (files / "table.tsv").exists()
    assert call("compare", "qrels", "a", "gone", "-o", "no.tsv").exit_code == 2
    assert not (files / "no.tsv").exists()


def test_a_parameter_that_no_text_can_give_is_refused():
    def function(places: tuple[int, ...] = ()): ...

    function.__annotations__["places"] = "tuple[int, ...]"
    with pytest.raises(TypeError, match=r"places: tuple\[int, ...\] is not a text.*option_table"):
        options.of(function)
