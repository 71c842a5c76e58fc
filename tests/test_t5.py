"""Promises of the T5 time parser, on tiny models that the tests make."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.errors import ModelUnusable
from memora_cli.models.t5 import LONGEST_QUESTION, T5TimeParser, parse_range, prompt
from memora_cli.text.times import TimeParser
from memora_cli.values import Window

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


# --- tiny models


def save_tiny_t5(folder: Path, lessons: dict[str, str]) -> None:
    """Save a T5 of one layer and a tokenizer of whole words; it is trained until it knows the lessons by heart."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    words = dict.fromkeys(word for text in (prompt(QUESTION, AT), ANSWER, *lessons) for word in text.split())
    vocabulary = {word: number for number, word in enumerate(["<pad>", "</s>", "<unk>", *words])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    torch.manual_seed(1)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(vocabulary),
            d_model=16,
            d_kv=8,
            d_ff=32,
            num_layers=1,
            num_heads=2,
            dropout_rate=0.0,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
        )
    )
    if lessons:
        questions = tokenizer(list(lessons), return_tensors="pt", padding=True)
        answers = tokenizer(list(lessons.values()), return_tensors="pt", padding=True)["input_ids"]
        labels = answers.masked_fill(answers == 0, -100)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
        for _ in range(300):
            loss = model(
                input_ids=questions["input_ids"], attention_mask=questions["attention_mask"], labels=labels
            ).loss
            if loss.item() < 0.01:
                break
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 that knows what last spring was, and that bread is no time."""
    pytest.importorskip("torch", reason=REASON)
    pytest.importorskip("transformers", reason=REASON)
    folder = tmp_path_factory.mktemp("taught")
    save_tiny_t5(folder, {prompt(QUESTION, AT): ANSWER, prompt("how do I bake bread", AT): "none"})
    return folder


@pytest.fixture
def copied(taught: Path, tmp_path: Path) -> Path:
    """A copy of the taught T5 that a test may damage."""
    return Path(shutil.copytree(taught, tmp_path / "copied"))


SPRING = Window(datetime(2024, 3, 1, tzinfo=BERLIN), datetime(2024, 6, 1, tzinfo=BERLIN), QUESTION, "range")


@pytest.mark.models
def test_an_untrained_model_runs_to_an_answer(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=REASON)
    pytest.importorskip("transformers", reason=REASON)
    save_tiny_t5(tmp_path, {})
    parser = T5TimeParser(str(tmp_path))
    for text in (QUESTION, "word " * 10_000, "\ud800\x00", "東京 [/b] = 2024"):
        assert isinstance(parser.read(text, AT), tuple)


@pytest.mark.models
def test_a_trained_model_names_the_range(taught: Path, capfd: pytest.CaptureFixture[str]) -> None:
    parser = T5TimeParser(str(taught))
    assert parser.read(QUESTION, AT) == (SPRING,)
    assert parser.read("how do I bake bread", AT) == ()
    assert parser.read(QUESTION, AT) == (SPRING,)
    assert capfd.readouterr() == ("", ""), "the libraries' chatter must not reach the terminal"


@pytest.mark.models
def test_transformers_is_as_talkative_afterwards_as_it_was(taught: Path) -> None:
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    T5TimeParser(str(taught)).read(QUESTION, AT)
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


@pytest.mark.models
@pytest.mark.parametrize(
    ("file", "message"), [("model.safetensors", "its weights cannot be read"), ("tokenizer.json", "its tokenizer")]
)
def test_damaged_files(copied: Path, file: str, message: str) -> None:
    content = (copied / file).read_bytes()
    (copied / file).write_bytes(content[: len(content) // 2])
    assert message in refusal(copied)


@pytest.mark.models
def test_weights_that_are_missing_are_not_made_up(copied: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(copied / "model.safetensors")
    save_file({name: value for name, value in weights.items() if "encoder" in name or "shared" in name},
              copied / "model.safetensors", metadata={"format": "pt"})  # fmt: skip
    assert "model.safetensors lacks" in refusal(copied)


@pytest.mark.models
def test_weights_of_another_shape(copied: Path) -> None:
    config = json.loads((copied / "config.json").read_text(encoding="utf-8"))
    (copied / "config.json").write_text(json.dumps(config | {"d_model": 32}), encoding="utf-8")
    assert "its weights cannot be read" in refusal(copied)


@pytest.mark.models
def test_a_tokenizer_of_another_model(copied: Path) -> None:
    content = json.loads((copied / "tokenizer.json").read_text(encoding="utf-8"))
    content["model"]["vocab"]["Today"] = 9_999
    (copied / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    assert "it cannot answer" in refusal(copied)


# --- the model hub: one on this machine, which has tiny/t5 and tiny/pickled


@pytest.fixture
def hub(taught: Path) -> Iterator[str]:
    """The address of a model hub that knows two models."""
    files = {path.name: path.read_bytes() for path in taught.iterdir()}
    models = {"tiny/t5": files, "tiny/pickled": {"config.json": files["config.json"], "pytorch_model.bin": b""}}
    commit = "0123456789" * 4

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            for name, files in models.items():
                siblings = [{"rfilename": file} for file in files]
                tree = [{"type": "file", "path": file, "size": len(files[file]), "oid": file} for file in files]
                pages = {"": {"id": name, "sha": commit, "siblings": siblings}, f"/tree/{commit}": tree}
                pages["/revision/main"] = pages[""]
                if (page := path.removeprefix(f"/api/models/{name}")) != path and page in pages:
                    return self.answer(json.dumps(pages[page]).encode())
                for file, content in files.items():
                    if path == f"/{name}/resolve/{commit}/{file}":
                        return self.answer(content, ETag=f'"{name}{file}"', **{"X-Repo-Commit": commit})
            return self.answer(b"{}", 404, **{"X-Error-Code": "RepoNotFound"})

        do_HEAD = do_GET  # noqa: N815

        def answer(self, content: bytes, status: int = 200, **headers: str) -> None:
            self.send_response(status)
            for header, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(header, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def ask(endpoint: str, cache: Path, *names: str) -> list[str]:
    """What models of a hub answer in a new process, or why they don't; hub settings are read once in a process."""
    program = (
        "import sys, json; from datetime import datetime; from memora_cli.errors import ModelUnusable\n"
        "from memora_cli.models.t5 import T5TimeParser\n"
        f"at = datetime.fromisoformat({AT.isoformat()!r})\n"
        "for name in sys.argv[1:]:\n"
        f"    try: print(*(window.start.date() for window in T5TimeParser(name).read({QUESTION!r}, at)))\n"
        "    except ModelUnusable as error: print(error)\n"
    )
    settings = {"HF_ENDPOINT": endpoint, "HF_HUB_CACHE": str(cache), "NO_PROXY": "*"}
    run = subprocess.run(
        [sys.executable, "-c", program, *names],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | settings,
        timeout=100,
    )
    return run.stdout.splitlines()


@pytest.mark.models
def test_a_hub_model_is_fetched_once_and_then_needs_no_network(hub: str, tmp_path: Path) -> None:
    found, pickled, unknown = ask(hub, tmp_path, "tiny/t5", "tiny/pickled", "tiny/nothing")
    assert found == "2024-03-01"
    assert "its weights are only in pytorch_model.bin" in pickled
    assert "there is no such folder, and no such model on the hub; give time_parser" in unknown
    nowhere = "http://127.0.0.1:9"
    found, unreachable, no_name = ask(nowhere, tmp_path, "tiny/t5", "tiny/other", "no name/at/all")
    assert found == "2024-03-01"
    assert "the model hub cannot be reached" in unreachable
    assert "go online for the first use, or give the folder of a T5" in unreachable
    assert "the model hub has no such names" in no_name
