"""Reads a Markdown file with YAML front matter (Obsidian, zk, Jekyll) as a note to remember."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import PurePath

from memora_cli.text.entities import because_links, hash_tags
from memora_cli.text.passages import CODE_BLOCK
from memora_cli.text.words import normalise, topic
from memora_cli.values import KINDS, Draft, Window

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^\# +([^\n]*\S)", re.MULTILINE)
_CLOSING = re.compile(r"\s+#+$")
_NAME_DATE = re.compile(r"((?:19|20)\d\d)([-_.]?)(\d\d)\2(\d\d)(?!\d(?!\d{3}))")
_NAME_TIME = re.compile(r"[-_T ]?(\d\d)[-_.:]?(\d\d)(?:[-_.:]?(\d\d))?(?!\w)")
_MONTH = re.compile(r"\d{4}-\d\d")
_YEAR = re.compile(r"\d{4}")
_FORMATS = ("%Y/%m/%d", "%Y/%m/%d %H:%M", "%d.%m.%Y", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y")


def parse(text: str, *, path: str) -> Draft:
    """The note in a Markdown file: front matter, title, tags, dates and `because [[X]]` links; `path` is its source.

    Times without an offset come back naive (also in `occurred`): the caller knows the user's zone. A date that
    cannot be read counts as none. ValueError, with path and line, if the front matter is not YAML.
    """
    text = normalise(text.removeprefix("\ufeff"))
    fields, body = _front_matter(text, path)
    named, name = _dated(PurePath(path).stem)
    kind = _text(fields, "kind", "type").lower()
    tags = [tag for name in ("tags", "tag", "topics", "keywords", "categories") for tag in _list(fields.get(name))]
    return Draft(
        body=body,
        title=_text(fields, "title") or _heading(body) or _spoken(name),
        topics=tuple(dict.fromkeys(name for tag in (*tags, *hash_tags(body)) if (name := topic(tag)))),
        kind=kind if kind in KINDS else "world",
        context=_text(fields, "context"),
        created_at=_moment(_text(fields, "date", "created", "created_at")) or named,
        occurred=_window(_text(fields, "occurred", "occurred_at", "event_date")),
        pinned=_text(fields, "pinned").lower() in {"true", "yes", "on", "1"},
        source=path,
        links=tuple(("caused-by", target) for target in because_links(body)),
    )


def _front_matter(text: str, path: str) -> tuple[Mapping[str, object], str]:
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text
    import yaml  # only imports of Markdown need it

    try:
        # The base loader knows strings, lists and mappings: no objects, and no date that loses its offset.
        fields = yaml.load(match[1], Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise ValueError(f"{path}:{line}: front matter is not YAML: {error.problem}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{path}:1: front matter is not YAML: {type(error).__name__}") from error
    if fields in (None, ""):
        return {}, text[match.end() :]
    if not isinstance(fields, dict):
        return {}, text  # two rules with prose between them
    return {str(name).strip().lower(): value for name, value in fields.items()}, text[match.end() :]


def _text(fields: Mapping[str, object], *names: str) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return ""


def _list(value: object) -> list[str]:
    if isinstance(value, str):
        return value.split(",") if "," in value else value.split()
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _heading(body: str) -> str:
    match = _HEADING.search(CODE_BLOCK.sub("", body))
    return _CLOSING.sub("", match[1]).strip() if match else ""


def _spoken(name: str) -> str:
    """A file name as a title: with spaces, empty if it says nothing."""
    title = normalise(name).strip(" -_.")
    if not any(map(str.isalpha, title)):
        return ""
    return title if " " in title else re.sub(r"[-_]+", " ", title)


def _dated(stem: str) -> tuple[datetime | None, str]:
    """The date (and time) that a file name begins with, and the rest of the name."""
    date = _NAME_DATE.match(stem)
    if not date:
        return None, stem
    time = _NAME_TIME.match(stem, date.end())
    year, month, day = int(date[1]), int(date[3]), int(date[4])
    try:
        if time:
            return datetime(year, month, day, int(time[1]), int(time[2]), int(time[3] or 0)), stem[time.end() :]
    except ValueError:
        pass  # 2024-05-03-1984.md
    try:
        return datetime(year, month, day), stem[date.end() :]
    except ValueError:
        return None, stem


def _moment(text: str) -> datetime | None:
    """A date or time in ISO form (Jekyll's space before the offset too) or in a usual written one."""
    try:
        return datetime.fromisoformat(re.sub(r"\s+(?=[+\-]\d\d:?\d\d$|Z$)", "", text))
    except ValueError:
        pass
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def _window(text: str) -> Window | None:
    """The time an event took: a day, month, minute, or `start/end` with the end included."""
    first, _, last = text.partition("/") if text.count("/") == 1 else (text, "", "")
    start, end = _span(first.strip()), _span((last or first).strip())
    if not start or not end or (start[0].tzinfo is None) != (end[1].tzinfo is None) or end[1] <= start[0]:
        return None
    return Window(start[0], end[1], text, "range" if last else start[2])


def _span(text: str) -> tuple[datetime, datetime, str] | None:
    start = _moment(f"{text}-01" if _MONTH.fullmatch(text) else f"{text}-01-01" if _YEAR.fullmatch(text) else text)
    if not start:
        return None
    try:
        if _YEAR.fullmatch(text):
            return start, start.replace(year=start.year + 1), "year"
        if _MONTH.fullmatch(text):
            return start, (start + timedelta(days=31)).replace(day=1), "month"
        if ":" in text:
            return start, start + timedelta(minutes=1), "minute"
        return start, start + timedelta(days=1), "day"
    except (OverflowError, ValueError):
        return None
