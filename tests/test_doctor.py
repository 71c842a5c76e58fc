"""The promises of doctor: each part has a line, and what is wrong is named with what mends it."""

from __future__ import annotations

import os

import pytest
from conftest import NOW
from fakes import ask, contents, open_at
from postgres_server import places
from soundness import notes_hash, problems

from memora_cli.memory.checking import CHECKS
from memora_cli.store.sqlite import driver, load_extension
from memora_cli.values import Draft, Filters


def found(outcome):
    """What each check says, by its name."""
    return {check["name"]: check for check in outcome.json["checks"]}


def change(path, *statements):
    if places.server:
        with places.server.connect(os.environ["MEMORA_DB"].rpartition("/")[2]) as connection:
            for statement in statements:
                connection.execute(statement)
        return
    connection = driver().connect(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


READY: dict[str, bytes] = {}


@pytest.fixture
def busy(memora, home):
    """A memory in which all has been done that leaves rows behind; as a file it is made once and copied."""
    if places.server:
        make_busy(memora)
        return home / "memora.db"
    home.chmod(0o700)
    path = home / "memora.db"
    if not READY:
        make_busy(memora)
        change(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        READY["file"] = path.read_bytes()
    for file in home.glob("memora.db*"):
        file.unlink()
    path.touch(mode=0o600)
    path.write_bytes(READY["file"])
    return path


def make_busy(memora):
    memora("add", "Alice works at Google", "--topic", "people")
    memora("supersede", 1, "--with", "Alice works at Meta")
    memora("add", "Bob burst the pipe")
    memora("link", 3, "causes", 2)
    memora("edit", 3, "--title", "Plumbing")
    memora("add", "to be forgotten")
    memora("forget", 4)


@pytest.mark.sqlite
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


@pytest.mark.sqlite
def test_doctor_makes_no_database(memora, home):
    assert "not there yet" in found(memora("doctor", "--json"))["database"]["detail"]
    assert not (home / "memora.db").exists()


@pytest.mark.sqlite
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
        ("UPDATE vectors SET dimension = 3 WHERE passage_id = 1", "vectors of a wrong length"),
    ],
)
def test_rows_whose_other_half_is_missing_break_the_database(memora, busy, statement, said):
    change(busy, statement)
    outcome = memora("doctor", "--json", code=5)
    details = [check["detail"] for check in outcome.json["checks"] if check["name"] == "relations"]
    assert any(said in detail for detail in details)


@pytest.mark.sqlite
def test_a_keyword_index_that_drifted_is_broken_and_reindex_mends_it(memora, busy):
    change(busy, "DROP TRIGGER keywords_update", "UPDATE keywords SET body = ' other words ' WHERE note_id = 2")
    check = found(memora("doctor", "--json", code=5))["database"]
    assert (check["state"], check["remedy"][:22]) == ("broken", "memora doctor --repair")
    memora("reindex")
    memora("doctor")


@pytest.mark.sqlite
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
    assert "pip" if what == "newer" else "memora restore-backup" in check["remedy"]
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


@pytest.mark.sqlite
def test_without_the_vector_extension_doctor_warns(memora, busy, monkeypatch):
    from memora_cli.store import sqlite

    monkeypatch.setattr(sqlite, "vector_extension", lambda: None)
    assert found(memora("doctor", "--json", code=None))["vector index"]["state"] == "warning"


# Repairs


