"""Names of other programs, in commands and functions."""

import pytest
from _calls import call

from pyterrier_asl import RandomSearch, RobertsonPRF
from pyterrier_asl.tuning import KFoldRandomSearch


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("compare q r --latex", "Error: no option --latex: write -o latex\n"),
        ("holes q r --budget 200", "Error: no option --budget: write --most\n"),
        ("holes q r --top 9", "Error: no option --top: write --most\n"),
        ("ranks q r --random-state 2", "Error: no option --random-state: write --seed\n"),
        (
            "compare --track t q r",
            "no option --track: this command takes one collection; 'evaluate',",
        ),
        ("ranks q r --repetitions _", "no option --repetitions: only 'compare' takes several runs"),
        ("report q r --repetitions _", "no option --repetitions: only 'compare' takes several"),
        ("demo --latex", "No such option '--latex'"),
    ],
)
def test_a_command_shows_its_own_name_of_an_option(command, message):
    assert message in call(*command.split()).stderr


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (
            RandomSearch,
            {"n_iter": 5},
            "no argument 'n_iter': write n_trials=",
        ),
        (KFoldRandomSearch, {"n_jobs": 2}, "no argument 'n_jobs': write jobs="),
        (RobertsonPRF, {"fb_lambda": 0.5}, "no argument 'fb_lambda': write gamma="),
        (RobertsonPRF, {"budget": 5}, "unexpected keyword argument 'budget'"),
    ],
)
def test_a_function_shows_its_own_name_of_an_argument(function, arguments, message):
    with pytest.raises(TypeError, match=message):
        function(None, **arguments)


def test_a_number_of_folds_is_told_to_give_the_folds():
    with pytest.raises(ValueError, match=r"one per fold, not 5: \[topics\[fold::5\] for fold in"):
        KFoldRandomSearch(None, {}, 5, {})
