"""Promises of the T5 time parser on tiny models that the tests make, from a folder and from a model hub."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from local_hub import serve
from test_t5 import ANSWER, AT, BERLIN, QUESTION, REASON, refusal

from memora_cli.models.t5 import T5TimeParser, prompt
from memora_cli.values import Window

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
    with serve(models) as address:
        yield address


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
