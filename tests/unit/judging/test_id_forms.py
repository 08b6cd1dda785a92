"""Forms of ids: how many ids must be there once rewritten, and how long a prefix can be."""

import pytest

from pyterrier_asl.judging.id_forms import find_form

FORMS = [("prefix", "v-{}".format), ("suffix", "{}.txt".format), ("plain", str.upper)]


@pytest.mark.parametrize(("kind", "form"), FORMS)
@pytest.mark.parametrize(("lacking", "is_found"), [(2, True), (4, True), (5, False)])
def test_half_of_the_ids_in_a_form_must_be_known_and_two_at_least(kind, form, lacking, is_found):
    """Two are known without the form: all of two, half of four, fewer than half of five."""
    ours = {form(f"d{number}7") for number in range(1, lacking + 1)} | {"other"}
    found = find_form(ours, {"d17", "d27", "none"})
    assert (found is not None) is is_found
    if is_found:
        assert found[0].kind == kind
        assert found[1] == {form(name): name for name in ("d17", "d27")}
    assert find_form({form("d17"), "other"}, {"d17", "none"}) is None


@pytest.mark.parametrize(("ours", "theirs", "is_found"), [
    (["d2", "d31", "d5", "d60", "d77"], ["d289", "d3189", "d9"], False),  # two of five, by chance
    (["d289", "d3189", "d5", "d60", "d77"], ["d2", "d31", "d9"], False),
    (["20227", "202231", "x"], ["7", "31", "9"], True),  # nearly all that are lacking
    (["7", "31", "x"], ["20227", "202231", "20229"], True),
])  # fmt: skip
def test_numbers_that_begin_or_end_like_others_are_no_form(ours, theirs, is_found):
    """Where an affix would divide a number, half of all ids that are lacking have it."""
    assert (find_form({*ours}, {*theirs}) is not None) is is_found


@pytest.mark.parametrize("size", [16, 17])
def test_a_prefix_has_16_characters_at_most(size):
    names = {"d1", "d2", "d3"}
    found = find_form({"p" * size + name for name in names}, names)
    assert (found is not None) is (size == 16)
