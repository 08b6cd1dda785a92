"""The examples of the pages print the shown output, and the commands of the guides run.

Guides that need a collection or TREC runs are slow and run with ``--full``.
"""

import ast
import doctest
import gzip
import re
import runpy
import shlex
from pathlib import Path

import pandas as pd
import pyterrier as pt
import pytest
from _pages import PAGES, ROOT, commands
from click.testing import CliRunner

from pyterrier_asl import TermIndex
from pyterrier_asl.cli import main

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FIRST = "getting_started"
EXAMPLES = ROOT / "examples"
#: Text of examples that read the files of a collection.
COLLECTIONS = r"irds:|dl20|\.qrels|^>>>.*vaswani"
#: The qrels of the guides on TREC runs.
JUDGES = {"nist": "nist", "umbrela": "umbrela-gpt4", "llama": "binary-llama3.2"}
JUDGES["second"] = "binary-gpt4o"


def texts() -> dict[str, str]:
    """The pages by name."""
    return {page.stem: page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.rst"))}


def examples() -> list:
    """The pages with examples; pages that read files of a collection are slow."""
    shown = [name for name, text in texts().items() if ">>> " in text]
    quick = [name for name in shown if not re.search(COLLECTIONS, texts()[name], re.MULTILINE)]
    return [pytest.param(n, marks=[] if n in quick else pytest.mark.slow) for n in shown]


def run_examples(page: str) -> doctest.TestResults:
    """Runs the examples of a page in the current folder."""
    path = str(PAGES / f"{page}.rst")
    return doctest.testfile(path, module_relative=False, optionflags=FLAGS, encoding="utf-8")


def of_trec(data: Path, folder: Path) -> None:
    """The files of TREC 2020 Deep Learning with the names of the guides."""
    (folder / "dl20-runs").symlink_to(data / "dl20-passage" / "runs")
    (folder / "dl20.qrels").symlink_to(data / "dl20-passage" / "qrels.txt")
    for name, file in JUDGES.items():
        text = gzip.decompress((data / "assessors" / "dl20" / f"dl20.{file}.txt.gz").read_bytes())
        (folder / f"{name}.qrels").write_bytes(text)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def runs(tmp_path_factory, vaswani):
    """The runs that the first guide saves, and the number of its failed examples."""
    folder = tmp_path_factory.mktemp("guides")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return folder / "runs", run_examples(FIRST).failed


@pytest.fixture
def prepared(request, place):
    """Writes the files that a page uses."""

    def prepare(text: str) -> None:
        if "dl20" in text or ".qrels" in text:
            of_trec(request.getfixturevalue("data"), place)
        if "vaswani" in text:
            request.getfixturevalue("vaswani")
        if "irds:vaswani" in text:
            (place / "runs").symlink_to(request.getfixturevalue("runs")[0])

    return prepare


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", examples())
def test_examples_print_the_shown_output(page, prepared, request):
    if page == FIRST:
        assert request.getfixturevalue("runs")[1] == 0
        return
    prepared(texts()[page])
    failed, tried = run_examples(page)
    assert tried > 0 and failed == 0


def test_the_example_of_the_readme_is_that_of_the_first_page():
    """The page is run above; its calls show no progress, and its table is not named."""
    readme = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    at = [language for language, _ in blocks].index("python")
    (_, code), (_, shown) = blocks[at : at + 2]
    code = code.replace("table = ", "").replace("\nprint(table.round(3))", ".round(3)")
    examples = doctest.DocTestParser().get_examples(texts()["index"])
    of_page = re.sub(r"(, )?verbose=False", "", "".join(example.source for example in examples))
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(of_page))
    assert [line.split() for line in shown.splitlines()] == [
        line.split() for line in examples[-1].want.splitlines()
    ]


def test_systems_save_their_results_under_their_own_names(place):
    documents = [{"docno": d, "text": text} for d, text in zip("dxy", ("wave", "air", "sea"))]
    index = TermIndex.from_documents(documents, verbose=False)
    topics = pd.DataFrame({"qid": ["q"], "query": ["wave"]})
    qrels = pd.DataFrame({"qid": ["q"], "docno": ["d"], "label": [1]})
    systems = [index.bm25(), index.bm25(b=0.4, k3=8)]
    pt.Experiment(systems, topics, qrels, ["map"], save_dir=str(place))
    saved = {path.name for path in place.glob("*.res.gz")}
    assert saved == {"BM25.res.gz", "BM25(b=0.4, k3=8).res.gz"}


def test_published_values_are_next_to_computed_ones():
    published = runpy.run_path(str(EXAMPLES / "published.py"))
    table = published["side_by_side"]("Diaz, Table 3", "dl-2020-passages", {"RR": 50.3}, "no runs")
    assert table.to_dict("list") == {
        "cell": ["rrLP, sgnLP", "RR"],
        "published": [2.58, 50.30],
        "computed": ["not reproducible: no runs", 50.3],
    }
    table = published["side_by_side"]("Diaz, Table 3", None, {"RR": 50.3})
    assert table["published"].tolist() == ["-"]


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("reproduce_*.py")), ids=lambda p: p.stem)
def test_reproductions_say_what_they_need(script, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    main = runpy.run_path(str(script))["main"]
    result = CliRunner().invoke(main, [])
    assert result.exit_code == 2 and "RUNS" in result.stderr
    track = "trec-4" if script.stem == "reproduce_rareness" else "trec-8"  # nothing was published
    result = CliRunner().invoke(main, [str(EXAMPLES), "q", "--track", track])
    assert result.exit_code == 2 and f"'{track}' is not one of" in result.output
    lines = CliRunner().invoke(main, ["--help"]).output.splitlines()
    assert any(line.strip().startswith(f"python examples/{script.name}") for line in lines)


def of_examples() -> list:
    """The blocks of commands of the guides that use the files of the examples."""
    wanted = re.compile(r"pyterrier-asl(?!.*dl19).*(irds:vaswani runs|\.qrels dl20-runs)")
    ours = {  # test_docs.py runs the others
        name: [list(filter(wanted.match, block)) for block in commands(name)] for name in texts()
    }
    found = [(name, lines) for name, of in ours.items() for lines in of if lines]
    return [pytest.param(lines, id=f"{name}: {lines[0][:60]}") for name, lines in found]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lines", of_examples())
def test_commands_of_guides_run(lines, prepared):
    prepared(" ".join(lines))
    for command in lines:
        result = CliRunner().invoke(main, shlex.split(command)[1:])
        assert result.exit_code == 0, result.output
