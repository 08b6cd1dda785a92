"""Many runs and measures against ir_measures, with a pool of the runs and several workers.
Tests of evaluate.py, measuring.py."""

import pickle
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
import small
from _files import write_qrels, write_run
from ir_measures import AP, RR, P, infAP

from pyterrier_asl import ASL, AP_Rareness, LexiP, P_Rareness, RarenessPool
from pyterrier_asl.evaluation.evaluate import evaluate
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.labellings import labelled_measures
from pyterrier_asl.judging.judgements import Judgements

RUNS, QRELS = small.collection(5, 9)
MEASURES = [ASL @ 10, LexiP, AP, P @ 5, RR @ 10, infAP]


def write(folder: Path) -> list[Path]:
    return [write_run(run, folder / f"input.{name}.txt") for name, run in RUNS.items()]


def by_name(frame: pd.DataFrame) -> pd.DataFrame:
    """In the order of a folder."""
    return frame.sort_values("name", kind="stable", ignore_index=True)


def test_values_match_one_run_and_measure_at_a_time():
    found = evaluate(RUNS, QRELS, MEASURES)
    assert list(found.columns[2:]) == [str(measure) for measure in MEASURES]
    assert found["name"].tolist() == [name for name in RUNS for _ in QRELS]
    assert found["qid"].tolist() == list(QRELS) * len(RUNS)
    for name, queries in RUNS.items():
        for measure in MEASURES:
            if measure == RR @ 10:  # ir_measures orders equal scores differently
                continue
            metrics = ir_measures.iter_calc([measure], QRELS, queries)
            part = found[found["name"] == name]
            values = dict(zip(part["qid"], part[str(measure)]))
            assert values == pytest.approx({m.query_id: m.value for m in metrics}, abs=1e-9)


def test_rareness_without_a_pool_matches_the_pool_of_the_runs():
    asked = [P_Rareness(depth=2) @ 4, AP_Rareness(alpha=1.0, depth=5)]
    asked += [AP_Rareness(member=False) @ 4, ASL]
    found = evaluate(RUNS, QRELS, asked)
    pool = RarenessPool.from_runs(RUNS)
    for name in RUNS:
        part = found[found["name"] == name]
        for measure in asked[:3]:
            metrics = ir_measures.iter_calc([measure(pool=pool)], QRELS, RUNS[name])
            expected = {m.query_id: m.value for m in metrics}
            assert dict(zip(part["qid"], part[str(measure)])) == pytest.approx(expected, abs=0)


def test_selected_runs_keep_the_pool_of_all_runs():
    """Values, whether or not they were computed before, and bounds have one pool."""
    asked, chosen = P_Rareness(alpha=1) @ 3, ["s2", "bravo"]
    judged = {q: dict.fromkeys((f"d{d}" for d in range(30)), 0) | of for q, of in QRELS.items()}
    pool = RarenessPool.from_runs(RUNS)
    expected = [
        [m.value for m in ir_measures.iter_calc([asked(pool=pool)], judged, RUNS[name])]
        for name in chosen
    ]
    before = Evaluation.of(RUNS, judged)
    before.values(asked)
    new = Evaluation.of(RUNS, judged)
    some = new.select(["alpha", *chosen, "s0"])
    for runs in (before.select(chosen), new.select(chosen), some.select(chosen)):
        assert runs.values(asked) == pytest.approx(np.array(expected), abs=1e-12)
        assert runs.judged_by(dict(judged)).values(asked).tolist() == runs.values(asked).tolist()
        (labelled,) = labelled_measures(runs, {"": asked}).values()
        # No document is unjudged, so bounds are values.
        assert np.array(labelled.sides[1].bounds) == pytest.approx(np.array([expected[1]] * 2))


