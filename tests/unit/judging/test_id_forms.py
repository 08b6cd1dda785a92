"""Forms of ids: how many ids must be there once rewritten, and what is no form."""

import html
import random
import string
from urllib.parse import quote

import pytest

from pyterrier_asl.judging.id_forms import REWRITINGS, describe_form, find_form

#: By rewriting, an id in another form and the id.
ALIKE = {
    "NFC": ("e\u0301{}", "\u00e9{}"),
    "NFKC": ("\uff24\uff11{}", "D1{}"),
    "percent-encoding": ("caf%C3%A9 {}", "caf\u00e9 {}"),
    "HTML entities": ("a&amp;b{}", "a&b{}"),
    "b'...'": ("b'd{}'", "d{}"),
    "str_('...')": ("np.str_('d{}')", "d{}"),
    "quotation marks": ('"d{}"', "d{}"),
    "angle brackets": ("<d{}>", "d{}"),
    "scheme": ("http://x.org/{}a", "https://www.x.org/{}a"),
    "last part": ("/a/{}1/d{}", "d{}"),
    "extension": ("d{}.json", "d{}"),
    "letter case": ("D{}", "d{}"),
    "leading zeros": ("d00{}", "d{}"),
    ".0": ("{}.0", "{}"),
    "separators": ("d-{}_1", "d{}1"),
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
def test_each_rewriting_makes_ids_alike(name):
    """By itself, and together with others; either side can have the form."""
    one, other = ALIKE[name]
    assert REWRITINGS[name](one.format(7, 7)) == REWRITINGS[name](other.format(7))
    others = () if name in ("percent-encoding", "HTML entities") else (quote, html.escape)
    for rewrite in (str, *others):
        ours = {rewrite(one.format(n, n)): other.format(n) for n in range(3, 9)}
        for left, right in ((ours, {*ours.values()}), ({*ours.values()}, {*ours})):
            form, pairs = find_form({*left}, right)
            assert pairs == (ours if left is ours else {b: a for a, b in ours.items()})
            assert "collapse" not in describe_form("document", form, pairs)
    assert find_form({one.format(3, 3), "x"}, {other.format(3), "y"}) is None


def test_a_document_with_the_last_part_or_the_name_of_another_is_another_document():
    paths = [{f"{folder}/{n}.{kind}" for n in range(5)} for folder, kind in ("a.", "bc")]
    assert find_form(*paths) is None
    assert find_form({"a.c", "b.c", "d.c"}, {"a.py", "b.py", "d.py"}) is None


def test_ids_that_are_cut():
    """Each must be the beginning of one id; a number that begins others is no cut number."""
    titles = {f"{n}-{'title' * n}" for n in range(3, 9)}
    cut = {title[:12]: title for title in titles if len(title) > 12}
    assert len(cut) == 6
    assert find_form({*cut}, titles)[1] == cut
    assert find_form(titles, {*cut})[1] == {title: head for head, title in cut.items()}
    assert find_form({*cut, "a longer title"}, titles) is None
    assert find_form({*cut}, {t[:12] + t[0] + end for t in titles for end in "ab"}) is None
    assert find_form({title[:7] for title in titles}, titles) is None
    numbers = {"document-3", "document-41", "document-57"}
    assert find_form(numbers, {"document-417", "document-579", "document-8"}) is None


FORMS = [("prefix", "v-{}".format), ("suffix", "{}+txt".format), ("", str.upper)]


@pytest.mark.parametrize(("kind", "form"), FORMS)
@pytest.mark.parametrize(("lacking", "is_found"), [(2, True), (4, True), (5, False)])
def test_half_of_the_ids_in_a_form_must_be_known_and_two_at_least(kind, form, lacking, is_found):
    """Two are known without the form: all of two, half of four, fewer than half of five."""
    ours = {form(f"d{number}7") for number in range(1, lacking + 1)} | {"other"}
    found = find_form(ours, {"d17", "d27", "none", "neither", "d97"})
    assert (found is not None) is is_found
    if is_found:
        assert getattr(found[0], "kind", "") == kind
        assert found[1] == {form(name): name for name in ("d17", "d27")}
    assert find_form({form("d17"), "other"}, {"d17", "none"}) is None


@pytest.mark.parametrize(("ours", "theirs", "is_found"), [
    (["d2", "d31", "d5", "d60", "d77"], ["d289", "d3189", "d9"], False),  # two of five, by chance
    (["d289", "d3189", "d5", "d60", "d77"], ["d2", "d31", "d9"], False),
    (["20227", "202231", "x"], ["7", "31", "9"], True),  # nearly all that are lacking
    (["7", "31", "x"], ["20227", "202231", "20229"], True),
])  # fmt: skip
def test_numbers_that_begin_or_end_like_others_are_no_form(ours, theirs, is_found):
    """Where an affix would divide a number, more than half of the lacking ids must have it."""
    assert (find_form({*ours}, {*theirs}) is not None) is is_found


@pytest.mark.parametrize("size", [16, 17])
def test_a_prefix_has_16_characters_at_most(size):
    names = {"d1", "d2", "d3"}
    found = find_form({"p" * size + name for name in names}, names)
    assert (found is not None) is (size == 16)


def _random_ids(random, size):
    """Ids of documents in one of the forms that collections have."""
    letters, most = string.ascii_letters + "\u00e9", random.choice([30, 999])
    a, b = ([random.randrange(most) for _ in range(size)] for _ in range(2))
    words = ["".join(random.choices(letters, k=random.choice([3, 4]))) for _ in range(size)]
    shape = random.choice(
        "{a} d{a} {a:04} DOC-{a} document-{a} d-{a}-{b} {a}_{b} {a}.{b} d{a}#{b} {w} {w}/{a} "
        "{w}.{w} http://{w}.org/{a} clueweb09-en{a:04}-{b:05} {w}-{w}-{a} {a:x}".split()
    )
    return {shape.format(a=x, b=y, w=w) for x, y, w in zip(a, b, words)}


def test_random_collections_have_no_form_by_chance(pytestconfig):
    """Two samples of one collection."""
    for seed in range(3000 if pytestconfig.getoption("--full") else 300):
        chance = random.Random(seed)
        ids = sorted(_random_ids(chance, chance.choice([5, 20, 60, 200])))
        shares = chance.choices([0.2, 0.5, 0.8], k=2)
        ours, theirs = ({name for name in ids if chance.random() < share} for share in shares)
        assert find_form(ours, theirs) is None, (seed, ours, theirs)
