"""The promises of a shared memory on PostgreSQL: one order of writers, clear refusals, and the same notes."""

from __future__ import annotations

import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy
import psycopg
import pytest
from conftest import NOW
from fakes import ask, found, open_at, with_fakes
from statements import unbound

from memora_cli.cli.opening import open_note
from memora_cli.config import masked
from memora_cli.errors import ChangedMeanwhile, DatabaseBusy, DatabaseDamaged, MemoraError, SupersessionRefused
from memora_cli.store import notes, postgres, postgres_vectors, schema
from memora_cli.values import Draft, Filters

pytestmark = pytest.mark.postgres


@pytest.fixture
def fresh(server):
    """The name of a new database with pgvector, gone after the test."""
    name = server.create()
    yield name
    server.drop(name)


@pytest.fixture
def bare(server):
    """The name of a new database without pgvector."""
    name = server.create(vector=False)
    yield name
    server.drop(name)


@contextmanager
def role(server, name, grants=()):
    """A role that may log in, with a password, and what it was granted in a database."""
    user = f"role_{name}_{time.monotonic_ns()}"
    with server.connect() as connection:
        connection.execute(f"CREATE ROLE {user} LOGIN PASSWORD 'secret-of-role'")
    try:
        with server.connect(name) as connection:
            for grant in grants:
                connection.execute(grant.replace("ROLE", user))
        yield server.address(name, user, "secret-of-role")
    finally:
        with server.connect(name) as connection:
            connection.execute(f"REASSIGN OWNED BY {user} TO CURRENT_USER; DROP OWNED BY {user}; DROP ROLE {user}")


