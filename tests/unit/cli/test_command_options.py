"""Options that come from signatures, and ``-o`` and ``-t``, which mean one thing everywhere."""

import json
import re

import click
import pytest
from _calls import call

from pyterrier_asl.cli import main
from pyterrier_asl.cli.options import OF_QRELS, Option, given, qrels_of

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


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_default(name):
    command = COMMANDS[name]
    words = " ".join(command.get_help(click.Context(command, terminal_width=10_000)).split())
    for option in command.params:
        default = option.to_info_dict().get("default")
        if isinstance(option, click.Option) and not option.is_flag and default:
            shown = default if not isinstance(default, (list, tuple)) else ", ".join(default)
            said = rf"{option.opts[-1]}\b.*?\[default: {re.escape(str(shown))}[];]"
            assert re.search(said, words)
    assert all(of_option.count("[default:") <= 1 for of_option in words.split(" --"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_short_name_means_one_thing(name):
    means = {"-t": {"tracks"}, "-o": {"form", "output"}, "-m": {"measure", "measures"}}
    means |= {"-k": {"cutoff"}, "-l": {"rel"}, "-q": {"by_query", "show"}, "-p": {"places"}}
    means["-j"] = {"jobs"}
    for option in COMMANDS[name].params:
        for short in means.keys() & set(option.opts):
            assert option.name in means[short]


#: A value other than the default, by the type of an option, and of options with values of a form.
VALUES = {"integer range": "7", "integer": "7", "float": "0.25", "float range": "0.25"}


@pytest.mark.parametrize("name", COMMANDS)
def test_options_reach_the_function_only_if_they_were_given(name, monkeypatch):
    command = COMMANDS[name]
    for option in command.params:
        if not isinstance(option, Option):
            continue
        monkeypatch.setattr(option, "read", lambda value: value)
        monkeypatch.setattr(option, "required", False)
    plain = {o.name: o for o in command.params if isinstance(o, Option) and o.nargs == 1}
    words = []
    for option in plain.values():
        long = next(word for word in option.opts if word.startswith("--"))
        choices = [c for c in getattr(option.type, "choices", ()) if c != option.default]
        value = choices[-1] if choices else VALUES.get(option.type.name, "x=1")
        words += [long] if option.is_flag else [long, value]
    required = ["1"] * sum(isinstance(p, click.Argument) and p.required for p in command.params)
    required += ["-o", "x"] if name in ("report", "pool") else []
    for said, expected in (([], set()), (words, set(plain))):
        with command.make_context(name, [*required, *said]):
            found = given()
            qrels = qrels_of("x")
        if "drop_self" in plain:  # these options reach the qrels
            found |= {} if qrels == "x" else {"labels": qrels.labels, **qrels.matching}
            assert {*OF_QRELS} - {*plain} <= {"labels"}
        found = {key: value for key, value in found.items() if key in plain}
        assert found.keys() == expected
        defaults = {key: option.default for key, option in plain.items()}
        assert all(found[key] not in (None, False, (), defaults[key]) for key in found)


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


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (["a", "-o", "xls"], "'xls' is no form (table, tsv, csv, jsonl, latex, markdown), and no "),
        (["run.tsv", "-o", "run.tsv"], "it is one of the inputs"),
        (["a", "--force"], "--force goes with an option that writes a file"),
        (["a", "-o", "gone/x.tsv"], "there is no folder"),
    ],
)
def test_what_cannot_be_written(files, said, message):
    (files / "run.tsv").write_text((files / "a").read_text())
    result = call("evaluate", "qrels", *said)
    assert result.exit_code == 2 and message in " ".join(result.stderr.split())
