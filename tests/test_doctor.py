"""The promises of doctor: each part has a line, and what is wrong is named with what mends it."""

from __future__ import annotations

import pytest

from memora_cli.memory.checking import CHECKS
from memora_cli.store.sqlite import driver


def found(outcome):
    """What each check says, by its name."""
    return {check["name"]: check for check in outcome.json["checks"]}


def change(path, *statements):
    connection = driver().connect(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.fixture
def busy(memora, home):
    """A memory in which all has been done that leaves rows behind."""
    home.chmod(0o700)
    memora("add", "Alice works at Google", "--topic", "people")
    memora("supersede", 1, "--with", "Alice works at Meta")
    memora("add", "Bob burst the pipe")
    memora("link", 3, "causes", 2)
    memora("edit", 3, "--title", "Plumbing")
    memora("add", "to be forgotten")
    memora("forget", 4)
    return home / "memora.db"


def test_a_sound_installation_is_ok_in_every_line_and_ends_with_0(memora, busy):
    outcome = memora("doctor")
    lines = [line.split("\t") for line in outcome.out.splitlines()]
    assert {line[0] for line in lines} == {"ok"}
    assert [line[1] for line in lines] == [
        *("python", "sqlite", "keyword index", "vector index", "settings", "embedder", "reranker"),
        *("database", "relations", "vectors", "privacy"),
    ]
    assert "schema" in outcome.out
    assert len(CHECKS) >= 3


def test_doctor_makes_no_database(memora, home):
    assert "not there yet" in found(memora("doctor", "--json"))["database"]["detail"]
    assert not (home / "memora.db").exists()


def test_notes_that_wait_and_loose_modes_are_warnings_with_what_mends_them(memora, busy):
    memora("add", "without vectors", "--no-embed")
    busy.chmod(0o644)
    checks = found(memora("doctor", "--json"))
    assert (checks["vectors"]["state"], checks["vectors"]["remedy"]) == ("warning", "memora reindex")
    assert (checks["privacy"]["state"], checks["privacy"]["remedy"]) == ("warning", f"chmod 600 {busy}")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM notes WHERE id = 3", "passages without a note"),
        ("DELETE FROM passages WHERE note_id = 3", "vectors without a passage"),
        ("UPDATE supersessions SET old_id = 99", "supersessions without their old note"),
        ("UPDATE links SET target_id = 99 WHERE relation = 'causes'", "links without their target"),
        ("UPDATE vectors SET dimension = 3 WHERE passage_id = 1", "vectors of several lengths"),
    ],
)
def test_rows_whose_other_half_is_missing_break_the_database(memora, busy, statement, said):
    change(busy, statement)
    outcome = memora("doctor", "--json", code=5)
    details = [check["detail"] for check in outcome.json["checks"] if check["name"] == "relations"]
    assert any(said in detail for detail in details)


def test_a_keyword_index_that_drifted_is_broken_and_reindex_mends_it(memora, busy):
    change(busy, "DROP TRIGGER keywords_update", "UPDATE keywords SET body = ' other words ' WHERE note_id = 2")
    check = found(memora("doctor", "--json", code=5))["database"]
    assert (check["state"], check["remedy"]) == ("broken", "memora reindex")
    memora("reindex")
    memora("doctor")


@pytest.mark.parametrize("what", ["garbled", "text", "newer"])
def test_a_file_that_is_damaged_or_no_memory_is_broken_and_stays_as_it_is(memora, busy, what):
    for beside in busy.parent.glob("memora.db-*"):
        beside.unlink()
    if what == "newer":
        change(busy, "PRAGMA user_version = 99")
    else:
        data = busy.read_bytes()
        half = len(data) // 2 // 4096 * 4096
        busy.write_bytes(b"text" * 999 if what == "text" else data[:half] + b"\xff" * 8192 + data[half + 8192 :])
    before = busy.read_bytes()
    check = found(memora("doctor", "--json", code=5))["database"]
    assert check["state"] == "broken"
    assert check["remedy"].startswith("pip" if what == "newer" else "memora restore-backup")
    assert busy.read_bytes() == before


def test_a_model_that_is_missing_is_broken_and_ends_with_6(memora, busy, monkeypatch):
    monkeypatch.setenv("MEMORA_EMBEDDER", "no-such-model")
    checks = found(memora("doctor", "--json", code=6))
    assert "no-such-model" in checks["embedder"]["detail"]
    assert checks["reranker"]["state"] == "ok"


def test_a_model_whose_files_were_changed_is_broken(memora, home, monkeypatch, tmp_path):
    import shutil

    from memora_cli import models

    shutil.copytree(models.BUNDLED, tmp_path / "models")
    model = tmp_path / "models" / "memora-reranker" / "model.onnx"
    data = bytearray(model.read_bytes())
    data[len(data) // 2] ^= 1
    model.write_bytes(data)
    monkeypatch.setattr(models, "BUNDLED", tmp_path / "models")
    checks = found(memora("doctor", "--json", code=6))
    assert "SHA-256" in checks["reranker"]["detail"]


def test_a_mistake_in_the_settings_is_broken_with_its_line_and_the_rest_is_checked(memora, busy, home):
    (home / "config.toml").write_text("limit = 5\nrerank = 7\n", encoding="utf-8")
    checks = found(memora("doctor", "--json", code=2))
    assert "config.toml:2: " in checks["settings"]["detail"]
    assert checks["database"]["state"] == "ok"


def test_without_the_vector_extension_doctor_warns(memora, busy, monkeypatch):
    from memora_cli.store import sqlite

    monkeypatch.setattr(sqlite, "vector_extension", lambda: None)
    assert found(memora("doctor", "--json", code=None))["vector index"]["state"] == "warning"