USING = (
    "GRANT USAGE ON SCHEMA public TO ROLE",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ROLE",
)
READING = ("GRANT USAGE ON SCHEMA public TO ROLE", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO ROLE")
OWNING = ("GRANT CREATE, USAGE ON SCHEMA public TO ROLE",)


def texts(memory):
    return [note.body for note in memory.notes(Filters(memory.space))]


def one_line(outcome, code, *words):
    """The command ended with that code, and said why on one line that holds the words and no password."""
    lines = outcome.err.strip().splitlines()
    assert (outcome.code, len(lines)) == (code, 1), outcome.err
    assert "secret" not in outcome.err
    for word in words:
        assert word in lines[0]


# What cannot be reached or used


def test_a_wrong_password_is_one_line_that_does_not_hold_it(server, fresh, memora):
    address = server.address(fresh, "postgres", "secret-guess")
    one_line(memora("--db", address, "list", code=None), 4, "password authentication failed", "postgres:***@")


def test_an_unreachable_host_is_one_line(memora):
    address = "postgresql+psycopg://me:secret@127.0.0.1:1/notes"
    one_line(memora("--db", address, "list", code=None), 4, "cannot be reached", "refused")


def test_a_database_that_is_not_there_is_one_line(server, memora):
    one_line(memora("--db", server.address("nothing_here"), "list", code=None), 4, "nothing_here", "does not exist")


@pytest.mark.parametrize("address", ["postgresql+psycopg://me:secret@host:port/x", "postgresql://me:secret@[x:y"])
def test_an_address_that_cannot_be_read_is_a_usage_error_without_its_password(memora, address):
    outcome = memora("--db", address, "list", code=None)
    assert outcome.code in (2, 4)
    assert "secret" not in outcome.err
    assert "cret" not in outcome.err
    assert "Traceback" not in outcome.err


def test_without_pgvector_search_compares_every_vector_and_says_so_on_one_line(server, bare, memora):
    with role(server, bare, OWNING) as address:  # an owner who may not create extensions
        memora("--db", address, "add", "the boiler was serviced in May")
        outcome = memora("--db", address, "search", "when was the heating looked after?")
        one_line(outcome, 0, "no pgvector", "CREATE EXTENSION vector")
        assert "boiler" in outcome.out


def test_pgvector_that_came_later_is_used_after_reindex(server, bare, memora):
    with role(server, bare, OWNING) as address:
        memora("--db", address, "add", "the boiler was serviced in May")
        with server.connect(bare) as connection:
            connection.execute("CREATE EXTENSION vector")
        assert "memora reindex" in memora("--db", address, "search", "boiler").err
        memora("--db", address, "reindex")
        outcome = memora("--db", address, "search", "boiler", "--json")
        assert (outcome.json["backend"]["vectors"], outcome.err) == ("pgvector", "")


def test_an_old_pgvector_is_not_asked_and_said_on_one_line(server, fresh, memora):
    address = server.address(fresh)
    memora("--db", address, "add", "the boiler was serviced in May")
    with server.connect(fresh) as connection:
        connection.execute("UPDATE pg_extension SET extversion = '0.8.2' WHERE extname = 'vector'")
    outcome = memora("--db", address, "search", "heating boiler")
    one_line(outcome, 0, "pgvector 0.8.2 is older than 0.8.4", "ALTER EXTENSION vector UPDATE")
    assert "boiler" in outcome.out


def test_a_read_only_server_is_searched_and_refuses_changes_on_one_line(server, fresh, memora):
    address = server.address(fresh)
    memora("--db", address, "add", "the boiler was serviced in May")
    with server.connect() as connection:
        connection.execute(f"ALTER DATABASE {fresh} SET default_transaction_read_only = on")
    assert "boiler" in memora("--db", address, "search", "boiler").out
    one_line(memora("--db", address, "add", "another", code=None), 4, "read-only")


def test_a_role_that_may_read_searches_and_one_that_may_use_needs_to_own_nothing(server, fresh, memora):
    memora("--db", server.address(fresh), "add", "the boiler was serviced in May")
    with role(server, fresh, READING) as address:
        assert "boiler" in memora("--db", address, "search", "boiler").out
        one_line(memora("--db", address, "add", "another", code=None), 4, "may not do this", "permission denied")
    with role(server, fresh, USING) as address:
        memora("--db", address, "add", "another")
        memora("--db", address, "edit", "2", "--body", "another text")
        memora("--db", address, "reindex")
        memora("--db", address, "purge", "2", "--yes")
        outcome = memora("--db", address, "search", "boiler", "--json").json
        assert (outcome["backend"]["keyword"], outcome["backend"]["vectors"]) == ("tsvector", "pgvector")


def test_a_role_that_may_not_make_tables_is_told_who_does(server, fresh, memora):
    with role(server, fresh) as address:
        one_line(memora("--db", address, "list", code=None), 4, "has no tables of memora's", "its owner opens it once")


# Whose database it is


def test_tables_of_another_program_are_left_as_they_are(server, fresh):
    with server.connect(fresh) as connection:
        connection.execute("CREATE TABLE notes (mine text); INSERT INTO notes VALUES ('kept')")
        with pytest.raises(DatabaseDamaged, match="another program"):
            open_at(server.address(fresh))
        assert connection.execute("SELECT * FROM notes").fetchall() == [("kept",)]


def test_a_newer_schema_is_refused_untouched(server, fresh):
    open_at(server.address(fresh)).close()
    with server.connect(fresh) as connection:
        connection.execute("UPDATE counters SET value = 99 WHERE name = 'schema version'")
        with pytest.raises(DatabaseDamaged, match="upgrade memora-cli"):
            open_at(server.address(fresh))


TO_SCHEMA_1 = """
    ALTER TABLE notes DROP COLUMN number, DROP COLUMN file_hash, DROP COLUMN since;
    ALTER TABLE mentions DROP COLUMN said; ALTER TABLE links DROP COLUMN origin;
    DROP TABLE past_supersessions, aliases, changes;
    DELETE FROM counters WHERE name IN ('change', 'batch'); DROP INDEX IF EXISTS notes_deleted;
    UPDATE counters SET value = 1 WHERE name = 'schema version'"""


def columns(server, name):
    with server.connect(name) as connection:
        rows = connection.execute(
            "SELECT table_name, column_name, data_type, collation_name, is_nullable FROM information_schema.columns "
            "WHERE table_schema = 'public' ORDER BY 1, 2"
        ).fetchall()
        indexes = connection.execute("SELECT indexname FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1")
        return rows, indexes.fetchall()


def test_an_older_schema_is_brought_up_to_date_by_the_steps_of_sqlite(server, fresh):
    with open_at(server.address(fresh)) as memory:
        with_fakes(memory)
        memory.add(Draft("Tea is at four", title="Tea"), NOW)
    wanted = columns(server, fresh)
    with server.connect(fresh) as connection:
        connection.execute(TO_SCHEMA_1)
    with open_at(server.address(fresh)) as memory:
        with_fakes(memory)
        assert [note.title for note in memory.notes(Filters(memory.space))] == ["Tea"]
        assert [change.action for change in memory.history(1).changes] == ["add"]
    assert columns(server, fresh) == wanted


def test_two_programs_that_open_a_new_database_at_once_both_find_it_made(server, fresh):
    with ThreadPoolExecutor(4) as pool:
        for memory in pool.map(open_at, [server.address(fresh)] * 4):
            memory.close()


# Passwords


def test_no_password_is_printed(server, fresh, memora, monkeypatch):
    address = server.address(fresh) + "?sslmode=prefer&sslpassword=secret-of-key"
    password = server.address(fresh).split(":")[2].split("@")[0]
    monkeypatch.setenv("MEMORA_DB", address)
    memora("add", "a note")
    for command in (
        *(
            ["config"],
            ["config", "get", "db"],
            ["config", "list", "--json"],
            ["stats"],
            ["stats", "--json"],
            ["doctor"],
        ),
        *(["search", "note", "--explain"], ["explain", "note", "1"], ["backup", "x.db"], ["restore-backup", "x.db"]),
    ):
        outcome = memora(*command, code=None)
        said = outcome.out + outcome.err
        assert password not in said, command
        assert "secret" not in said, command
        assert "Traceback" not in said, command


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:pa:s@s@host/x", "postgresql://me:***@host/x"),
        (
            "postgresql://me@host/x?password=hidden&sslmode=require",
            "postgresql://me@host/x?password=***&sslmode=require",
        ),
        ("postgresql://host/x", "postgresql://host/x"),
        ("/srv/a:b@c.db", "/srv/a:b@c.db"),
    ],
)
def test_an_address_is_shown_without_its_password(address, shown):
    assert masked(address) == shown


