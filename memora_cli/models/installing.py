"""The models of a user: brings new ones in whole or not at all, lists them, verifies them, takes them away."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from memora_cli.errors import ModelUnusable, Usage
from memora_cli.models import BUNDLED, find_model, load_embedder, load_reranker
from memora_cli.models.archive import is_archive, unpack
from memora_cli.models.description import Asked, Description
from memora_cli.models.export import export
from memora_cli.models.extra import Report, refuse, silent
from memora_cli.models.folder import CONFIG, MODEL, TOKENIZER, ModelFolder, Precision, read_folder, stamp, verify
from memora_cli.models.hub import CARD, download
from memora_cli.models.vetting import Vetted, vet

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)
ARCHIVE_END = re.compile(r"\.(tar\.gz|tgz)$", re.IGNORECASE)
WORK = ".import-"
ROOM = 4  # times the weights: traced, fused and quantised they lie side by side for a while


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be imported, and how.

    `what` is a folder, a .tar.gz of one, or a name on the model hub; `name` is what it is to be called here. `sha256`
    is what the archive, or the weights of a folder or hub model, must have. Without a `precision` the smallest is kept
    that agrees with the original. `replace` lets it take the place of an installed model.
    """

    what: str
    name: str | None = None
    revision: str | None = None
    sha256: str | None = None
    precision: Precision | None = None
    asked: Asked = field(default_factory=Asked)
    replace: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model comes from: its folder here, its name, the revision of a hub model, and what it was called."""

    path: Path
    name: str
    revision: str
    origin: str


def import_model(
    wish: Wish,
    models: Path,
    show: Callable[[ModelFolder], None],
    report: Report = silent,
    remark: Callable[[str], None] = lambda _: None,
) -> ModelFolder:
    """Install a model below `models`; `show` is given the finished one, with its agreement, before it is put there.

    A folder that memora exported is taken as it is once its hashes are right; any other is exported to ONNX first.
    All work is done in a folder beside, and one rename ends it. Raises ModelUnusable, and Usage for a bad name.
    """
    with _room_errors(models), _workplace(models) as work:
        target = _free_place(_name(wish), models, replace=wish.replace)
        source = _fetch(wish, work, report)
        vetted = vet(source.path, source.name)
        if wish.sha256 and not is_archive(Path(wish.what)):
            _require_hash(vetted.sha256, wish.sha256, source.name)
        if (needed := ROOM * vetted.bytes) > (free := shutil.disk_usage(work).free):
            what = f"it needs {needed / 1e6:,.0f} MB of room while it is made, and {free / 1e6:,.0f} MB are free"
            refuse(source.name, what, f"make room below {models}")
        made = work / "made"
        if vetted.exported:
            if wish.precision or wish.asked != Asked():
                raise Usage(f"{wish.what} was exported by memora already: its precision, prefixes and window stay")
            _take(vetted, made, source.name)
        else:
            description = Description(source.name, source.revision, _licence(source.path), source.origin)
            export(vetted, made, description, wish.precision, wish.asked, report, remark)
        model = read_folder(made)
        show(model)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            target.rename(work / "replaced")
        made.rename(target)
    return read_folder(target)


def installed(models: Path) -> dict[str, Path]:
    """The folders of the models that a user imported, by name, then of those that ship."""
    found: dict[str, Path] = {}
    for place in (models, BUNDLED):
        for config in sorted([*place.glob(f"*/{CONFIG}"), *place.glob(f"*/*/{CONFIG}")]):
            name = config.parent.relative_to(place).as_posix()
            if not name.startswith("."):
                found.setdefault(name, config.parent)
    return found


def check(path: Path) -> None:
    """Compare a model's files with their hashes, then load and run it. Raises ModelUnusable."""
    verify(read_folder(path))
    run(path)


def run(path: Path) -> None:
    """Load a model folder and run it once. Raises ModelUnusable."""
    name = str(path.absolute())
    if read_folder(path).kind == "embedder":
        load_embedder(name)  # which embeds one text
    else:
        load_reranker(name).score("ready", ["ready"])


