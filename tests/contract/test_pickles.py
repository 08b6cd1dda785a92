"""Measures pickled by an earlier version of the package."""

import base64
import pickle
import zlib

import pytest

#: Pickled by version 0.1.0, with a pool of two runs and the lengths of three documents.
FIRST = (
    "eNrFWG1v28YdtyzZUdx0WIf1ccV685vIqKxIfkhkNw7SuOuayTM0NcAMFBlzJI/kKdSR5h3taGmGDUO8BuBe5fZi"
    "n2UfYi/7Cfain6L9/4+STCVynAZFS0Akj/d//P0f7k5/q/zbfWPOXHd1LXsvHiqWJJwlFpVhY8CoTBMmGzDQWcX6"
    "+PM9/VSv/F0/AtrFmCZ0IPN3J1WR5+nOUlZOWKg781nJ151yml08oiF3qWKufpJVrTjhAt+zN0BWDUh31ur+zvrK"
    "zVZTp3ZQyhYsUdQSLD7SQbXjyuC1J8GlrIqTQIvE2ftnGBuyBzzW2aK1By/daVFGykI+kV2wLDdyLEsf/KsyN7dE"
    "4MIZJ/ITGgfcIXHCHC55JAiVJBKMiHRgs4RQklBxnwu/Qe4cR+OBJDRhxIkGAAxziT0kKmA8IR5PpDLSwV92RIUi"
    "oDYdMKHqSCLq5DhgwKoCqojiTNZPmSVzIuHWCRUukREY0SC3BfmiWSetu3UScB84CZdGvM0UAAIz8IHELPGYoz7C"
    "F3KYsmRIuAILPC6YJOhYnEQODY3126R1pRZbLfIhaa2Q6waGLrm+Q3q9xpKRvb2dP/E6qvEVsoMsPr4Zng9JrXXF"
    "DFenJlaQ2rxN2P2cPc6J4YEsKwYK4tNYoh/HjAnzAa0DZ0jk5cNnEZS5WXdgLqboagChEhGRqROQUUpso+fuyHOI"
    "qQdgC4cVFBWDWJO+2OvWSZLsdVcQd6PAjRjKVcQJKR/koTKJNkkRwJyCRpVwp0E+jRLCKJiQI5/jSf2EgZRjrgJi"
    "lEAslUQrhdHBcw1TYvPIcyCLV6GUUoZUOIyOxTbAEUeJyoUZQjQa3JLcBULVIL2xV2iwUWKMIFwUk5PEkeQKtEni"
    "UIEpiARulNohKxRBjXqQX5CGA0Y2W4QdppA+p6yACITPKGnVSXs0Jq0mxNZOlakOwY4wXwXcoQ00yJ8AiwjnCHSQ"
    "VWghGCrw8N49AxmWOl737o3S8FOWCPAzIp9w+pdtcotJtbpLJSM9BB5SIyS/RZgomrRNbg8gyY8AAJM8nzOBth5x"
    "NcR86p3WAMJk4jKjCXTH/jfIWnNtfWTIjRs38qg2gN+xqA+w+tDmag+XD5e3ycNlCneAYdnG56NHdTKeeAD3dZhA"
    "grVTgrw+mo1N89TZkmUNIjcNGfSn7BeTVjdpc9gBPzijAyYANeS61Nkl6+Ou1RsPi62wBm11KavEUQSt/VdnCMpn"
    "L40FdHE4WQAqVpIKnb0FTTEeNiwnSlhjkIaK0yShQ9SdYPOSKkkdBWzZgqGEvivcnOSp7sw91rslW/9T93StU+rM"
    "P9bBlWzBVcOYIcs8b+snX+Wz5ax0Xe/v7//+W7jMrTOntP1k9+dzo6s0emr4nFXAOqlxVStRnYEOli36SZTG5mNw"
    "K9hloIjFKsBla9FSFLJdZ6/FQzAuOm6E3Abgiz6MSJ4a/s+y150gFfeZa42dyT//DFikAjAm381X9MjyIgA45BRD"
    "kV0KaeIzC2RDgurH4CMAMNfBhXgfOC7GQ8tOPWhWSFy1Uw7QgkfZRRuCNZY9w3mUhL/gIPhiF3wfj9ldva/ymW4t"
    "6L1YP/KeJ9qeIZrNFHyCPH9AfM7TnEsuTWs6z5DDV/HxB9P0k7js/mgus1d1eQG2elc3ZiVW9TlVzzrxarxsmvPE"
    "fPosW5ROwAZ0UqELHmehi4UJu1VoYTOd+Qpk9nT/dVAHZIfcfQmyBdiViOglCCu429DT1uYEbP9kZDm0JLN50EEj"
    "aGGfDNaLXfKjQt+bK/a9BQuMlT9Ujc9KeFARU568hGFTDXnR4sJlD3T26+nVpp+6Pu6lB1Q5AZqZXeyC+NuGeLLa"
    "XIDNgWRKvoTW+aLWsgHjOZ5yzvPOs5YWeWdramfzaau4KH05c1GadxnKOIFzk2Rw4gnqmIcU4gE+GSGFlS24/ryI"
    "3Sr9z9ffHBz8988mHVKMbJ42ZwJQmg27WfW+b7Qqgg5gOSzhScrlPixpOiO0ue5e89Y923XW2lv2JtuizoazdvXq"
    "tc1222tvwdouh1IxOBbCEbCKKyFsCMZnxCiF/Tostiff14WqNWB48HoBcz8GDuB/+Fe5/v+l2psfrN54+3/i62+Q"
    "P03tND/5/aawG6rh5mbncrw6dury6BR65ilY2T6egu/c+t3UTiq7EDLhq0A+l9mFI+mIYOmTyNkbDU5T2zJ94wU1"
    "W56qWXJW0pZn1nAZ62hGFVetsVmzywNy1DsnRycF9Mub+XN59KzeROD7HbCwvw+33NP+H+H1/DwsF2LfP5jJUslZ"
    "zkdiZhmDd31m8sVgY8q0fx9tVXBL7f4/4JGVQt1/jC/Ea24wt31ti66tN5nXbLdaV117Y8vbura26XjtDUia0R8U"
    "70Jy1Eaw7lwOV8ecl1eAhjW+A+ww4ow="
)

#: Three documents; only the second is relevant.
QRELS = {"q": {"d": 2, "x": 0}}
RUN = {"q": {"x": 3, "d": 2, "e": 1}}


def test_measures_of_the_first_version_have_their_names_and_values():
    measures = pickle.loads(zlib.decompress(base64.b64decode(FIRST)))
    asl, nasl, lexip, rareness, tbg = measures
    assert [str(measure).partition("(pool")[0] for measure in measures[:4]] == [
        "ASL(rel=2,g=3)@10",
        "nASL@100",
        "LexiP",
        "AP_Rareness",
    ]
    assert asl.calc_aggregate(QRELS, RUN) == 2
    assert nasl.calc_aggregate(QRELS, RUN) == pytest.approx(1 - 1 / 100)
    assert lexip.calc_aggregate(QRELS, RUN) == 1 / 2
    # One of two runs retrieves it, and this run is the third: R = 1 - 2/3; alpha = .5.
    assert rareness.calc_aggregate(QRELS, RUN) == pytest.approx((1 + 0.5 / 3) / 2)
    # One irrelevant document of three words first: 4.4 + (0.018 * 3 + 7.8) * 0.39 seconds.
    seconds = 4.4 + (0.018 * 3 + 7.8) * 0.39
    assert tbg.calc_aggregate(QRELS, RUN) == pytest.approx(0.4928 * 2 ** (-seconds / 224))