def test_a_password_comes_from_the_file_that_libpq_reads(server, fresh, memora, tmp_path, monkeypatch):
    user, password, host, port = re.match(r".*://(.*):(.*)@(.*):(\d+)", server.url).groups()
    secret = tmp_path / "pgpass"
    secret.write_text(f"{host}:{port}:*:{user}:{password}\n")
    secret.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(secret))
    memora("--db", f"postgresql://{user}@{host}:{port}/{fresh}", "add", "a note")
    services = tmp_path / "services"
    services.write_text(f"[notes]\nhost={host}\nport={port}\nuser={user}\ndbname={fresh}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert "a note" in memora("--db", "postgresql+psycopg:///?service=notes", "list").out


def test_backup_names_what_copies_a_server_instead(server, fresh, memora):
    for command in ("backup", "restore-backup"):
        one_line(memora("--db", server.address(fresh), command, "x.db", code=None), 2, "pg_dump", "memora export")


# Several people


@pytest.fixture
def two(server, fresh):
    """The same memory, open twice."""
    with open_at(server.address(fresh)) as one, open_at(server.address(fresh)) as other:
        yield with_fakes(one) or one, with_fakes(other) or other


def at_once(*calls):
    """Run the calls at once; what each returned or raised."""
    gate = threading.Barrier(len(calls))

    def run(call):
        gate.wait()
        try:
            return call()
        except MemoraError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_the_same_text_added_by_two_at_once_is_one_note(two):
    one, other = two
    for turn in range(10):
        draft = Draft(f"the same text {turn}")
        added = at_once(*(partial(memory.add, draft, NOW) for memory in (one, other)))
        assert sorted(result.created for result in added) == [False, True]
        assert len({result.id for result in added}) == 1


def test_two_edits_of_a_note_at_once_come_one_after_another_and_both_are_kept(two):
    one, other = two
    named = ((one, "a"), (other, "b"))

    def longer(word):
        return lambda draft: replace(draft, body=f"{draft.body} {word}")

    one.add(Draft("zero"), NOW)
    for turn in range(5):
        edits = at_once(*(partial(memory.edit, 1, longer(f"{name}{turn}"), NOW) for memory, name in named))
        assert [edit.changed for edit in edits] == [True, True]
    body = one.view([1])[0].note.body.split()
    assert sorted(body[1:]) == sorted(f"{name}{turn}" for turn in range(5) for name in "ab")
    assert sum(change.action == "edit" for change in other.history(1).changes) == 10


def test_two_who_supersede_in_a_circle_at_once_leave_one_supersession_and_a_clear_refusal(two):
    one, other = two
    one.add(Draft("first"), NOW)
    one.add(Draft("second"), NOW)
    results = at_once(lambda: one.supersede(1, 2, NOW), lambda: other.supersede(2, 1, NOW))
    refused = [result for result in results if result is not None]
    assert len(refused) == 1
    assert isinstance(refused[0], SupersessionRefused)


def test_who_writes_over_a_text_that_changed_meanwhile_is_told_and_both_texts_are_kept(two, monkeypatch, capsys):
    one, other = two
    one.add(Draft("the text of both"), NOW)

    @contextmanager
    def written(_text):
        other.edit(1, lambda draft: replace(draft, body="what the other made of it"), NOW)
        yield "what I made of it"

    monkeypatch.setattr("memora_cli.cli.editor.at_terminal", lambda: True)
    monkeypatch.setattr("memora_cli.cli.editor.written", written)
    with pytest.raises(ChangedMeanwhile, match="changed by somebody else"):
        open_note(one, 1, NOW)
    assert one.view([1])[0].note.body == "what the other made of it"


def test_a_reader_sees_one_moment_while_others_write(two):
    one, other = two
    one.add(Draft("the first note"), NOW)
    with one.database.read() as connection:
        before = connection.exec_driver_sql("SELECT count(*) FROM notes WHERE space = 'default'").scalar()
        other.add_all([Draft(f"note {n}") for n in range(5)], NOW)
        assert connection.exec_driver_sql("SELECT count(*) FROM notes WHERE space = 'default'").scalar() == before
    assert len(texts(one)) == 6


def test_a_writer_who_waits_too_long_is_told(two, monkeypatch):
    one, other = two
    monkeypatch.setattr(postgres, "WRITING", postgres.WRITING.replace("30s", "50ms"))
    with one.database.write(), pytest.raises(DatabaseBusy, match="busy"):
        other.add(Draft("too late"), NOW)


def test_a_connection_lost_in_mid_write_leaves_no_half_note_and_ends_with_4(server, fresh, two):
    one, other = two
    other.add(Draft("what was there"), NOW)
    before = texts(other)

    def cut_off():
        with one.database.write() as connection:
            notes.next_ids(connection, "note", 1)
            with server.connect() as killer:
                killer.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = %s AND state = 'idle in transaction'",
                    (fresh,),
                )
            notes.next_ids(connection, "passage", 1)

    with pytest.raises(DatabaseBusy, match="connection was lost") as lost:
        cut_off()
    assert lost.value.exit_code == 4
    assert texts(other) == before
    assert one.add(Draft("the next one"), NOW).id == 2  # over a new connection, and no id was lost


