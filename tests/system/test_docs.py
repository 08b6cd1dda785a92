"""The pages of the documentation build as on PyTerrier's site, and their commands run.

Examples that begin with ``>>>`` are run by ``tests/unit/test_examples.py``.
"""

import re
import runpy
import shlex
import sys
from pathlib import Path

import _systems
import click
import gallery
import pages
import pandas as pd
import pyterrier as pt
import pytest
from _files import write_qrels
from _pages import PAGES, ROOT, blocks, commands, text_of
from click.testing import CliRunner

import pyterrier_asl
import pyterrier_asl.analysis
from pyterrier_asl.analysis.registry import analyses, find_analyses
from pyterrier_asl.cli import main
from pyterrier_asl.measures.provider import PluginProvider


def test_pages_build_without_a_warning(tmp_path):
    build = pytest.importorskip("sphinx.cmd.build", reason="Sphinx is not installed")
    pytest.importorskip("furo", reason="the theme of PyTerrier's site is not installed")
    if not (Path(pt.__file__).parents[1] / "docs" / "extras" / "schematic.py").is_file():
        pytest.skip("this release of PyTerrier does not come with the extensions of its site")
    out = tmp_path / "out"
    asked = f"-W -q -b html -d {tmp_path / 'doctrees'} -c {ROOT / 'docs'}".split()
    assert build.main([*asked, str(PAGES), str(out)]) == 0
    # P@20 without literal quotes is a mail address, and formulas need a script from the network.
    for page in out.glob("*.html"):
        assert not re.search('mailto:|class="math', page.read_text()), page.name
    reference = (out / "reference_measures.html").read_text()
    assert "<p>Atomized search length, the mean" in reference
    assert '<div class="pts-transformer-title">Robertson' in (out / "retrieval.html").read_text()


@pytest.mark.parametrize("page", pages.pages())
def test_generated_pages_are_up_to_date(page):
    assert text_of(page) == pages.pages()[page], "run: python docs/pages.py"


@pytest.mark.parametrize("measure", PluginProvider.SUPPORTED_MEASURES, ids=str)
def test_the_reference_has_every_parameter_of_a_measure(measure):
    page = text_of("reference_measures")
    section = page[page.index(f".. autodata:: pyterrier_asl.{measure.NAME}\n") :]
    for name, param in measure.SUPPORTED_PARAMS.items():
        assert f"``{name}" in section and param.desc in page
    assert f"    >>> {measure.NAME}" not in page  # examples run in the guide


@pytest.mark.parametrize("analysis", analyses(), ids=lambda analysis: analysis.name)
def test_every_analysis_is_described_listed_and_in_the_gallery(place, analysis):
    """Its command can be given."""
    reference, listed = text_of("reference_analyses"), text_of("analyses")
    assert f".. _analysis-{analysis.name}:" in reference
    assert f":ref:`{analysis.what} <analysis-{analysis.name}>`" in listed
    assert analysis.figure in reference
    assert all(f"``{name}``" in reference for name in analysis.figures)
    assert (PAGES / "gallery" / f"{analysis.name}.png").stat().st_size > 1000
    program, group, name, *arguments = shlex.split(pages.command(analysis))
    assert (program, group, name) == ("pyterrier-asl", "analyze", analysis.name)
    context = click.Context(main, info_name=program)
    command = main.get_command(context, group).get_command(context, name)
    command.make_context(name, arguments)


def test_the_shipped_pages_are_few_and_small():
    guides = [page for page in PAGES.glob("*.rst") if not page.name.startswith("reference")]
    assert len(guides) <= 14  # thirteen, and the index
    assert sum(path.stat().st_size for path in PAGES.glob("*") if path.is_file()) <= 700_000
    assert sum(path.stat().st_size for path in (PAGES / "gallery").iterdir()) <= 900_000


def test_the_gallery_draws_the_pictures_of_the_commands(tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "PICTURES", tmp_path / "pictures")
    monkeypatch.chdir(tmp_path)
    gallery.write_files(tmp_path)
    for name in ("ties", "reordering", "human-range", "stability"):
        [analysis] = find_analyses(name)
        gallery.draw(analysis)
        assert (tmp_path / "pictures" / f"{name}.png").is_file()


