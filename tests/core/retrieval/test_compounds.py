"""What documents write as one word is found by two, and what they write as two by one."""

from __future__ import annotations

import pytest

NOTES = {
    "clock.md": "# Clock\n\nEvery record has a timestamp, whatever the timezone.\n",
    "login.md": "# Accounts\n\nThe login expires; a mixin of the setup renews it.\n",
    "limits.md": "# Limits\n\nRate limiting is per client. The log file is rotated by a reverse proxy.\n",
    "apart.md": "# Apart\n\nThe car is red. My pet is a cat, and the sun shines on a flower.\n",
    "other.md": "# Bread\n\nOf flour and water, with salt.\n",
}


@pytest.fixture
def found(find_in):
    search = find_in(NOTES)
    return lambda query: search(query, top_k=1)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("time stamp", "clock.md"),
        ("time stamps", "clock.md"),
        ("Time Stamp", "clock.md"),
        ("time zone", "clock.md"),
        ("log in", "login.md"),  # of which one is a stop word
        ("mix in", "login.md"),
        ("set up", "login.md"),
        ("ratelimiting", "limits.md"),
        ("logfile", "limits.md"),
        ("logfiles", "limits.md"),
        ("reverseproxy", "limits.md"),
        ("ReverseProxy", "limits.md"),
    ],
)
def test_words_run_together_or_split_find_what_is_written_the_other_way(found, query, path):
    assert [path] == found(query)


@pytest.mark.parametrize(
    "query",
    [
        "carpet",  # the car is far from the pet
        "sunflower",
        "catsun",
        "car stamp",
        "in to",
        "ratelimitings-x",
        "red cord",  # record
    ],
)
def test_what_nobody_writes_in_a_row_is_no_compound(found, query):
    assert [] == found(query)


@pytest.mark.parametrize(
    "query", ["数据 库", "데이터 베이스", "छुट्टी पत्र", "ฐาน ข้อมูล", "é è", "a1 b2"]
)
def test_two_words_of_any_script_are_searched(found, query):
    assert [] == found(query)
