"""Promises of the T5 time parser: what it is given, what it may answer, and which models it refuses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.errors import ModelUnusable
from memora_cli.models.t5 import LONGEST_QUESTION, T5TimeParser, parse_range, prompt
from memora_cli.text.times import TimeParser

BERLIN = ZoneInfo("Europe/Berlin")
AT = datetime(2025, 3, 10, 9, 30, tzinfo=BERLIN)
QUESTION = "What did Alice do last spring?"
ANSWER = "2024-03-01 to 2024-05-31"
REASON = "the models extra is not installed"


# --- what the model may answer


@pytest.mark.parametrize(
    ("output", "start", "end"),
    [
        ("2024-03-01 to 2024-05-31", date(2024, 3, 1), date(2024, 6, 1)),
        ("2024-02-29 to 2024-02-29", date(2024, 2, 29), date(2024, 3, 1)),
        ("2023-12-31 to 2023-12-31", date(2023, 12, 31), date(2024, 1, 1)),
        ("2025-03-30 to 2025-03-30", date(2025, 3, 30), date(2025, 3, 31)),  # a day of 23 hours
    ],
)
def test_an_answer_holds_both_of_its_days_from_midnight_to_midnight(output: str, start: date, end: date) -> None:
    assert parse_range(output, BERLIN) == (
        datetime.combine(start, time(), BERLIN),
        datetime.combine(end, time(), BERLIN),
    )


@pytest.mark.parametrize(
    "output",
    [
        "",
        "none",
        "None",
        "2024-03-01",
        "2024-03-01 to",
        "2024-05-31 to 2024-03-01",
        "2023-02-29 to 2023-03-01",
        "2024-13-01 to 2024-13-02",
        "2024-00-10 to 2024-01-10",
        "0000-01-01 to 0000-01-02",
        "2024-3-1 to 2024-5-31",
        "2024-03-01 - 2024-05-31",
        "2024-03-01  to  2024-05-31",
        "2024-03-01 TO 2024-05-31",
        "2024-03-01 to 2024-05-31.",
        "2024-03-01 to 2024-05-31\n",
        " 2024-03-01 to 2024-05-31",
        "2024-03-01 to 2024-05-31 2024-06-01",
        "20240301 to 20240531",
        "2024-W01-1 to 2024-W02-1",
        "٢٠٢٤-03-01 to 2024-05-31",
        "9999-12-31 to 9999-12-31",  # no midnight follows
    ],
)
def test_any_other_answer_names_no_time(output: str) -> None:
    assert parse_range(output, UTC) is None


def test_a_day_that_utc_has_no_moment_for_names_no_time() -> None:
    assert parse_range("0001-01-01 to 0001-01-02", timezone(timedelta(hours=9))) is None
    assert parse_range("0001-01-01 to 0001-01-02", UTC) is not None


zones = st.sampled_from([UTC, BERLIN, ZoneInfo("America/Sao_Paulo"), ZoneInfo("Pacific/Apia")])
nearly = st.from_regex(re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} to [0-9]{4}-[0-9]{2}-[0-9]{2}"), fullmatch=True)


@given(st.one_of(st.text(), nearly), zones)
def test_no_answer_raises_and_every_range_starts_before_it_ends(output: str, zone: Any) -> None:
    span = parse_range(output, zone)
    assert span is None or span[0] < span[1]


@given(st.lists(st.dates(date(2, 1, 1), date(9998, 1, 1)), min_size=2, max_size=2).map(sorted), zones)
def test_the_days_of_an_answer_can_be_read_back_from_its_range(days: list[date], zone: Any) -> None:
    span = parse_range(f"{days[0].isoformat()} to {days[1].isoformat()}", zone)
    assert span is not None
    assert [span[0].date(), (span[1] - timedelta(days=1)).date()] == days
    assert {(moment.time(), moment.tzinfo) for moment in span} == {(time(), zone)}


# --- what the model is given


def test_the_prompt_is_the_contract_that_weights_are_trained_on() -> None:
    assert prompt(" What did Alice\n do last spring? ", AT) == (
        "Today is Monday, 2025-03-10. Give the dates that a question names, or none. "
        "trips in May 2023 = 2023-05-01 to 2023-05-31; last year = 2024-01-01 to 2024-12-31; "
        "how do I bake bread = none; What did Alice do last spring? ="
    )


def test_a_long_question_leaves_room_for_the_end_of_the_prompt() -> None:
    written = prompt("word " * 10_000, AT)
    assert written.endswith(" =")
    assert len(written) - len(prompt("", AT)) == LONGEST_QUESTION


# --- models that cannot be used; none of these needs torch


def refusal(name: str | Path, text: str = QUESTION) -> str:
    with pytest.raises(ModelUnusable) as caught:
        T5TimeParser(str(name)).read(text, AT)
    message = str(caught.value)
    assert repr(str(name)) in message
    assert "\n" not in message
    return message


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that has the files of a T5, and nothing in them but the config's type."""
    folder = tmp_path / "t5"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "t5"}', encoding="utf-8")
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).write_bytes(b"{}")
    return folder


def test_a_parser_is_made_without_a_look_at_its_model() -> None:
    parser: TimeParser = T5TimeParser("no/such-model")
    assert parser.read(" \n", AT) == ()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    for name in (str(tmp_path / "nothing"), "./nothing", "~/nothing", ""):
        assert "there is no such folder; give time_parser" in refusal(name)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("config.json", "config.json cannot be read (No such file or directory); save the model again"),
        ("model.safetensors", "it has no model.safetensors; save the model again"),
        ("tokenizer.json", "it has no tokenizer (tokenizer.json or spiece.model); save the model again"),
    ],
)
def test_a_folder_without_one_of_its_files(folder: Path, missing: str, message: str) -> None:
    (folder / missing).unlink()
    assert message in refusal(folder)


@pytest.mark.parametrize("content", ["{", "", "\x00"])
def test_a_config_that_is_no_json(folder: Path, content: str) -> None:
    (folder / "config.json").write_text(content, encoding="utf-8")
    assert "config.json is not JSON" in refusal(folder)


@pytest.mark.parametrize("config", [{"model_type": "bert"}, {"model_type": ["t5"]}, {}, []])
def test_a_model_of_another_architecture(folder: Path, config: object) -> None:
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert "not a T5 (t5, mt5, umt5, longt5); give time_parser" in refusal(folder)


def test_pickled_weights_are_never_opened(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "its weights are only in pytorch_model.bin, a pickle, which could run code" in refusal(folder)


def test_weights_in_several_files(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    assert "its weights are in several files" in refusal(folder)


@pytest.mark.parametrize("absent", ["torch", "transformers"])
def test_the_extra_is_not_installed(folder: Path, monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    monkeypatch.setitem(sys.modules, absent, None)
    for name in (str(folder), "google/flan-t5-small"):
        assert "pip install 'memora-cli[models]'" in refusal(name)


def test_the_module_brings_in_nothing_heavy() -> None:
    program = "import memora_cli.models.t5, sys; print(*sys.modules, sep='\\n')"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "transformers", "tokenizers", "huggingface_hub", "numpy"} & set(modules)
