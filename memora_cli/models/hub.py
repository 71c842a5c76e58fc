"""Brings a model's files from the model hub: those that a model needs, each with the hash that the hub states."""

from __future__ import annotations

import hashlib
import io
import shutil
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from memora_cli.errors import ModelUnusable
from memora_cli.models.extra import Report, first_line, refuse, require_extra
from memora_cli.models.vetting import PICKLED, SAVE_AGAIN

WANTED = (".json", ".txt", ".model", ".safetensors")
OTHER_FORMS = frozenset({"onnx", "openvino", "coreml", "original", "gguf"})  # folders with the same weights once more
CARD = "README.md"
TIMEOUT = 10.0  # seconds
NAMES = "a folder, a .tar.gz, or a name such as BAAI/bge-small-en-v1.5"


@dataclass(frozen=True, slots=True)
class Download:
    """A model's folder as it came from the hub, and the commit that it is of."""

    path: Path
    revision: str


def download(name: str, revision: str | None, into: Path, report: Report) -> Download:
    """Download a model below `into`. Raises ModelUnusable: no network, unknown name, pickles, wrong hash, no room."""
    require_extra()
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RevisionNotFoundError
    from huggingface_hub.errors import RepositoryNotFoundError as UnknownName

    try:
        # This request is made once; those of a download are retried for half a minute when there is no network.
        model = HfApi().model_info(name, revision=revision, timeout=TIMEOUT, files_metadata=True)
        files = {file.rfilename: file for file in model.siblings or [] if _wanted(file.rfilename)}
        _require_safetensors(name, [file.rfilename for file in model.siblings or []])
        total = sum(file.size or 0 for file in files.values())
        if total > shutil.disk_usage(into).free:
            refuse(
                name, f"it has {total / 1e6:,.0f} MB and there is not as much room", f"make room below {into.parent}"
            )
        folder = Path(
            snapshot_download(
                name,
                revision=model.sha,
                local_dir=into,
                allow_patterns=list(files),
                tqdm_class=_reporting(report, total),
            )
        )
    except (ModelUnusable, MemoryError):
        raise
    except HFValidationError as error:
        refuse(name, "there is no such folder or file, and the model hub has no such names", f"give {NAMES}", error)
    except GatedRepoError as error:
        refuse(name, "the model hub gives it only to people who accepted its terms", "log in with hf auth login", error)
    except RevisionNotFoundError as error:
        refuse(name, f"the model hub has no revision {revision} of it", "leave --revision out for the newest", error)
    except UnknownName as error:
        refuse(name, "there is no such folder or file, and no such model on the hub", f"give {NAMES}", error)
    except OSError as error:
        if error.errno is not None and error.filename:  # of this machine's disk, not of the network
            raise
        _unreachable(name, error)
    except Exception as error:  # the hub's client has changed its HTTP library, and its errors with it, before
        _unreachable(name, error)
    for file in files.values():
        _require_hash(name, folder / file.rfilename, getattr(file.lfs, "sha256", None))
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    return Download(folder, str(model.sha))


def _wanted(file: str) -> bool:
    path = PurePosixPath(file)
    return path.parts[0] not in OTHER_FORMS and (path.name == CARD or path.suffix in WANTED)


def _require_safetensors(name: str, files: list[str]) -> None:
    """Refuse what only has pickled weights before a byte of them is downloaded."""
    if any(file.endswith(".safetensors") for file in files):
        return
    pickled = sorted(file for file in files if file.endswith(PICKLED))
    what = f"its weights are only in {pickled[0]}, which could run code" if pickled else "it has no weights"
    refuse(name, what, SAVE_AGAIN)


def _require_hash(name: str, path: Path, sha256: str | None) -> None:
    if sha256 is None:
        return
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            refuse(name, f"{path.name} came with another SHA-256 than the hub states", "import it again")


def _unreachable(name: str, error: BaseException) -> None:
    what = f"there is no such folder or file, and the model hub cannot be reached ({first_line(error)})"
    refuse(name, what, "go online, or give the folder or .tar.gz of a model", error)


def _reporting(report: Report, total: int) -> Any:
    """A class of progress bars that draw nothing and report the bytes that came."""
    from tqdm.auto import tqdm

    class Reporting(tqdm):  # type: ignore[type-arg,misc,unused-ignore]  # tqdm need not be installed
        def __init__(self, *positional: Any, **options: Any) -> None:
            options.pop("name", None)
            super().__init__(*positional, **{**options, "file": io.StringIO(), "disable": False})

        def update(self, n: float | None = 1) -> Any:
            drawn = super().update(n)
            if self.unit == "B":
                report("download", int(self.n), max(total, int(self.n)))
            return drawn

    return Reporting
