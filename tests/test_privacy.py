"""The promises of privacy: whatever the umask, nobody else may read what memora writes."""

from __future__ import annotations

import lzma
import os
import stat
import subprocess
import sys
from pathlib import Path

from soundness import connect

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).resolve().parents[1]
WORLD = 0o077


def modes(folder):
    """Every file and folder below one, with its mode."""
    return {
        path.relative_to(folder).as_posix(): stat.S_IMODE(path.lstat().st_mode) for path in sorted(folder.rglob("*"))
    }


def open_shell(folder, log):
    """Run memora with umask 000 and all its files below the folder; an editor and a pager log the modes they see."""
    look = folder.parent / "look.sh"
    look.write_text(f'#!/bin/sh\nstat -c "%a %n" "$@" >> {log}\necho "# changed" >> "$1"\n')
    look.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MEMORA_")} | {
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "TMPDIR": str(folder / "tmp"),
        "VISUAL": str(look),
        "HOME": str(folder),
    }

    def run(*arguments, terminal=False):
        command = [sys.executable, "-m", "memora_cli", *map(str, arguments)]
        if terminal:
            command = [sys.executable, "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)", *command]
        ended = subprocess.run(
            command,
            capture_output=True,
            check=False,
            cwd=ROOT,
            env=environment,
            umask=0,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        assert ended.returncode == 0, ended
        return ended.stdout.decode()

    return run


def test_with_umask_000_every_folder_is_0700_and_every_file_0600(tmp_path, figure):
    folder, log = tmp_path / "user", tmp_path / "seen.log"
    folder.mkdir()
    (folder / "tmp").mkdir(mode=0o700)
    run = open_shell(folder, log)
    run("add", "a secret", "--no-embed")
    path = folder / "data" / "memora" / "memora.db"
    holder = connect(path)  # so that the log stays
    holder.execute("SELECT count(*) FROM notes").fetchone()
    run("add", "another secret")
    run("config", "set", "limit", "5")
    run("config", "set", "weights.graph", "0.5")
    run("config", "edit", terminal=True)
    run("edit", 1, "--no-embed", terminal=True)
    run("backup", folder / "copy.db")
    run("export", folder / "notes.jsonl")
    run("export", folder / "notes")
    holder.execute("DELETE FROM keywords_fts_docsize WHERE id = 2")
    run("doctor", "--repair")
    run("restore-backup", folder / "copy.db", "--yes")
    older = folder / "older" / "memora.db"
    older.parent.mkdir(mode=0o700)
    older.touch(mode=0o600)
    older.write_bytes(lzma.decompress((DATA / "schema-1.db.xz").read_bytes()))
    run("--db", older, "list")
    run("--db", folder / "new" / "deep" / "memora.db", "add", "one", "--no-embed")
    found = modes(folder)
    holder.close()
    assert {name: oct(mode) for name, mode in found.items() if mode & WORLD} == {}
    for name in (
        *(
            "data/memora/memora.db",
            "data/memora/memora.db-wal",
            "data/memora/memora.db-shm",
            "config/memora/config.toml",
        ),
        *("copy.db", "notes.jsonl", "older/memora.db.schema-1", "new/deep/memora.db"),
    ):
        assert found[name] == 0o600, name
    assert [name for name in found if "before-repair" in name]
    assert [name for name in found if "before-restore" in name]
    folders = [name for name in found if (folder / name).is_dir()]
    assert all(found[name] == 0o700 for name in folders)
    edited = log.read_text().splitlines()
    assert len(edited) == 2
    assert all(line.startswith("600 ") for line in edited)
    count = len(found) - len(folders)
    figure("privacy, umask 000", f"{len(folders)} folders 0700, {count} files and {len(edited)} edited ones 0600")


def test_doctor_reports_each_file_and_folder_that_others_may_use(memora, home):
    memora("add", "a secret", "--no-embed")
    memora("config", "set", "limit", 5)
    memora("backup", home / "memora.db.schema-1")
    home.chmod(0o755)
    for name in ("memora.db", "config.toml", "memora.db.schema-1"):
        (home / name).chmod(0o644)
        said = [one for one in memora("doctor", "--json").json["checks"] if one["name"] == "privacy"]
        assert [(one["state"], one["remedy"]) for one in said if one["state"] != "ok"] == [
            ("warning", f"chmod 600 {home / name}")
        ]
        assert "644" in said[0]["detail"]
        (home / name).chmod(0o600)


def test_a_folder_that_others_may_list_is_told_of(memora, home):
    memora("add", "a secret", "--no-embed")
    home.chmod(0o777)
    said = [one for one in memora("doctor", "--json").json["checks"] if one["name"] == "privacy"]
    assert [(one["state"], one["remedy"]) for one in said] == [("warning", f"chmod 700 {home}")]
