"""Promises of the embedder and the reranker, on the models that ship."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memora_cli.errors import ModelUnusable
from memora_cli.models import EMBEDDER, RERANKER, Embedder, Reranker, find_model, load_embedder, load_reranker
from memora_cli.models.agreement import rankings_agree, require
from memora_cli.models.folder import read_folder, verify
from memora_cli.models.sample import PASSAGES, QUERIES
from memora_cli.models.train import Example, Recipe, make_group

# (query, the note that answers it, a note on a near subject, a note on something else)
TRIPLES = [
    (
        "Where does Alice work?",
        "Alice works as a software engineer at Google.",
        "Alice has two cats and a garden.",
        "The recipe needs three eggs and a cup of flour.",
    ),
    (
        "When is the dentist appointment?",
        "The dentist can see me on the 4th of May at nine.",
        "Bought a new toothbrush.",
        "Rust borrows are checked at compile time.",
    ),
    (
        "how to undo a git commit",
        "git reset --soft HEAD~1 takes the last commit back and keeps the changes.",
        "git log shows the history of a branch.",
        "Mum turns sixty in May.",
    ),
    (
        "Who recommended the book about octopuses?",
        "Priya told me to read Other Minds, a book on octopuses.",
        "The library closes at six on Saturdays.",
        "The rent is due on the third of the month.",
    ),
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder()


@pytest.fixture(scope="module")
def reranker() -> Reranker:
    return load_reranker()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the bundled embedder that a test may damage."""
    return Path(shutil.copytree(find_model(EMBEDDER), tmp_path / EMBEDDER))


def change_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | changes), encoding="utf-8")


def test_importing_the_package_brings_in_nothing_heavy() -> None:
    program = "import memora_cli.models, memora_cli.text.tokens, sys; print(*sys.modules, sep='\\n')"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "onnxruntime", "tokenizers", "tiktoken", "torch", "onnx"} & set(modules)


def test_loading_a_model_never_imports_torch_or_onnx() -> None:
    program = (
        "from memora_cli.models import load_embedder, load_reranker; import sys\n"
        "load_embedder().embed(['a']); load_reranker().score('a', ['b']); print(*sys.modules, sep='\\n')"
    )
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "onnx", "transformers", "sentence_transformers"} & set(modules)


def test_vectors_are_finite_unit_rows_of_the_stated_dimension(embedder: Embedder) -> None:
    vectors = embedder.embed([*PASSAGES, "", " ", "\x00", "\ud800", "🧑‍🚀" * 30])
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(PASSAGES) + 5, embedder.dimension)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=200), max_size=3))
def test_no_text_is_an_error(embedder: Embedder, texts: list[str]) -> None:
    vectors = embedder.embed(texts)
    assert vectors.shape == (len(texts), embedder.dimension)
    assert np.isfinite(vectors).all()


def test_nothing_gives_nothing(embedder: Embedder, reranker: Reranker) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimension)
    assert reranker.score("anything", []).shape == (0,)


def test_a_text_has_the_same_vector_whatever_stands_beside_it(embedder: Embedder) -> None:
    together = embedder.embed(PASSAGES)
    alone = np.concatenate([embedder.embed([passage]) for passage in PASSAGES])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(embedder.embed(PASSAGES[::-1])[::-1], together)


def test_a_passage_has_the_same_logit_whatever_stands_beside_it(reranker: Reranker) -> None:
    together = reranker.score(QUERIES[0], PASSAGES)
    alone = np.concatenate([reranker.score(QUERIES[0], [passage]) for passage in PASSAGES])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(reranker.score(QUERIES[0], PASSAGES[::-1])[::-1], together)


def test_a_very_long_text_is_read_to_the_end_of_the_window(embedder: Embedder, reranker: Reranker) -> None:
    book = "the tide came in and went out again. " * 30_000
    vectors = embedder.embed([book, book + "Something quite different at the end.", book[:2_000]])
    np.testing.assert_array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[0], vectors[2])
    logits = reranker.score("when did the tide come in?", [book, book + "!"])
    assert np.isfinite(logits).all()
    assert logits[0] == logits[1]
    assert np.isfinite(reranker.score(book, [book])).all()


