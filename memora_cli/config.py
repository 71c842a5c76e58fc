"""Where every setting comes from: flags over environment over `config.toml` over defaults."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memora_cli.errors import BadSetting
from memora_cli.values import FUSION_WEIGHTS, Settings

STRATEGIES = ("semantic", "keyword", "graph", "temporal")
FUSIONS = tuple(FUSION_WEIGHTS)
BACKENDS = ("auto", "fts5", "tsvector", "like")
WEEK_STARTS = ("locale", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "limit": (1, 100_000),
        "max_tokens": (1, 10_000_000),
        "thinking_budget": (0, 10_000),
        "rrf_k": (1, 10_000),
        "strategy_limit": (1, 4096),
        "semantic_floor": (-1.0, 1.0),
        "entry_floor": (-1.0, 1.0),
        "rerank_top": (0, 1000),
        "rerank_seconds": (0.0, 3600.0),
        "rerank_weight": (0.0, 1.0),
        "recency_weight": (0.0, 5.0),
        "half_life_days": (0.001, 1_000_000.0),
        "pinned_bonus": (0.0, 5.0),
        "min_score": (0.0, 1.0),
        "worker_idle": (0.01, 100_000.0),
    }
)
"""The closed range of each numeric setting."""

FLAGS = {"half_life_days": "--half-life", "current_only": "--current"}
"""The flags that are not named like their setting."""

PATHS = {"db": "sqlite:///", "time_parser": "t5:"}
"""The settings that may be a path, and what may stand before it."""

TRUTH = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}

OPENING = ("db", "space", "embedder", "reranker", "time_parser", "week_start", "worker", "worker_idle")
SEARCHING = tuple(field.name for field in fields(Settings) if field.name not in {"weights", "superseded_penalty"})
KEYS = (*OPENING, *SEARCHING, *(f"weights.{name}" for name in STRATEGIES))


@dataclass(frozen=True, slots=True)
class Origin:
    """A value and where it came from: "default", "config.toml", "MEMORA_…" or a flag's name."""

    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Config:
    """The settled configuration.

    `time_parser` is "rules", or "t5:" with a folder or hub name; `week_start` is a weekday, or "locale" for the one
    that weeks of `locale` (as "en_US.UTF-8") begin with; `worker_idle` is in minutes. `origins` tells for every key of
    `KEYS` where it came from.
    """

    db: str
    space: str
    embedder: str
    reranker: str
    time_parser: str
    week_start: str
    worker: bool
    worker_idle: float
    locale: str
    settings: Settings
    origins: Mapping[str, Origin]


def config_path() -> Path:
    """The user's `config.toml`, or the file that `MEMORA_CONFIG` names. Raises `BadSetting` for nobody's home."""
    if named := os.environ.get("MEMORA_CONFIG"):
        return _expanded(named, "MEMORA_CONFIG")
    from platformdirs import user_config_path

    return user_config_path("memora", appauthor=False) / "config.toml"


def default_database() -> str:
    """The database in the user's data directory."""
    from platformdirs import user_data_path

    return str(user_data_path("memora", appauthor=False) / "memora.db")


def models_folder() -> Path:
    """Where imported models live, in the user's data directory."""
    from platformdirs import user_data_path

    return user_data_path("memora", appauthor=False) / "models"


def load(
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    path: Path | None = None,
    pairs: Mapping[str, Any] | None = None,
) -> Config:
    """Settle every value; flags that are None were not given, and stand over the `pairs` of --set.

    Raises `BadSetting` for an unknown key, a wrong type, a value out of range, or unreadable TOML.
    """
    environment = os.environ if environment is None else environment
    path = path or config_path()
    text = _text(path)
    layers: list[tuple[Callable[[str], str], Mapping[str, Any]]] = [
        (lambda _: str(path), _parsed(text, path)),
        (variable, {key: environment[name] for key in KEYS if environment.get(name := variable(key), "") != ""}),
        (lambda _: "--set", pairs or {}),
        (_flag, {key: value for key, value in (flags or {}).items() if value is not None}),
    ]
    defaults = Settings()
    found: dict[str, Origin] = {
        "db": Origin(None, "default"),
        "space": Origin("default", "default"),
        "embedder": Origin("all-MiniLM-L6-v2", "default"),
        "reranker": Origin("memora-reranker", "default"),
        "time_parser": Origin("rules", "default"),
        "week_start": Origin("locale", "default"),
        "worker": Origin(True, "default"),
        "worker_idle": Origin(15.0, "default"),
        **{key: Origin(getattr(defaults, key), "default") for key in SEARCHING},
        **{f"weights.{name}": Origin(None, "default") for name in STRATEGIES},
    }
    for origin_of, values in layers:
        for key, value in values.items():
            origin = origin_of(key)
            place = f"{path}:{_line_of(key, text)}" if origin == str(path) else origin
            found[known(key, place)] = Origin(checked(key, value, place), origin)
    if found["db"].value is None:
        found["db"] = Origin(default_database(), "default")
    weights = {name: float(set_.value) for name in STRATEGIES if (set_ := found[f"weights.{name}"]).value is not None}
    settings = replace(defaults, weights=MappingProxyType(weights), **{key: found[key].value for key in SEARCHING})
    for name in set(STRATEGIES) - set(weights):
        found[f"weights.{name}"] = Origin(settings.weight(name), "default")
    check(settings)
    return Config(
        db=str(found["db"].value),
        space=found["space"].value,
        embedder=found["embedder"].value,
        reranker=found["reranker"].value,
        time_parser=found["time_parser"].value,
        week_start=found["week_start"].value,
        worker=found["worker"].value,
        worker_idle=found["worker_idle"].value,
        locale=_locale(environment),
        settings=settings,
        origins=MappingProxyType(found),
    )