# The indexes


def test_words_are_quoted_whatever_they_hold(two):
    memory = two[0]
    memory.add(Draft("it's a c++ \\ path & more | less ! <-> :* 'quoted' real-time 1e5 日本語 naïve"), NOW)
    for query in (
        "it's",
        "c++",
        "\\",
        "a & b",
        "| less",
        "! more",
        "<->",
        "more:*",
        "'quoted'",
        "real-time",
        "日本",
        "1e5",
    ):
        try:
            trace = ask(memory, query, NOW)
        except MemoraError:
            continue  # no word in it
        assert not [one for ranked in trace.lists for one in ranked.degraded], query


def test_a_note_of_the_largest_size_and_only_different_words_is_stored_and_found(two):
    memory = two[0]
    body = " ".join(f"{n:x}z" for n in range(0x10000, 0x10000 + 142_000))
    memory.add(Draft(body), NOW, embed=False)
    assert found(ask(memory, "10001z", NOW)) == [1]


def test_words_are_searched_with_like_without_their_index_until_the_owner_makes_it_anew(server, fresh, two):
    memory = two[0]
    memory.add(Draft("the boiler was serviced"), NOW)
    with server.connect(fresh) as connection:
        connection.execute("DROP INDEX keywords_document")
    trace = ask(memory, "boiler", NOW)
    assert trace.backend.keyword == "like"
    assert any("keyword index is missing" in one.reason for ranked in trace.lists for one in ranked.degraded)
    list(memory.reindex())
    assert ask(memory, "boiler", NOW).backend.keyword == "tsvector"


def drop_hnsw(server, name):
    with server.connect(name) as connection:
        for (index,) in connection.execute("SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%hnsw%'").fetchall():
            connection.execute(f"DROP INDEX {index}")


