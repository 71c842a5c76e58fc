"""Promises of `memora models import` from a model hub: one on this machine, or none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_hub import COMMIT, serve
from tiny_models import make_sentence_transformer, need_extra

from memora_cli.config import models_folder
from memora_cli.models.folder import read_folder, stamp, verify

pytestmark = pytest.mark.models

NOWHERE = "http://127.0.0.1:9"  # where nothing listens


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a tiny model as a hub holds them: with a card, and without the folder of a part without settings."""
    need_extra()
    folder = make_sentence_transformer(tmp_path_factory.mktemp("hub") / "tiny")
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n# tiny\n", encoding="utf-8")
    held = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: content for name, content in held.items() if not name.startswith("2_")}


@pytest.fixture(scope="module")
def hub(files: dict[str, bytes]) -> Iterator[str]:
    """The address of a hub with a good model and bad ones."""
    models = {
        "owner/tiny": {**files, "onnx/model.onnx": b"another form", "pytorch_model.bin": b"a pickle"},
        "owner/pickled": {"config.json": files["config.json"], "pytorch_model.bin": b"a pickle"},
        "owner/empty": {"README.md": b""},
    }
    with serve(models) as address:
        yield address


def run(endpoint: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own: the hub's settings are read once in a process."""
    return subprocess.run(
        [sys.executable, "-m", "memora_cli", "models", "import", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env=os.environ | {"HF_ENDPOINT": endpoint, "NO_PROXY": "*", "HF_HUB_DISABLE_XET": "1"},
    )


def refusal(endpoint: str, *arguments: str) -> str:
    ended = run(endpoint, *arguments)
    assert ended.returncode == 6, ended.stderr
    assert not models_folder().exists() or not list(models_folder().iterdir())
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    return ended.stderr


def test_a_hub_model_is_downloaded_exported_and_installed_under_its_name(hub: str, files: dict[str, bytes]) -> None:
    ended = run(hub, "owner/tiny", "--precision", "fp32")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "", "the libraries' chatter stays away"
    assert "licence\tapache-2.0" in ended.stdout
    model = read_folder(models_folder() / "owner/tiny")
    verify(model)
    assert (model.name, model.origin, model.revision) == ("owner/tiny", "owner/tiny", COMMIT)
    assert model.agreement["cosine_worst"] >= 0.9999
    assert sorted(path.name for path in models_folder().rglob("*") if path.is_file()) == [
        "config.json",
        "model.onnx",
        "tokenizer.json",
    ]


def test_a_revision_that_is_not_there(hub: str) -> None:
    assert "no revision v9 of it" in refusal(hub, "owner/tiny", "--revision", "v9")


def test_pickled_weights_are_refused_before_they_are_downloaded(hub: str) -> None:
    assert "its weights are only in pytorch_model.bin" in refusal(hub, "owner/pickled")
    assert "it has no weights" in refusal(hub, "owner/empty")


def test_an_unknown_name(hub: str) -> None:
    assert "no such model on the hub" in refusal(hub, "owner/nothing")
    assert "no name for a model" in run(hub, "no name/at/all").stderr


def test_without_a_network(hub: str) -> None:
    said = refusal(NOWHERE, "owner/tiny")
    assert "the model hub cannot be reached" in said
    assert "go online, or give the folder or .tar.gz of a model" in said


def test_weights_with_another_hash_than_the_hub_states(files: dict[str, bytes]) -> None:
    with serve({"owner/tiny": files}, damaged={"model.safetensors"}) as address:
        assert "another SHA-256 than the hub states" in refusal(address, "owner/tiny")


def test_a_hash_given_by_hand_holds_for_the_weights(hub: str, files: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(files["model.safetensors"])
    assert "not 00" in refusal(hub, "owner/tiny", "--sha256", "00" * 32)
    assert run(hub, "owner/tiny", "--sha256", stamp(tmp_path / "weights").sha256).returncode == 0
