"""Names of other programs, in commands and functions."""

import pytest
from _calls import call


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
        ("tune vaswani --n-trials 9", "Error: no option --n-trials: write --trials\n"),
        ("evaluate q r --metrics map", "Error: no option --metrics: write -m\n"),
        ("report q r --latex", "No such option"),  # its -o is for pages
        ("demo --latex", "No such option"),
    ],
)
def test_a_command_shows_its_own_name_of_an_option(command, message):
    assert message in call(*command.split()).stderr
