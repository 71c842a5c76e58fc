"""Promises of `memora models` that need neither torch nor a network: what is refused, and what is left behind."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from handmade import make_embedder

from memora_cli.config import models_folder
from memora_cli.models import BUNDLED, EMBEDDER, RERANKER
from memora_cli.models.folder import stamp

HEAVY = {"torch", "transformers", "sentence_transformers", "onnx", "safetensors", "huggingface_hub"}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A model folder as memora exports it, which an import takes as it is."""
    return make_embedder(tmp_path / "words", 1)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """A folder that looks like a SentenceTransformer; its weights are none."""
    folder = tmp_path / "raw"
    (folder / "1_Pooling").mkdir(parents=True)
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    write_json(folder / "modules.json", modules)
    write_json(folder / "config.json", {"model_type": "bert", "architectures": ["BertModel"]})
    write_json(folder / "tokenizer.json", {})
    write_json(folder / "1_Pooling/config.json", {})
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def left_behind() -> list[str]:
    """Everything below the user's models, half imports too."""
    return sorted(path.name for path in models_folder().rglob("*")) if models_folder().exists() else []


def test_the_list_has_the_models_that_ship_and_those_that_were_imported(memora, exported) -> None:
    rows = [line.split("\t") for line in memora("models").out.splitlines()]
    assert [row[:3] for row in rows] == [[EMBEDDER, "embedder", "yes"], [RERANKER, "reranker", "yes"]]
    memora("models", "import", exported)
    memora("models", "import", exported, "--name", "owner/words-2")
    models = memora("models", "list", "--json").json["models"]
    assert [model["name"] for model in models] == ["owner/words-2", "words", EMBEDDER, RERANKER]
    assert [model["used"] for model in models] == [False, False, True, True]
    assert memora("models", "--json").json["models"] == models


def test_an_exported_folder_is_installed_as_it_is_used_and_removed(memora, exported) -> None:
    outcome = memora("models", "import", exported)
    assert "cosine to the original, mean\t1" in outcome.out
    assert outcome.out.splitlines()[-1] == "installed as words; memora models use words takes it into use"
    assert memora("models", "use", "words").out == "embedder\twords\n"
    memora("add", "amber brook cedar")
    assert memora("stats", "--json").json["embedder"].startswith("words@")
    assert "in use" in memora("models", "remove", "words", code=2).err
    memora("models", "use", EMBEDDER)
    assert "still answers in space default" in memora("models", "remove", "words", code=2).err
    memora("reindex")
    assert memora("models", "remove", "words").out == "removed words\n"
    assert left_behind() == []


def test_import_and_use_in_one_command(memora, exported) -> None:
    memora("models", "import", exported, "--use")
    assert memora("config", "get", "embedder").out == "words\n"


def test_use_takes_a_folder_by_its_path(memora, exported) -> None:
    memora("models", "use", exported)
    assert memora("config", "get", "embedder").out == f"{exported}\n"
    memora("add", "amber brook cedar")
    assert memora("stats", "--json").json["embedder"].startswith("words@")


def test_the_reranker_has_its_own_setting(memora, tmp_path) -> None:
    folder = shutil.copytree(BUNDLED / RERANKER, tmp_path / "mine")
    memora("models", "import", folder, "--name", "mine", "--use")
    assert (memora("config", "get", "reranker").out, memora("config", "get", "embedder").out) == (
        "mine\n",
        f"{EMBEDDER}\n",
    )


@pytest.mark.parametrize("name", ["nothing", "../words", "/", "a/b/c", "", "~nobody-at-all/x"])
def test_an_unknown_model_cannot_be_used(memora, name: str, home) -> None:
    assert "no model is called" in memora("models", "use", name, code=6).err
    assert not (home / "config.toml").exists()


@pytest.mark.parametrize("name", ["nothing", "../words", "/etc"])
def test_only_imported_models_are_removed(memora, name: str) -> None:
    assert memora("models", "remove", name, code=None).code in (2, 6)
    assert "stays" in memora("models", "remove", EMBEDDER, "--force", code=2).err


def test_a_model_takes_the_place_of_another_only_when_told(memora, exported, tmp_path) -> None:
    memora("models", "import", exported)
    other = make_embedder(tmp_path / "other" / "words", 2)
    assert "--replace" in memora("models", "import", other, code=2).err
    memora("models", "import", other, "--replace")
    assert stamp(models_folder() / "words/model.onnx") == stamp(other / "model.onnx")
    assert left_behind() == ["config.json", "model.onnx", "tokenizer.json", "words"]


def test_no_model_lies_within_another(memora, exported) -> None:
    memora("models", "import", exported, "--name", "owner/one")
    assert "models called owner/" in memora("models", "import", exported, "--name", "owner", "--replace", code=2).err
    memora("models", "import", exported, "--name", "alone")
    assert "a model called alone" in memora("models", "import", exported, "--name", "alone/two", code=2).err
    assert [row["name"] for row in memora("models", "--json").json["models"]][:2] == ["alone", "owner/one"]