def test_a_missing_vector_index_is_named_and_made_anew(server, fresh, two):
    memory = two[0]
    memory.add(Draft("the boiler was serviced"), NOW)
    assert ask(memory, "boiler", NOW).backend.vectors == "pgvector"
    drop_hnsw(server, fresh)
    trace = ask(memory, "boiler", NOW)
    assert found(trace) == [1]
    assert any("no HNSW index" in one.reason for ranked in trace.lists for one in ranked.degraded)
    list(memory.reindex())
    assert not [one for ranked in ask(memory, "boiler", NOW).lists for one in ranked.degraded]


def test_the_vector_index_answers_when_many_passages_come_into_question(two, monkeypatch, every_statement):
    memory = two[0]
    memory.add_all([Draft(f"note {n} on {what}") for n, what in enumerate(["tea", "rain", "keys", "bikes"] * 30)], NOW)
    exact = found(ask(memory, "tea", NOW))
    monkeypatch.setattr(postgres_vectors, "EXACT_BELOW", 10)
    memory.forget([2], NOW)  # from now on a filter applies
    every_statement.clear()
    near = found(ask(memory, "tea", NOW))
    assert any("AS VECTOR(256)" in statement for statement in every_statement)
    assert len(set(near) & set(exact)) >= 0.9 * len(exact)


def test_a_gap_in_the_index_is_seen_by_a_connection_that_knew_the_index(server, fresh, two, monkeypatch):
    monkeypatch.setattr(postgres_vectors, "EXACT_BELOW", 10)
    monkeypatch.setattr(postgres_vectors, "MANY", 10)
    one, _ = two
    one.add_all([Draft(f"note {n} of a boat") for n in range(40)], NOW)
    with server.connect(fresh) as connection:
        connection.execute("ANALYZE")
    asked = {"semantic_floor": -1.0, "strategy_limit": 20}
    first = ask(one, "a boat", NOW, **asked)
    again = ask(one, "a boat", NOW, **asked)  # in one statement
    assert found(first) == found(again)
    assert len(again.lists[0].hits) == 20
    with server.connect(fresh) as connection:
        name = f"unindexed {one.embedder.id}"
        connection.execute("INSERT INTO counters (space, name, value) VALUES ('default', %s, 1)", (name,))
    marked = ask(one, "a boat", NOW, **asked)
    assert "not in the index" in marked.degraded[0].reason
    assert len(marked.lists[0].hits) == 20


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM embeddings WHERE passage_id = 1",
        "UPDATE embeddings AS one SET embedding = other.embedding FROM embeddings AS other "
        "WHERE one.passage_id = 1 AND other.passage_id = 2",
        "INSERT INTO embeddings SELECT space, 99, model, 99, embedding FROM embeddings WHERE passage_id = 1",
    ],
)
def test_an_index_that_differs_from_the_vectors_is_named_and_made_anew(server, fresh, memora, damage):
    address = server.address(fresh)
    for text in ("the boiler was serviced", "a boat on a lake"):
        memora("--db", address, "add", text)
    memora("--db", address, "doctor", code=None)
    with server.connect(fresh) as connection:
        connection.execute(damage)
    checks = memora("--db", address, "doctor", "--json", code=5).json["checks"]
    (broken,) = [check for check in checks if check["state"] == "broken"]
    assert "differs from 1 of its vectors" in broken["detail"]
    assert broken["remedy"] == "memora reindex"
    memora("--db", address, "reindex")
    states = {check["state"] for check in memora("--db", address, "doctor", "--json", code=None).json["checks"]}
    assert "broken" not in states


def test_a_space_never_shows_what_another_holds(server, fresh):
    from memora_cli.config import load
    from memora_cli.memory import Memory

    def space(name):
        memory = Memory(load({"db": server.address(fresh), "space": name}))
        with_fakes(memory)
        return memory

    with space("work") as work, space("home") as home:
        work.add(Draft("the boiler at work"), NOW)
        home.add(Draft("the boiler at home"), NOW)
        assert texts(work) == ["the boiler at work"]
        assert found(ask(work, "boiler", NOW)) == [1]
        assert found(ask(home, "boiler", NOW)) == [2]


# Between databases