def remove(name: str, models: Path) -> ModelFolder | None:
    """Take a model of the user's away; None for one whose config could not be read. Raises ModelUnusable and Usage."""
    path = models / name
    if not NAME.fullmatch(name) or not (path / CONFIG).is_file():
        if find_model(name, (models,)).is_relative_to(BUNDLED):
            raise Usage(f"model {name} comes with memora-cli and stays: memora models use chooses another")
        raise Usage(f"{name} is no model below {models}: remove that folder yourself")
    model = None
    with suppress(ModelUnusable):
        model = read_folder(path)
    with _workplace(models) as work:
        path.rename(work / "removed")
    if path.parent != models:
        with suppress(OSError):  # another model of the same owner is there
            path.parent.rmdir()
    return model


def _name(wish: Wish) -> str:
    """What the model is to be called: as told, else as its folder, file or hub name. Raises Usage."""
    path = Path(wish.what).expanduser()
    name = wish.name or wish.what
    if not wish.name and (path.exists() or _is_path(wish.what)):
        name = ARCHIVE_END.sub("", path.resolve().name)
    if not NAME.fullmatch(name) or ".." in name:
        raise Usage(f"{name!r} is no name for a model: letters, digits, - _ . and one / at most; give one with --name")
    return name


def _is_path(what: str) -> bool:
    return what.startswith((".", "~", "/")) or Path(what).is_absolute() or is_archive(Path(what))


def _free_place(name: str, models: Path, *, replace: bool) -> Path:
    """Where a model of that name goes. Raises Usage where another is, or one would lie in the other."""
    target = models / name
    if target.is_dir() and not (target / CONFIG).is_file():
        raise Usage(f"there are models called {name}/…: give another --name")
    if target.parent != models and (target.parent / CONFIG).is_file():
        raise Usage(f"there is a model called {target.parent.name}: give another --name")
    if target.exists() and not replace:
        raise Usage(f"model {name} is installed already: give --replace, or another --name")
    return target


def _fetch(wish: Wish, work: Path, report: Report) -> Source:
    """The folder of what is to be imported; an archive is unpacked and a hub model downloaded below `work`."""
    name, path = _name(wish), Path(wish.what).expanduser()
    place = work / "source"
    place.mkdir()
    if path.is_dir():
        return Source(path, name, wish.revision or "", str(path.resolve()))
    if path.is_file():
        if not is_archive(path):
            raise Usage(f"{path} is neither a folder nor a .tar.gz of one")
        if wish.sha256:
            _require_hash(stamp(path).sha256, wish.sha256, path.name)
        return Source(unpack(path, place, report), name, wish.revision or "", str(path.resolve()))
    if _is_path(wish.what):
        raise ModelUnusable(f"there is no such folder or file: {wish.what}")
    got = download(wish.what, wish.revision, place, report)
    return Source(got.path, name, got.revision, wish.what)


def _require_hash(sha256: str, wanted: str, name: str) -> None:
    if sha256 != wanted.lower().removeprefix("sha256:"):
        refuse(name, f"its SHA-256 is {sha256}, not {wanted}", "get it again from where that hash was stated")


def _take(vetted: Vetted, made: Path, name: str) -> None:
    """Copy a folder that memora exported, and check that it is what was exported and that it runs."""
    made.mkdir()
    for file in (MODEL, TOKENIZER, CARD):
        if (vetted.path / file).is_file():
            shutil.copyfile(vetted.path / file, made / file)
    config = json.loads((vetted.path / CONFIG).read_text(encoding="utf-8")) | {"name": name}
    (made / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    verify(read_folder(made))
    run(made)


def _licence(folder: Path) -> str:
    """What the front matter of a model's card says of its licence."""
    import yaml  # of all commands only an import reads a card

    try:
        text = (folder / CARD).read_text(encoding="utf-8", errors="replace")
        said = yaml.safe_load(text.split("---", 2)[1]) if text.startswith("---") else {}
        return str(said["license"])
    except (OSError, KeyError, IndexError, TypeError, yaml.YAMLError):
        return "unknown"


@contextmanager
def _workplace(models: Path) -> Iterator[Path]:
    """A folder beside the models, which is gone afterwards; one that a killed process left goes first."""
    models.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in models.glob(f"{WORK}*"):
        process = left.name.removeprefix(WORK).partition("-")[0]
        if process.isdigit() and not _runs(int(process)):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=models, prefix=f"{WORK}{os.getpid()}-") as work:
        yield Path(work)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


@contextmanager
def _room_errors(models: Path) -> Iterator[None]:
    """A full disk is a model error: nothing was installed."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ModelUnusable(f"the disk is full, nothing was installed: make room below {models}") from error