def test_what_an_exported_folder_is_cannot_be_told_otherwise(memora, exported) -> None:
    for option in (("--precision", "fp32"), ("--query-prefix", "query: "), ("--max-length", 64)):
        assert "exported by memora already" in memora("models", "import", exported, *option, code=2).err
    assert left_behind() == []


def test_verify_reads_every_byte_and_names_what_differs(memora, exported) -> None:
    memora("models", "import", exported)
    outcome = memora("models", "verify")
    assert [line.split("\t") for line in outcome.out.splitlines()] == [
        [name, "whole, and it runs"] for name in ("words", EMBEDDER, RERANKER)
    ]
    content = bytearray((models_folder() / "words/model.onnx").read_bytes())
    content[-200] ^= 1
    (models_folder() / "words/model.onnx").write_bytes(content)
    assert "SHA-256 differs" in memora("models", "verify", "words", code=6).out
    states = memora("models", "verify", "--json", code=6).json["models"]
    assert {state["name"]: state["ok"] for state in states} == {"words": False, EMBEDDER: True, RERANKER: True}


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_an_exported_folder_with_a_wrong_hash_is_refused_and_leaves_nothing(memora, exported, file: str) -> None:
    content = bytearray((exported / file).read_bytes())
    content[100] ^= 1
    (exported / file).write_bytes(content)
    assert "SHA-256 differs" in memora("models", "import", exported, code=6).err
    assert left_behind() == []


# Archives


