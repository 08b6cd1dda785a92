"""The command line: values equal to loops, formats that can be read again, errors."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from _calls import call, evaluate, values
from _datasets import register
from _files import write_qrels, write_run
from click.testing import CliRunner, Result
from ir_measures.__main__ import main_cli

from pyterrier_asl import DocLengths
from pyterrier_asl.cli import COMMANDS, error_line, main

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d4": 1, "d9": 1}}
RUNS = {
    "a": {"q1": {"d2": 3.0, "d1": 2.0, "d3": 1.0}, "q2": {"d5": 2.0, "d4": 1.0}},
    "b": {"q1": {"d3": 3.0, "d7": 2.0, "d1": 1.0}, "q2": {"d4": 9.0, "d8": 8.0, "d9": 7.0}},
}


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    """The folder the command is run in: qrels, a.run, b.run.gz, and runs/ with both."""
    monkeypatch.chdir(tmp_path)
    write_qrels(QRELS, "qrels")
    Path("runs").mkdir()
    for folder in (tmp_path, Path("runs")):
        write_run(RUNS["a"], folder / "a.run")
        path = write_run(RUNS["b"], folder / "b.run.gz")
        path.write_bytes(gzip.compress(path.read_bytes()))
    return tmp_path


OURS = ["ASL@1000", "nASL@1000", "ASL(g=10)@1000", "LexiP"]
RARENESS = ["AP_Rareness@100", "P_Rareness@100"]
BESIDE = ["AP", "nDCG@10", "R@1000", "Judged@10"]


def test_without_measures_ours_are_shown_with_the_usual_ones(files):
    """The values of the command are tested in contract/test_one_value.py."""
    words = DocLengths.from_dict({f"d{number}": 50 + number for number in range(10)})
    words.save("words.parquet")
    found = values(evaluate("a.run", "b.run.gz", "--lengths", "words.parquet", "-o", "jsonl"))
    assert [measure for run, measure in found if run == "a"] == OURS + RARENESS + ["TBG"] + BESIDE
    assert [run for run, measure in found if measure == "TBG"] == ["a", "b"]


def test_rel_is_for_measures_of_others_too(files):
    found = values(evaluate("a.run", "-l", "2", "-m", "AP", "-o", "jsonl"))
    assert found == {("AP(rel=2)",): pytest.approx((1 / 3 + 0) / 2)}
    of_two = values(evaluate("a.run", "-l", "2", "-m", "infAP", "-o", "jsonl"))
    between = values(evaluate("a.run", "-l", "1.5", "-m", "infAP", "-o", "jsonl"))
    assert [*between.values()] == [*of_two.values()] and [*between] == [("infAP(rel=1.5)",)]


def test_dataset_by_id_has_its_official_measures_and_their_rel(monkeypatch, files):
    official = ["nDCG@10", "RR(rel=2)"]
    register(monkeypatch, "some/dataset", QRELS, [], {}, official_measures=official)
    result = call("evaluate", "irds:some/dataset", "a.run", "-o", "jsonl")
    assert [measure for (measure,) in values(result)] == (
        "ASL(rel=2)@1000 nASL(rel=2)@1000 ASL(rel=2,g=10)@1000 LexiP(rel=2) nDCG@10 RR(rel=2) "
        "AP(rel=2) R(rel=2)@1000 Judged@10"
    ).split()
    assert "Hint" not in result.stderr


# Formats


def test_tsv_of_one_file_is_what_ir_measures_prints(files, monkeypatch, capsys):
    asked = ["AP", "nDCG@10", "ASL@1000"]
    for flags in ([], ["-q"], ["-q", "-n"], ["-p", "-1"], ["-p", "2"]):
        monkeypatch.setattr(sys, "argv", ["ir_measures", "qrels", "a.run", *asked, *flags])
        main_cli()
        theirs = capsys.readouterr().out
        ours = evaluate("a.run", "-m", " ".join(asked), "-o", "tsv", *flags)
        assert sorted(ours.stdout.splitlines()) == sorted(theirs.splitlines())


# Errors


def errors(result: Result) -> list[str]:
    assert isinstance(result.exception, SystemExit)
    return [line for line in result.stderr.splitlines() if line.startswith("Error: ")]


def test_traceback_is_shown_to_whoever_asks(files):
    result = call("--traceback", "evaluate", "qrels", "a.run", "-m", "Foo")
    assert result.exit_code == 2 and "Traceback" in result.stderr
    unknown = call("evaluat")
    assert unknown.exit_code == 2 and "evaluat" in errors(unknown)[0]


# The command as a whole


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (RuntimeError("can't start new thread"), "raise 'ulimit -u', or pass fewer --jobs"),
        (BlockingIOError(11, "Resource temporarily unavailable"), "or pass fewer --jobs"),
        (MemoryError(), "no more; give fewer runs or --jobs, or raise 'ulimit -v'"),
        (MemoryError("Unable to allocate 9 MiB"), "9 MiB; give fewer runs or --jobs, or raise"),
        (MemoryError("'ulimit -v' permits 2 GB: raise it"), "permits 2 GB: raise it"),
    ],
)
def test_a_limit_of_the_system_is_named_with_its_remedy(error, remedy):
    assert remedy in error_line(error)
    assert error_line(error).count("raise") == 1


def test_help_teaches_by_examples():
    assert all(f"\n  {name} " in call("--help").stdout for name in COMMANDS)
    for name in set(COMMANDS) - {"demo"}:
        text = call(name, "--help").stdout
        assert text.startswith("Usage: ") and f"pyterrier-asl {name} " in text


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ev", ["evaluate"]),
        ("compare --allow", ["--allow-missing"]),
        ("evaluate -o ", ["table", "tsv", "csv", "jsonl", "latex", "markdown"]),
        ("analyze reord", ["reordering"]),
    ],
)
def test_completion_by_the_tab_key(words, offered):
    ask = {"_PYTERRIER_ASL_COMPLETE": "bash_complete", "COMP_WORDS": f"pyterrier-asl {words}"}
    ask["COMP_CWORD"] = str(len(words.split(" ")))
    result = CliRunner().invoke(main, prog_name="pyterrier-asl", env=ask)
    assert re.findall(r"plain,([\w-]+)", result.stdout) == offered
    assert "_PYTERRIER_ASL_COMPLETE=bash_source pyterrier-asl" in call("--help").stdout


NEVER = (
    "pyterrier ir_datasets scipy numba statsmodels optuna altair joblib tqdm asyncio "
    "multiprocessing pyarrow.dataset"
).split()
#: Modules that are not needed to evaluate and to print to a pipe.
UNREAD = [*NEVER, "pandas", "pyarrow.parquet", "numpy.ma", "secrets"]
#: Modules that are not needed to compare two runs; scipy.special is imported faster.
TESTS = [*(name for name in NEVER if name != "scipy"), "scipy.stats", "scipy.optimize"]
OF_TABLES = [*TESTS, "pandas", "scipy.special", "pyarrow.parquet"]
#: Commands and the modules that they do not need. They are called in one process, so commands that
#: need more come later.
COMMANDS_AND_MODULES = [
    (["--help"], [*NEVER, "pandas", "pyarrow"]),
    (["evaluate", "qrels", "a.run", "-m", "AP ASL", "-o", "tsv"], [*UNREAD, "hashlib"]),
    (["evaluate", "--help"], UNREAD),
    (["pool", "--help"], UNREAD),
    (["evaluate", "qrels", "a.run"], UNREAD),
    (["analyze", "--list"], [*OF_TABLES, "numpy.ma"]),
    (["evaluate", "qrels", "a.run", "b.run.gz", "-q"], [*OF_TABLES, "secrets"]),
    (["compare", "--help"], TESTS),
    (["compare", "qrels", "a.run", "b.run.gz"], TESTS),
    (["holes", "qrels", "a.run", "b.run.gz"], TESTS),
]


def test_nothing_is_imported_that_a_command_does_not_need(files):
    code = (
        "import sys; from pyterrier_asl.cli import main\n"
        f"for arguments, heavy in {COMMANDS_AND_MODULES}:\n"
        "    try: main(arguments)\n"
        "    except SystemExit: print([m for m in heavy if m in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    needless = [line for line in done.stderr.splitlines() if line.startswith("[")]
    assert dict(enumerate(needless)) == dict(enumerate(["[]"] * len(COMMANDS_AND_MODULES)))


# Names, and where runs come from


def test_tabs_in_ids_do_not_make_columns(files):
    frame = pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": [1.0]})
    frame["qid"] = "a\tb\\\n"
    frame.to_parquet("tabs.parquet")
    frame.assign(label=1).to_parquet("qrels.parquet")
    result = call("evaluate", "qrels.parquet", "tabs.parquet", "-m", "AP", "-q", "-n", "-o", "tsv")
    assert result.stdout == '"a\tb\\\n"\tAP\t1.0000\n'


def test_a_run_from_standard_input(files):
    for name in ("a.run", "b.run.gz"):
        expected = evaluate(name, "-o", "jsonl")
        content = (files / name).read_bytes()
        given = CliRunner().invoke(main, ["evaluate", "qrels", "-", "-o", "jsonl"], input=content)
        assert given.stdout == expected.stdout and given.exit_code == 0
    both = CliRunner().invoke(main, ["evaluate", "qrels", "-", "b.run.gz", "-o", "tsv"], content)
    assert {line.split("\t")[0] for line in both.stdout.splitlines()} == {"stdin", "b"}
    wrong = CliRunner().invoke(main, ["evaluate", "qrels", "-"], input=b"q Q0 d\n")
    assert "Error: standard input, line 1: expected 6 columns" in wrong.stderr


# Folders with files that cannot be read


@pytest.mark.parametrize(
    "said", ["pool runs -o made", "analyze headroom qrels runs", "report qrels runs -o made"]
)
def test_other_commands_need_every_run_of_a_folder(files, said):
    (files / "runs" / "c.run").write_text("q1 Q0 d1\n")
    result = call(*said.split())
    assert result.exit_code == 2 and "c.run" in result.stderr and not Path("made").exists()