def test_related_notes_are_nearer_than_unrelated_ones(embedder: Embedder) -> None:
    for query, answer, near, other in TRIPLES:
        vectors = embedder.embed([query, answer, near, other])
        cosines = vectors[1:] @ vectors[0]
        assert cosines[0] > cosines[2] + 0.2, query
        assert cosines[0] > cosines[1], query


def test_the_passage_that_answers_is_ranked_first(reranker: Reranker) -> None:
    for query, *passages in TRIPLES:
        logits = reranker.score(query, passages)
        assert logits.dtype == np.float32
        assert logits.shape == (3,)
        assert logits.argmax() == 0, query
        dated = [f"[Date: June 05, 2022] {passage}" for passage in passages]
        assert reranker.score(query, dated).argmax() == 0, query


@pytest.mark.parametrize(("name", "kind"), [(EMBEDDER, "embedder"), (RERANKER, "reranker")])
def test_the_shipped_files_are_whole_and_their_config_states_what_was_measured(name: str, kind: str) -> None:
    model = read_folder(find_model(name), kind)  # type: ignore[arg-type]
    verify(model)
    assert model.name == name
    assert model.licence
    assert model.revision
    assert 128 <= model.max_length <= 512
    assert model.agreement["spearman"] >= 0.95
    assert model.agreement["same_first"] >= 0.9
    if kind == "embedder":
        assert model.dimension == 384
        assert model.agreement["cosine_mean"] >= 0.99
        assert model.agreement["cosine_worst"] >= 0.97
    assert (model.path / "README.md").read_text(encoding="utf-8").startswith(f"# {name}")


def test_the_id_names_the_model_and_its_content(embedder: Embedder, reranker: Reranker) -> None:
    for model, name, kind in ((embedder, EMBEDDER, "embedder"), (reranker, RERANKER, "reranker")):
        stamp = read_folder(find_model(name), kind).files["model.onnx"]  # type: ignore[arg-type]
        assert model.id == f"{name}@{stamp.sha256[:12]}"


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named_with_what_to_do(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelUnusable, match=rf"{name}.*; reinstall memora-cli"):
        load_embedder(EMBEDDER, [folder.parent])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_cut_short_is_named(folder: Path, name: str) -> None:
    with (folder / name).open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(ModelUnusable, match=rf"{name} has 1,000 bytes instead of"):
        load_embedder(EMBEDDER, [folder.parent])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_of_the_right_size_with_other_content_is_a_model_error_too(folder: Path, name: str) -> None:
    size = (folder / name).stat().st_size
    (folder / name).write_bytes(b"\x00" * size)
    with pytest.raises(ModelUnusable, match=f"{name} is not the file that was exported"):
        load_embedder(EMBEDDER, [folder.parent])
    with pytest.raises(ModelUnusable, match=f"{name} is not the file that was exported"):
        verify(read_folder(folder, "embedder"))