def test_files_folders_and_frames_are_the_same(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    paths = write(folder)
    (folder / ".hidden").write_text("no run")
    expected = evaluate(RUNS, QRELS, MEASURES)
    qrels = write_qrels(QRELS, tmp_path / "qrels")
    frames = {name: small.frame(run) for name, run in RUNS.items()}
    for runs in (paths, frames, dict(zip(RUNS, paths))):
        pd.testing.assert_frame_equal(evaluate(runs, qrels, MEASURES), expected)
    for runs in (folder, str(folder)):
        pd.testing.assert_frame_equal(evaluate(runs, qrels, MEASURES), by_name(expected))
    one = evaluate(paths[2], Judgements(QRELS), "ASL@10")
    assert one["ASL@10"].tolist() == expected[expected["name"] == "bravo"]["ASL@10"].tolist()


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_workers_change_nothing(tmp_path, backend):
    write(tmp_path)
    asked = [*MEASURES, AP_Rareness @ 5]
    alone = evaluate(tmp_path, QRELS, asked)
    together = evaluate(tmp_path, QRELS, asked, jobs=2, backend=backend, progress=False)
    pd.testing.assert_frame_equal(alone, together, check_exact=True)
    assert pickle.dumps(alone.to_numpy()) == pickle.dumps(together.to_numpy())


def test_workers_find_what_is_named_from_here(tmp_path, monkeypatch):
    expected = evaluate(RUNS, QRELS, MEASURES, jobs=2, progress=False)
    monkeypatch.chdir(tmp_path)  # the started processes keep their folder
    folder = Path("runs")
    folder.mkdir()
    write(folder)
    found = evaluate(folder, QRELS, MEASURES, jobs=2, progress=False)
    pd.testing.assert_frame_equal(found, by_name(expected))


def test_shapes_of_the_result():
    found = evaluate(RUNS, QRELS, {"search length": "ASL@10", "AP": AP})
    assert list(found) == ["name", "qid", "search length", "AP"]
    keys = [(name, qid) for name in RUNS for qid in QRELS]
    long = evaluate(RUNS, QRELS, {"search length": "ASL@10", "AP": AP}, long=True)
    by_row = found.melt(["name", "qid"], var_name="measure", ignore_index=False)
    pd.testing.assert_frame_equal(long, by_row.sort_index(kind="stable", ignore_index=True))
    assert len(long) == 2 * len(found)
    picked = long[(long["measure"] == "AP") & (long["name"] == "charlie") & (long["qid"] == "q11")]
    assert picked["value"].item() == found["AP"][keys.index(("charlie", "q11"))]


def test_tracks_have_a_column():
    one = {"a": {"q1": {"d": 2, "x": 1}}, "b": {"q1": {"x": 2, "d": 1}}}
    tracks = {"x": (one, {"q1": {"d": 1}}), "y": (one, {"q1": {"x": 1}})}
    frame = evaluate(tracks, measures=["RR"])
    assert list(frame) == ["track", "name", "qid", "RR"]
    for track, pair in tracks.items():
        rows = frame[frame["track"] == track].drop(columns="track").reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, evaluate(*pair, ["RR"]))


def test_a_system_that_a_track_lacks_is_left_out_if_another_is_in_all():
    runs = {"a": {"q1": {"d": 2}}, "b": {"q1": {"d": 1}}}
    tracks = {"x": (runs, {"q1": {"d": 1}}), "y": ({"a": runs["a"]}, {"q1": {"d": 1}})}
    frame = evaluate(tracks, measures=["RR"], common=True)
    assert frame["name"].tolist() == ["a", "a"]
    tracks = {"x": tracks["y"], "y": ({"c": runs["a"]}, {"q1": {"d": 1}})}
    with pytest.raises(ValueError, match="no system is in all"):
        evaluate(tracks, measures=["RR"], common=True)


@pytest.mark.parametrize("backend", ["multiprocessing", "sequential", "nope"])
def test_a_backend_that_cannot_is_an_error(backend):
    for given in (RUNS, Evaluation.of(RUNS, QRELS)):
        with pytest.raises(ValueError, match=f"backend '{backend}' cannot measure.* 'ray'"):
            evaluate(given, QRELS, "AP", jobs=2, backend=backend)
    assert repr(given) == "Evaluation(9 runs, 5 queries)"