def flip_in(path, name):
    """Flip bytes in the middle of the first page of a table or index."""
    change(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    connection = driver().connect(str(path))
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    data = bytearray(path.read_bytes())
    start = (page - 1) * size
    data[start] ^= 0x55  # its kind
    data[start + size - 40] ^= 0x55
    path.write_bytes(data)


def flip_word(path):
    """Flip a byte of a word in the keyword index, as a disk would."""
    connection = driver().connect(str(path))
    rows = connection.execute("SELECT id, block FROM keywords_fts_data").fetchall()
    number, block = next((number, block) for number, block in rows if b"googl" in block)
    connection.execute(
        "UPDATE keywords_fts_data SET block = ? WHERE id = ?", (block.replace(b"googl", b"goofl"), number)
    )
    connection.commit()
    connection.close()


def vector_rows(path, statement):
    """Run a statement on the vector index, whose name it has as {index}."""
    connection = driver().connect(str(path))
    load_extension(connection)
    (name,) = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%USING vec0%'").fetchone()
    connection.execute(statement.format(index=name))
    connection.commit()
    connection.close()


DAMAGES = {
    "row deleted behind the keyword index": ["DROP TRIGGER keywords_delete", "DELETE FROM keywords WHERE note_id = 2"],
    "keyword index without a row": ["DELETE FROM keywords_fts_docsize WHERE id = 2"],
    "keyword index drifted": ["DROP TRIGGER keywords_update", "UPDATE keywords SET body = ' else ' WHERE note_id = 2"],
    "keyword index with a flipped byte": flip_word,
    "no keyword index": ["DROP TABLE keywords_fts"],
    "missing vector": ["DELETE FROM vectors WHERE passage_id = 1"],
    "vector of a wrong dimension": ["UPDATE vectors SET dimension = 3, vector = x'0000' WHERE passage_id = 1"],
    "vector of no unit length": ["UPDATE vectors SET vector = zeroblob(length(vector)) WHERE passage_id = 1"],
    "vector that is no number": [
        "UPDATE vectors SET vector = CAST(zeroblob(length(vector) - 4) || x'0000c07f' AS BLOB) WHERE passage_id = 1"
    ],
    "vector index without a row": lambda path: vector_rows(path, "DELETE FROM {index} WHERE passage_id = 1"),
    "vector index with another vector": lambda path: vector_rows(
        path, "UPDATE {index} SET embedding = (SELECT vector FROM vectors WHERE passage_id = 2) WHERE passage_id = 1"
    ),
    "orphan passage": [
        "INSERT INTO passages VALUES ('default', 999, 999, 0, 4)",
        "INSERT INTO vectors SELECT space, 999, model, dimension, vector FROM vectors WHERE passage_id = 1",
    ],
    "missing passage": ["DELETE FROM passages WHERE note_id = 3"],
    "dangling supersession": ["INSERT INTO supersessions VALUES ('default', 2, 999, '2024-01-01 00:00:00.000000')"],
    "dangling link": ["INSERT INTO links VALUES ('default', 2, 999, 'causes', 1.0, 'person')"],
    "flipped byte in an index": lambda path: flip_in(path, "notes_alive"),
    "flipped byte in an automatic index": lambda path: flip_in(path, "sqlite_autoindex_notes_1"),
    "flipped byte in the words": lambda path: flip_in(path, "keywords"),
    "flipped byte in the passages": lambda path: flip_in(path, "passages"),
    "flipped byte in the vectors": lambda path: flip_in(path, "vectors"),
}


@pytest.mark.sqlite
@pytest.mark.parametrize("what", DAMAGES)
def test_doctor_detects_a_damage_and_repair_heals_it_from_the_notes(memora, busy, what, figure):
    before = notes_hash(busy)
    listed, found_before = memora("list", "--json").out, memora("search", "Google", "--json", "--at", "2025-01-01").json
    damage = DAMAGES[what]
    if isinstance(damage, list):
        change(busy, *damage)
    else:
        damage(busy)
    broken = memora("doctor", "--json", code=None)
    assert any(check["state"] != "ok" for check in broken.json["checks"] if check["name"] != "privacy")
    healed = memora("doctor", "--repair", "--json")
    assert {check["state"] for check in healed.json["checks"]} == {"ok"}
    assert problems(busy, embedded=False) == []  # what is in the trash gets its vectors when it is restored
    assert notes_hash(busy) == before
    assert memora("list", "--json").out == listed
    assert memora("search", "Google", "--json", "--at", "2025-01-01").json["results"] == found_before["results"]
    (kept,) = busy.parent.glob("memora.db.before-repair-*[0-9]")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert f"as it was is {kept}" in found(healed)["repair"]["detail"]
    assert memora("add", "goes on").out == "5\n"
    figure("doctor detects and --repair heals, notes unchanged", what)


@pytest.mark.sqlite
def test_repair_of_a_sound_memory_changes_nothing(memora, busy):
    before = contents(busy)
    assert found(memora("doctor", "--repair", "--json"))["repair"]["detail"] == "there is nothing to repair"
    assert contents(busy) == before
    assert list(busy.parent.glob("*before-repair*")) == []


@pytest.mark.sqlite
@pytest.mark.parametrize("table", ["notes", "topics", "supersessions"])
def test_what_notes_say_is_never_guessed_and_repair_refuses_what_it_cannot_read(memora, busy, table):
    flip_in(busy, table)
    before = busy.read_bytes()
    outcome = memora("doctor", "--repair", code=5)
    assert "restore-backup" in outcome.err
    assert busy.read_bytes() == before
    assert [path.name for path in busy.parent.iterdir() if "repair" in path.name or path.name.endswith(".part")] == []


@pytest.mark.sqlite
def test_a_program_that_has_the_database_open_sees_the_repaired_one_and_loses_nothing(memora, busy):
    change(busy, "DELETE FROM vectors WHERE passage_id = 1")
    with open_at(busy) as memory:
        memory.notes(Filters())
        memora("doctor", "--repair")
        number = memory.add(Draft("written after the repair"), NOW).id
        assert [hit for hit in ask(memory, "written after", NOW).results if hit.note.id == number]
    assert problems(busy, embedded=False) == []