def check(settings: Settings) -> None:
    """Refuse settings under which a superseded note could stand above a current one by its score."""
    highest = 1.0 + settings.recency_weight + settings.pinned_bonus
    if settings.superseded_penalty <= highest:
        raise BadSetting(
            f"the superseded penalty {settings.superseded_penalty:g} must be above 1 + recency_weight + pinned_bonus "
            f"= {highest:g}: lower one of them"
        )


def variable(key: str) -> str:
    """The environment variable of a setting."""
    return "MEMORA_" + key.replace(".", "_").upper()


def masked(address: str) -> str:
    """A database's address without the passwords in it."""
    address = re.sub(r"(://[^:/@?]*):.*@", r"\1:***@", address)
    return re.sub(r"((?:pass|sslpass)word=)[^&\s]*", r"\1***", address, flags=re.IGNORECASE)


def _flag(key: str) -> str:
    return FLAGS.get(key, f"--{key.replace('_', '-')}")


def _locale(environment: Mapping[str, str]) -> str:
    return next((environment[name] for name in ("LC_ALL", "LC_TIME", "LANG") if environment.get(name)), "")


def _expanded(path: str, origin: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise BadSetting(f"{origin}: there is no home folder for {path}") from None


def known(key: str, place: str) -> str:
    """The key, when there is such a setting. Raises `BadSetting` with the nearest names."""
    if key in KEYS:
        return key
    from difflib import get_close_matches

    near = get_close_matches(key.lower().replace("-", "_"), KEYS, n=2, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(KEYS)}"
    raise BadSetting(f'{place}: unknown setting "{key}": {hint}')


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadSetting(f"{path}:{line}: this is not UTF-8; save the file as UTF-8") from error
    except OSError as error:
        raise BadSetting(f"{path} cannot be read: {error.strerror or error}") from error


def _parsed(text: str, path: Path) -> Mapping[str, Any]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        stated = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
        line = int(stated[1]) if stated else text.count("\n") + (not text.endswith("\n"))
        reason = str(error)[: stated.start()] + f" at column {stated[2]}" if stated else str(error)
        raise BadSetting(f"{path}:{line}: this is no TOML: {reason}") from error
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{name}": inner for name, inner in value.items()})
        else:
            flat[key] = value
    return flat


def _line_of(key: str, text: str) -> int:
    """The line of a TOML file that sets the key, else the one that opens its table, else the first."""
    table, opened = "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line):
            table = _bare(heading[1]) + "."
            opened = number if f"{key}.".startswith(table) else opened
        elif (name := re.match(r"\s*([^=#]+?)\s*=", line)) and key == (full := table + _bare(name[1])):
            return number
        elif name and key.startswith(f"{full}."):
            opened = number  # an inline table
    return opened


def _bare(name: str) -> str:
    """A TOML key as it is meant: without quotes, and without white space around its dots."""
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


def checked(key: str, value: Any, origin: str) -> Any:
    """The value in its type and range; environment variables arrive as text. Raises `BadSetting`."""
    if key in ("rerank", "current_only", "updates", "worker"):
        if (said := str(value).lower()) not in TRUTH:
            raise BadSetting(f"{origin}: {key} is true or false, not {value!r}")
        return TRUTH[said]
    if key.startswith("weights."):
        return _number(key, value, origin, (0.0, 1000.0), whole=False)
    if key in NUMBERS:
        if key in ("min_score", "rerank_weight") and value is None:
            return None
        return _number(key, value, origin, NUMBERS[key], whole=isinstance(getattr(Settings(), key, None), int))
    if not isinstance(value, str) or not value:
        raise BadSetting(f"{origin}: {key} is a text, not {value!r}")
    choices = {"backend": BACKENDS, "fusion": FUSIONS, "week_start": WEEK_STARTS}.get(key)
    if choices and value not in choices:
        raise BadSetting(f"{origin}: {key} is one of {', '.join(choices)}, not {value!r}")
    if key == "time_parser" and value != "rules" and not re.fullmatch("t5:.+", value):
        raise BadSetting(f"{origin}: {key} is rules or t5:NAME, not {value!r}")
    if key in PATHS and not (key == "db" and value.startswith("postgres")):
        _expanded(value.removeprefix(PATHS[key]), origin)
    return value


def _number(key: str, value: Any, origin: str, bounds: tuple[float, float], *, whole: bool) -> float | int:
    low, high = bounds
    try:
        if isinstance(value, bool):
            raise ValueError
        number = int(str(value)) if whole else float(value)
    except (TypeError, ValueError):
        raise BadSetting(f"{origin}: {key} is a {'whole ' if whole else ''}number, not {value!r}") from None
    if not low <= number <= high:
        raise BadSetting(f"{origin}: {key} is between {low:g} and {high:g}, not {value}")
    return number