def test_a_memory_moves_to_a_server_and_back_the_same(server, fresh, memora, home):
    memora("add", "Alice works at Google because [[Rain]]", "--title", "Job", "--topic", "people", "--entity", "Al")
    memora("add", "It rained", "--title", "Rain", "--space", "weather")
    memora("add", "Alice works at the bakery", "--supersedes", "1")
    memora("pin", "3")
    memora("edit", "3", "--title", "New job")
    there, again = server.address(fresh), str(home / "again.db")
    lines = memora("export", "-", "--all-spaces").out
    memora("--db", there, "import", "-", stdin=lines)
    assert memora("--db", there, "export", "-", "--all-spaces").out == lines
    memora("--db", again, "import", "-", stdin=memora("--db", there, "export", "-", "--all-spaces").out)
    assert memora("--db", again, "export", "-", "--all-spaces").out == lines


def test_purge_on_a_server_says_what_it_cannot_reach(server, fresh, memora):
    address = server.address(fresh)
    memora("--db", address, "add", "a secret note")
    assert "backups" in memora("--db", address, "purge", "1", "--yes").err
    assert memora("--db", address, "list").out == ""
    with server.connect(fresh) as connection:
        tables = [*schema.metadata.tables, "embeddings"]
        assert not [
            name for name in tables if "secret note" in str(connection.execute(f"SELECT * FROM {name}").fetchall())
        ]


def test_doctor_tells_what_the_server_is_and_what_it_lacks(server, fresh, memora):
    address = server.address(fresh)
    memora("--db", address, "add", "a note")
    checks = {
        one["name"]: one for one in json.loads(memora("--db", address, "doctor", "--json", code=None).out)["checks"]
    }
    assert (checks["server"]["state"], checks["index"]["state"], checks["database"]["state"]) == ("ok", "ok", "ok")
    assert "PostgreSQL" in checks["server"]["detail"]
    drop_hnsw(server, fresh)
    checks = {
        one["name"]: one for one in json.loads(memora("--db", address, "doctor", "--json", code=None).out)["checks"]
    }
    assert (checks["index"]["state"], checks["index"]["remedy"]) == ("warning", "memora reindex")


# Ready to be distributed


def test_space_leads_every_primary_key_and_unique_constraint(server, fresh):
    open_at(server.address(fresh)).close()
    with server.connect(fresh) as connection:
        rows = connection.execute(
            "SELECT indexrelid::regclass::text, a.attname FROM pg_index i "
            "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] "
            "JOIN pg_class c ON c.oid = i.indrelid WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace"
        ).fetchall()
    assert len(rows) >= len(schema.metadata.tables)
    assert {first for _, first in rows} == {"space"}


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        ("SELECT notes.space, notes.id FROM notes WHERE notes.id = 1", ["notes"]),
        ("SELECT notes.id FROM notes WHERE notes.space = 'a' AND notes.id = 1", []),
        ("SELECT notes.id FROM notes JOIN topics ON topics.note_id = notes.id WHERE notes.space = 'a'", ["topics"]),
        ("SELECT n.id FROM notes AS n WHERE n.id IN (SELECT note_id FROM topics WHERE topics.space = 'a')", ["n"]),
        ("DELETE FROM links WHERE links.source_id = 1", ["links"]),
        ("UPDATE notes SET pinned=true WHERE notes.space = 'a'", []),
        ("INSERT INTO topics (note_id) VALUES (1)", ["topics"]),
        ("INSERT INTO topics (space, note_id) VALUES ('a', 1)", []),
    ],
)
def test_the_inspection_sees_a_table_that_no_space_binds(statement, tables):
    assert unbound(statement) == tables


def test_a_bare_driver_error_that_memora_does_not_know_stays_a_traceback(two):
    with pytest.raises(Exception, match="division by zero") as raised, two[0].database.read() as connection:
        connection.exec_driver_sql("SELECT 1 / 0")
    assert isinstance(raised.value.orig, psycopg.Error)


def test_vectors_are_the_same_on_the_server(two):
    memory = two[0]
    memory.add(Draft("one two three"), NOW)
    with memory.database.read() as connection:
        row = connection.exec_driver_sql(
            "SELECT vector, embedding::text FROM vectors JOIN embeddings USING (space, passage_id, model) "
            "WHERE vectors.space = 'default'"
        ).one()
    assert numpy.allclose(numpy.frombuffer(row[0], "<f4"), json.loads(row[1]))
