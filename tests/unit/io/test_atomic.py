"""Written files: which files are replaced, which are refused, and which do not change."""

import gc
import os
import stat
import subprocess
import sys
from itertools import product
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _users import own_folder
from click.testing import CliRunner

from pyterrier_asl import DocLengths, RarenessPool, evaluate
from pyterrier_asl.cli import main
from pyterrier_asl.io.atomic import check_replaceable, replacing

RUN = "q Q0 d1 1 2.5 x\nq Q0 d2 2 1.5 x\n"
posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and pipes of POSIX")


def write(path: Path, **more) -> None:
    with replacing(path, **more) as beside:
        beside.write_text("new")


@posix
def test_the_mode_stays(tmp_path):
    path = tmp_path / "t.txt"
    for mode in (0o600, 0o640, 0o755):
        path.write_text("old")
        path.chmod(mode)
        write(path)
        assert path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_devices_and_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/null"):
        with pytest.raises(OSError, match="a device or a pipe, not a file"):
            write(path)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@posix
def test_a_file_that_is_read_only(tmp_path):
    write(tmp_path / "t.txt")  # imports the modules that writing needs
    with own_folder() as folder:
        path = folder / "t.txt"
        path.write_text("old")
        path.chmod(0o444)
        with pytest.raises(PermissionError, match="read-only"):
            write(path)
        assert path.read_text() == "old"


def test_a_file_of_another_kind(tmp_path):
    path = tmp_path / "page.html"
    for content in ("# a comment\n", RUN):
        path.write_text(content)
        with pytest.raises(FileExistsError, match="page.html: it holds something else.*--force"):
            write(path)
    write(path, force=True)
    assert path.read_text() == "new"
    path.write_text("")
    write(path)  # as mktemp creates it
    path.write_text("<!doctype HTML>")
    write(path, begins=b"<!DOCTYPE html")


def test_inputs_are_no_outputs_and_no_new_file_is_put_among_them(tmp_path):
    """The next call would read a new file in a folder of runs as a run."""
    runs, link = tmp_path / "runs", tmp_path / "link"
    run = runs / "a.run"
    (runs / "charts").mkdir(parents=True)
    run.write_text(RUN)
    link.symlink_to(run)
    for output, source in [*product((run, link), (run, runs, link)), (runs, runs)]:
        with pytest.raises(FileExistsError, match="it is one of the inputs"):
            check_replaceable(output, inputs=["irds:vaswani", source], force=True)
    check_replaceable(run, inputs=[tmp_path / "other"])
    with pytest.raises(FileExistsError, match="it would be one of the inputs"):
        check_replaceable(runs / "new.html", inputs=[runs], force=True)
    check_replaceable(runs / "charts" / "new.html", inputs=[runs])  # other files are ignored
    check_replaceable(tmp_path / "new.html", inputs=[runs, runs / "new.html"])


@pytest.mark.parametrize("has_links", [True, False])
def test_a_new_file_replaces_none(tmp_path, monkeypatch, has_links):
    """Also none that another process writes meanwhile, and on file systems without links."""
    if not has_links:
        monkeypatch.setattr(os, "link", Mock(side_effect=PermissionError))
    path = tmp_path / "new"
    write(path, only_new=True)
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["new"]
    path.write_text("theirs")
    with pytest.raises(FileExistsError):
        write(path, only_new=True)
    with pytest.raises(FileExistsError), replacing(tmp_path / "both", only_new=True) as beside:
        beside.write_text("ours")
        (tmp_path / "both").write_text("theirs")
    assert path.read_text() == (tmp_path / "both").read_text() == "theirs"
    assert sorted(os.listdir(tmp_path)) == ["both", "new"]


def test_a_full_disk_is_an_error_that_names_what_is_sent_to_workers(small_files):
    qrels = {f"q{n}": {"d": 1} for n in range(2000)}
    message = "^cannot write .*measuring: File too large$"
    with small_files(), pytest.raises(OSError, match=message):
        evaluate({"a": qrels, "b": qrels}, qrels, "RR", jobs=2, progress=False)
    gc.collect()  # a pickle that was interrupted ended Python 3.12 here


@posix
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_an_error_that_names_it(folder, unbuffered, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")  # of other packages, when Python compiles them
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "pyterrier_asl", *"evaluate qrels r1.run -m RR".split()]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "Error: cannot write the standard output: No space left on device\n"


def test_what_is_saved_replaces_only_its_kind(tmp_path):
    pool = RarenessPool.from_runs({f"r{i}": {"q": {"d": 1.0}} for i in range(8)})
    lengths = DocLengths.from_dict({"d": 3})
    run, table = tmp_path / "a.run", tmp_path / "t.parquet"
    run.write_text(RUN)
    pq.write_table(pa.table({"a": [1]}), table)
    lengths.save(tmp_path / "lengths")
    for path in (run, table, tmp_path / "lengths"):
        before = path.read_bytes()
        with pytest.raises(FileExistsError, match="it holds something else"):
            pool.save(path)
        assert path.read_bytes() == before
        pool.save(path, force=True)
        pool.save(path)
        assert RarenessPool.load(path) == pool


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("r1.run", "r2.run"):
        (tmp_path / name).write_text(RUN)
    (tmp_path / "qrels").write_text("q 0 d2 1\n")
    return tmp_path


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize(
    "command",
    ["pool r1.run r2.run -o r1.run", "pool . -o r1.run", "pool . -o new.pool"]
    + ["report qrels . -o new.html", "report qrels r1.run r2.run -o r2.run"]
    + ["report qrels r1.run r2.run -o qrels"],
)
def test_a_command_never_overwrites_what_it_reads(folder, command, force):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = CliRunner().invoke(main, [*command.split(), *force])
    assert result.exit_code not in (0, None)
    assert "one of the inputs" in result.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