def test_every_public_name_is_in_the_reference():
    pages = "".join(page.read_text() for page in PAGES.glob("*.rst"))
    described = set(re.findall(r"^\.\. auto(?:class|data|function):: ([\w.]+)", pages, re.M))
    public = {f"pyterrier_asl.{name}" for name in pyterrier_asl.__all__}
    public |= {f"pyterrier_asl.analysis.{name}" for name in pyterrier_asl.analysis.__all__}
    assert not public - described


#: The guides whose code and commands are run.
GUIDES = ("measures", "analyses", "large", "guard")


def collection(folder: Path) -> None:
    """Writes a collection for 'tune'."""
    folder.mkdir(parents=True)
    texts = [f"wave{i % 5} radio scatter{i % 3}" for i in range(40)]
    documents = pd.DataFrame({"docno": [f"d{i}" for i in range(40)], "text": texts})
    documents.to_json(folder / "docs.jsonl.gz", orient="records", lines=True)
    queries = "".join(f"{i + 1}\twave{i}\n" for i in range(4))
    (folder / "queries.tsv").write_text(queries)
    lines = (f"{i % 5 + 1} 0 d{i} {int(i < 20)}\n" for i in range(40) if i % 5 < 4)
    (folder / "qrels.txt").write_text("".join(lines))


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A folder with all files that the guides use."""
    monkeypatch.chdir(tmp_path)
    for folder in ("runs", "dl19-runs", "dl20-runs", "trec8-runs"):
        Path(folder).mkdir()
        for seed in range(3):
            pt.io.write_results(_systems.results(seed), f"{folder}/run{seed}.gz")
    for name, seed in (("live.run", 1), ("new.run", 1), ("bm25.run", 1), ("dense.run", 2)):
        pt.io.write_results(_systems.results(seed), name)
    for name in ("qrels.txt", "dl19.qrels", "dl20.qrels"):
        write_qrels(_systems.qrels(), name)
    Path("vaswani-runs").mkdir()
    for name in ("one", "other"):
        Path(f"vaswani-runs/{name}.run").write_text(f"1 Q0 8172 0 {len(name)} x\n2 Q0 1 0 1 x\n")
    Path("groups.tsv").write_text("run0\tone\nrun1\tone\nrun2\tother\n")
    Path("types.tsv").write_text("run0\tmanual\nrun1\tautomatic\n")
    for name in ("corpora/time", "corpora/cacm"):
        collection(Path(name))
    return tmp_path


@pytest.mark.filterwarnings("ignore")
def test_the_code_of_the_how_tos_runs(place, vaswani):
    bm25, reranked = _systems.system(1), _systems.system(2)
    documents = [{"docno": "d1", "text": "radio"}]
    names = {"pt": pt, "bm25": bm25, "reranked": reranked, "topics": _systems.topics()}
    names |= {"qrels": _systems.qrels(), "systems": {"BM25": bm25, "reranked": reranked}}
    names |= {"run": _systems.results(1), "frame": pd.DataFrame({"docno": ["d1"], "doc_len": [9]})}
    names |= {"index": pyterrier_asl.TermIndex.from_documents(documents, verbose=False)}
    names |= {"live_results": _systems.results(1), "new_results": _systems.results(2)}
    pyterrier_asl.DocLengths.from_dict({"d1": 5}).save("lengths.parquet")
    Path("words.txt").write_text("d1 120\n")
    for block in (block for page in GUIDES for block in blocks(page, "python")):
        if "ray" not in block:  # test_ray.py tests the cluster
            exec(block, names)


COMMANDS = [line for page in GUIDES for block in commands(page) for line in block]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", [line for line in COMMANDS if "ray" not in line])
def test_the_commands_of_the_how_tos_run(place, vaswani, command, monkeypatch):
    """With fewer trials for tuning."""
    command = re.sub(r" --trials \d+", "", command)
    program, *arguments = shlex.split(command, comments=True)
    if program == "python":
        example = ROOT / arguments[0]
        monkeypatch.setattr(sys, "argv", arguments)
        monkeypatch.syspath_prepend(example.parent)  # as Python does for a script
        try:
            runpy.run_path(str(example), run_name="__main__")
        except SystemExit as ended:
            assert ended.code == 0
        return
    assert program == "pyterrier-asl"
    few = ["--trials", "2"] if "tune" in arguments else []
    result = CliRunner().invoke(main, [*arguments, *few])
    assert result.exit_code == 0, result.output
