"""The date that a note's own text states about itself."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memora_cli.text.stated_dates import stated_date

AT = datetime(2025, 6, 18, 15, 30, tzinfo=UTC)

STATED = {
    "On 3 May 2024 we signed the lease.": "2024-05-03 2024-05-04",
    "2024-05-03: standup\n\n- budget for 2026": "2024-05-03 2024-05-04",
    "# 2024-05-03 Standup\nbody": "2024-05-03 2024-05-04",
    "[2024-05-03] call mum": "2024-05-03 2024-05-04",
    "Date: May 3, 2024": "2024-05-03 2024-05-04",
    "May 3, 2024 was warm. Next meeting on June 1, 2024.": "2024-05-03 2024-05-04",
    "We met Alice on Friday, 3 May 2024 at 5pm.": "2024-05-03 2024-05-04",
    "In June 2023 we moved to Bern": "2023-06-01 2023-07-01",
    "Yesterday Anna called.": "2025-06-17 2025-06-18",
    "Last Friday I ran ten kilometres": "2025-06-13 2025-06-14",
    "Two days ago we adopted a cat": "2025-06-16 2025-06-17",
    "Met Anna yesterday.": "2025-06-17 2025-06-18",
}

UNSTATED = [
    "I like coffee",
    "",
    "Anna was born on 3 May 1990",
    "The contract expires on 3 May 2030",
    "Passport valid until 3 May 2024",
    "Deadline: 2024-06-01",
    "We will meet on 3 May 2026",
    "Since 2019 I drink tea",
    "The 2019 budget was large",
    "Did we meet yesterday?",
    "The report I wrote yesterday is wrong",
    "Trains go on 3 May 2024 and on 4 May 2024",
    "We march on",
    "May I go",
    "The dentist is on Mondays",
]


@pytest.mark.parametrize(("text", "expected"), STATED.items(), ids=list(STATED))
def test_a_date_that_a_text_states_about_itself_is_taken(text: str, expected: str) -> None:
    window = stated_date(text, AT)
    assert window is not None
    assert f"{window.start:%Y-%m-%d} {window.end:%Y-%m-%d}" == expected


@pytest.mark.parametrize("text", UNSTATED)
def test_a_date_that_is_about_something_else_is_left_alone(text: str) -> None:
    assert stated_date(text, AT) is None