def pack(path: Path, folder: Path | None, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        if folder:
            archive.add(folder, folder.name)
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, size
    return made


def test_an_archive_is_unpacked_and_named_after_its_file(memora, exported, tmp_path) -> None:
    archive = pack(tmp_path / "my-words.tar.gz", exported)
    memora("models", "import", archive, "--sha256", stamp(archive).sha256)
    assert memora("models", "verify", "my-words").code == 0
    assert left_behind() == ["config.json", "model.onnx", "my-words", "tokenizer.json"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (member("words/../../outside"), "leads out"),
        (member("/etc/outside"), "leads out"),
        (member("words/link", tarfile.SYMTYPE, "/etc/passwd"), "a link or a device"),
        (member("words/hard", tarfile.LNKTYPE, "words/config.json"), "a link or a device"),
        (member("words/device", tarfile.CHRTYPE), "a link or a device"),
        (member("words/pipe", tarfile.FIFOTYPE), "a link or a device"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_an_archive_that_leads_out_is_refused_before_a_file_is_written(
    memora, exported, tmp_path, bad, message
) -> None:
    outcome = memora("models", "import", pack(tmp_path / "bad.tar.gz", exported, bad), code=6)
    assert message in outcome.err
    assert left_behind() == []
    assert not (tmp_path / "outside").exists()


def test_a_damaged_archive_is_refused(memora, exported, tmp_path) -> None:
    archive = pack(tmp_path / "words.tar.gz", exported)
    for content in (archive.read_bytes()[:3000], b"no archive", b""):
        archive.write_bytes(content)
        assert "cannot be unpacked" in memora("models", "import", archive, code=6).err
    assert left_behind() == []


def test_an_archive_or_model_larger_than_the_disk_is_refused(memora, exported, tmp_path, monkeypatch) -> None:
    archive = pack(tmp_path / "words.tar.gz", exported)
    usage = type(shutil.disk_usage("/"))(10**9, 10**9 - 10_000, 10_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert "room" in memora("models", "import", archive, code=6).err
    assert "MB are free" in memora("models", "import", exported, code=6).err
    assert left_behind() == []


def test_a_disk_that_is_full_in_the_middle_leaves_nothing(memora, exported, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "model.onnx")

    monkeypatch.setattr(shutil, "copyfile", full)
    assert "the disk is full, nothing was installed" in memora("models", "import", exported, code=6).err
    assert left_behind() == []


def test_what_a_killed_import_left_goes_with_the_next(memora, exported) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (models_folder() / f".import-{ended.pid}-x").mkdir(parents=True)
    running = models_folder() / f".import-{os.getppid()}-x"
    running.mkdir()
    memora("models", "import", exported)
    assert [path.name for path in models_folder().glob(".import-*")] == [running.name]
    assert [model["name"] for model in memora("models", "--json").json["models"]] == ["words", EMBEDDER, RERANKER]


def test_a_wrong_hash_is_refused(memora, exported, raw, tmp_path) -> None:
    for what in (exported, raw, pack(tmp_path / "words.tar.gz", exported)):
        assert "not 00" in memora("models", "import", what, "--sha256", "00" * 32, code=6).err
    assert left_behind() == []


# Folders that would run code or are not whole


def refusal(memora: Callable[..., Any], folder: Path) -> str:
    err: str = memora("models", "import", folder, code=6).err
    assert left_behind() == []
    return err


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json", "1_Pooling/config.json"])
def test_code_that_comes_with_a_model_is_never_run(memora, raw, file: str) -> None:
    write_json(raw / file, {"model_type": "bert", "nested": {"auto_map": {"AutoModel": "modeling.Custom"}}})
    assert "code that comes with the model (auto_map)" in refusal(memora, raw)


@pytest.mark.parametrize("kind", ["custom.Module", "os.system", "sentence_transformersx.models.Pooling"])
def test_modules_of_a_models_own_are_refused(memora, raw, kind: str) -> None:
    write_json(raw / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
    assert f"code that comes with the model ({kind})" in refusal(memora, raw)


@pytest.mark.parametrize("path", ["../elsewhere", "/etc"])
def test_modules_outside_of_the_folder_are_refused(memora, raw, path: str) -> None:
    write_json(raw / "modules.json", [{"path": path, "type": "sentence_transformers.models.Transformer"}])
    assert "outside of the model" in refusal(memora, raw)


@pytest.mark.parametrize("file", ["pytorch_model.bin", "model.pt", "weights.pkl", "flax_model.msgpack"])
def test_pickled_weights_are_never_opened(memora, raw, file: str) -> None:
    (raw / "model.safetensors").rename(raw / file)
    assert f"only in {file}, a pickle or the like" in refusal(memora, raw)


def test_pickled_weights_of_a_part_are_never_opened_either(memora, raw) -> None:
    (raw / "1_Pooling/pytorch_model.bin").write_bytes(b"")
    assert "only in pytorch_model.bin" in refusal(memora, raw)


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer"),
        (lambda folder: (folder / "model.safetensors").unlink(), "no weights"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json is not JSON"),
        (lambda folder: (folder / "modules.json").write_text("{}"), "no list of modules"),
        (lambda folder: write_json(folder / "adapter_config.json", {}), "an adapter"),
        (
            lambda folder: write_json(folder / "config_sentence_transformers.json", {"model_type": "SparseEncoder"}),
            "SparseEncoder",
        ),
        (lambda folder: [path.unlink() for path in folder.glob("*.json")], "neither config.json nor modules.json"),
    ],
)
def test_what_is_no_whole_model_is_refused(memora, raw, break_it, message: str) -> None:
    break_it(raw)
    assert message in refusal(memora, raw)


def test_weights_over_what_an_onnx_file_holds_are_refused(memora, raw) -> None:
    os.truncate(raw / "model.safetensors", 2_000_000_000)  # sparse: it takes no room
    assert "2.0 GB" in refusal(memora, raw)


@pytest.mark.parametrize("absent", ["torch", "sentence_transformers", "onnx"])
def test_without_the_extra_the_command_that_brings_it_is_named(memora, raw, monkeypatch, absent: str) -> None:
    monkeypatch.setitem(sys.modules, absent, None)
    assert "pip install 'memora-cli[models]'" in refusal(memora, raw)
    assert "pip install 'memora-cli[models]'" in memora("models", "import", "owner/name", code=6).err


@pytest.mark.parametrize("what", ["./nothing", "/nothing/here", "~/nothing", "nothing.tar.gz"])
def test_a_folder_that_is_not_there_is_not_looked_for_on_the_hub(memora, what: str) -> None:
    assert "there is no such folder or file" in memora("models", "import", what, code=6).err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--name", "../up"),
        ("--name", ".hidden"),
        ("--name", "a/b/c"),
        ("--name", "a b"),
        ("--precision", "int4"),
        ("--max-length", "0"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(memora, exported, arguments) -> None:
    memora("models", "import", exported, *arguments, code=2)
    assert left_behind() == []


def test_a_file_that_is_no_archive_is_a_usage_error(memora, exported) -> None:
    assert "neither a folder nor a .tar.gz" in memora("models", "import", exported / "model.onnx", code=2).err


def test_no_command_imports_what_only_the_extra_brings(home, exported, tmp_path) -> None:
    commands = [
        ["add", "Alice works at Google"],
        ["search", "Where does Alice work?"],
        ["explain", "Alice"],
        ["reindex"],
        ["models", "list"],
        ["models", "import", str(exported)],
        ["models", "use", "words"],
        ["models", "verify"],
        ["reindex"],
        ["search", "Alice"],
    ]
    program = (
        "import sys; from memora_cli.cli import main\n"
        f"for arguments in {commands!r}:\n"
        "    sys.argv = ['memora', *arguments]\n"
        "    try: main()\n"
        "    except SystemExit as ended: assert not ended.code, (arguments, ended.code)\n"
        "sys.stderr.write(' '.join(name for name in sys.modules if '.' not in name))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert not HEAVY & set(ended.stderr.split())