def test_a_model_that_was_run_before_is_refused_once_its_bytes_change(folder: Path, figure) -> None:
    load_embedder(EMBEDDER, [folder.parent])
    load_embedder(EMBEDDER, [folder.parent])
    path = folder / "model.onnx"
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(-1000, os.SEEK_END)
        byte = file.read(1)
        file.seek(-1000, os.SEEK_END)
        file.write(bytes([byte[0] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # as if nothing had been changed
    with pytest.raises(ModelUnusable, match=r"model.onnx is not the file that was exported"):
        load_embedder(EMBEDDER, [folder.parent])
    figure("models", "a flipped bit in a model, its time set back: refused")


@pytest.mark.parametrize("config", ["", "[]", "{}", '{"name": "x"}', "nonsense"])
def test_a_damaged_config_is_a_model_error(folder: Path, config: str) -> None:
    (folder / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises(ModelUnusable, match=r"config\.json"):
        load_embedder(EMBEDDER, [folder.parent])


def test_a_wrong_dimension_is_found_at_load(folder: Path) -> None:
    change_config(folder, dimension=768)
    with pytest.raises(ModelUnusable, match="768"):
        load_embedder(EMBEDDER, [folder.parent])


def test_an_embedder_is_no_reranker(folder: Path) -> None:
    with pytest.raises(ModelUnusable, match="'embedder', not 'reranker'"):
        load_reranker(EMBEDDER, [folder.parent])


@pytest.mark.parametrize("name", ["no-such-model", "../data", "/", "a/b"])
def test_an_unknown_name_is_a_model_error_that_says_how_to_bring_it(name: str) -> None:
    with pytest.raises(ModelUnusable, match="come with memora-cli"):
        load_embedder(name)


def test_a_model_of_the_users_comes_before_a_bundled_one(folder: Path) -> None:
    assert find_model(EMBEDDER, [folder.parent]) == folder
    assert find_model(EMBEDDER, [folder.parent / "nothing here"]) != folder


def test_equal_rankings_agree_whole_and_reversed_ones_not_at_all() -> None:
    scores = np.array([[0.1, 0.9, 0.5], [3.0, 2.0, 1.0]], np.float32)
    same = rankings_agree(scores * 2, scores)
    assert same["spearman"] == pytest.approx(1)
    assert same["same_first"] == 1
    assert same["largest_difference"] == pytest.approx(3)
    reverse = rankings_agree(-scores, scores)
    assert reverse["spearman"] == pytest.approx(-1)
    assert reverse["same_first"] == 0


def test_ties_share_their_rank() -> None:
    scores = np.array([[1.0, 1.0, 0.0]], np.float32)
    assert rankings_agree(scores, scores)["spearman"] == pytest.approx(1)


@pytest.mark.parametrize("agreement", [{"cosine_mean": 0.98}, {"spearman": 0.9}, {"spearman": float("nan")}])
def test_an_export_that_strays_from_its_original_is_refused(agreement: dict[str, float]) -> None:
    with pytest.raises(ModelUnusable, match="higher precision"):
        require(agreement, "stray")


def test_an_export_that_agrees_is_accepted() -> None:
    require({"cosine_mean": 0.995, "cosine_worst": 0.9, "spearman": 0.98}, "true")


@given(st.integers(0, 10_000))
def test_a_training_group_starts_with_the_answer_and_dates_all_passages_or_none(seed: int) -> None:
    example = Example("made up", "who won?", "Ada won.", ("Bob ran.", "Cy slept.", "It rained.", "We left."))
    recipe = Recipe(negatives=3, asked_month_share=0.25)
    group = make_group(example, recipe, random.Random(seed))
    assert len(group.passages) == 4
    assert group.passages[0].endswith("Ada won.")
    dated = [passage.startswith("[Date: ") for passage in group.passages]
    assert len(set(dated)) == 1
    if group.query == "who won?":
        assert not any(passage.endswith("Ada won.") for passage in group.passages[1:])
    else:  # the query asks for a time: one wrong passage says the same in another year
        right, twin = group.passages[0], group.passages[-1]
        assert twin.endswith("Ada won.")
        assert right.split("]")[0][-4:] in group.query
        assert right.split("]")[0][-4:] != twin.split("]")[0][-4:]


@pytest.mark.models
def test_row_wise_int8_stays_near_the_original_graph() -> None:
    onnx = pytest.importorskip("onnx", reason="needs the extra memora-cli[models]")
    import onnxruntime

    from memora_cli.models.quantize import Precision, quantize

    chance = np.random.default_rng(0)
    table = chance.normal(size=(1000, 64)).astype(np.float32)
    weight = chance.normal(size=(64, 48)).astype(np.float32)
    constants = [onnx.numpy_helper.from_array(value, name) for name, value in (("table", table), ("weight", weight))]
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Gather", ["table", "ids"], ["rows"]),
            onnx.helper.make_node("MatMul", ["rows", "weight"], ["output"]),
        ],
        "tiny",
        [onnx.helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, [None])],
        [onnx.helper.make_tensor_value_info("output", onnx.TensorProto.FLOAT, [None, 48])],
        constants,
    )
    ids = np.arange(0, 1000, 7)

    def run(precision: Precision) -> tuple[np.ndarray, int]:
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=10)
        quantize(model, precision)
        content = model.SerializeToString()
        return onnxruntime.InferenceSession(content).run(None, {"ids": ids})[0], len(content)

    full, full_size = run("fp32")
    np.testing.assert_allclose(full, table[ids] @ weight, rtol=1e-4, atol=1e-4)
    for precision, least_cosine, most_size in (("fp16", 0.99999, 0.52), ("int8", 0.98, 0.25)):
        output, size = run(precision)  # type: ignore[arg-type]
        cosines = (output * full).sum(1) / np.linalg.norm(output, axis=1) / np.linalg.norm(full, axis=1)
        assert cosines.min() > least_cosine
        assert size < most_size * full_size
