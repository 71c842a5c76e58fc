"""`python -m memora_cli.worker` is the worker: it loads what commands need, and then answers them."""

from __future__ import annotations

import contextlib
import os

from memora_cli import wire
from memora_cli.worker.server import Worker


def _is_alone(path: str) -> bool:
    """Whether no other worker lives or starts at this place; the lock is held until the process ends."""
    import fcntl

    handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _warm() -> float:
    """Load what commands need, and tell how many minutes to wait for one."""
    from memora_cli.cli.main import program
    from memora_cli.config import load, models_folder
    from memora_cli.errors import MemoraError
    from memora_cli.models import load_embedder, load_reranker
    from memora_cli.store import engines

    engines.keep()
    program()
    config = load()
    with contextlib.suppress(MemoraError):  # each command says itself what is wrong with its models
        load_embedder(config.embedder, (models_folder(),)).embed(["ready"])
    with contextlib.suppress(MemoraError):
        if config.settings.rerank:
            load_reranker(config.reranker, (models_folder(),)).score("ready", ["ready"])
    import memora_cli.cli.asking
    import memora_cli.memory
    import memora_cli.render.results
    import memora_cli.render.shapes  # noqa: F401  # loaded, not used

    return config.worker_idle


def main() -> None:
    """Be the worker of this installation, if there is none."""
    os.umask(0o077)
    path = wire.address()
    if path is None or not _is_alone(path):
        return
    Worker(path, _warm()).run()


if __name__ == "__main__":
    main()
