"""A model hub on this machine."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789" * 4


@contextmanager
def serve(models: Mapping[str, Mapping[str, bytes]], damaged: Collection[str] = ()) -> Iterator[str]:
    """The address of a hub that knows these models, each with its files; `damaged` ones come with another content."""

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            for name, files in models.items():
                siblings = [sibling(file, content) for file, content in files.items()]
                tree = [{"type": "file", "path": file, "size": len(files[file]), "oid": file} for file in files]
                pages = {"": {"id": name, "sha": COMMIT, "siblings": siblings}, f"/tree/{COMMIT}": tree}
                pages |= {"/revision/main": pages[""], f"/revision/{COMMIT}": pages[""]}
                if (page := path.removeprefix(f"/api/models/{name}")) != path and page in pages:
                    return self.answer(json.dumps(pages[page]).encode())
                for file, content in files.items():
                    if path == f"/{name}/resolve/{COMMIT}/{file}":
                        sent = content[::-1] if file in damaged else content
                        return self.answer(
                            sent, ETag=f'"{hashlib.sha256(content).hexdigest()}"', **{"X-Repo-Commit": COMMIT}
                        )
            known = any(path.startswith(f"/api/models/{name}/revision/") for name in models)
            return self.answer(b"{}", 404, **{"X-Error-Code": "RevisionNotFound" if known else "RepoNotFound"})

        do_HEAD = do_GET  # noqa: N815

        def answer(self, content: bytes, status: int = 200, **headers: str) -> None:
            self.send_response(status)
            for header, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(header, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def sibling(file: str, content: bytes) -> dict[str, object]:
    """What the hub says of a file: its size, and of weights their hash."""
    said: dict[str, object] = {"rfilename": file, "size": len(content)}
    if file.endswith(".safetensors"):
        said["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 1}
    return said
