"""Files in the folder of a tuning experiment that may be replaced."""

from __future__ import annotations

import pytest

from pyterrier_asl.tuning import clarke


@pytest.mark.parametrize("name", ["table.csv", "scores.html"])
def test_a_file_of_another_kind_is_replaced_only_by_force(tmp_path, name):
    (tmp_path / name).write_text("notes of mine\n")
    with pytest.raises(OSError, match=name):
        clarke.check_folder(tmp_path, ["AP"])
    with pytest.raises(OSError, match=name):  # before the results are read
        clarke.save({"AP": None}, tmp_path)
    assert (tmp_path / name).read_text() == "notes of mine\n"
    clarke.check_folder(tmp_path, ["AP"], force=True)
