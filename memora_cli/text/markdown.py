"""Reads a Markdown file with YAML front matter (Obsidian, zk, Jekyll) as a note to remember."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import PurePath
from types import MappingProxyType

from memora_cli.errors import UnreadableTime
from memora_cli.text.entities import because_links, hash_tags, wiki_links
from memora_cli.text.moments import local, read_window
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
_CLOCK = re.compile(r"(?<![\d:])(\d\d?):(\d\d)(?::(\d\d))?\s*([ap]m)?\s*([+-]\d\d:?\d\d|Z|UTC|GMT)?", re.IGNORECASE)
_APART = timedelta(days=500, hours=7)  # a time that means the same at two moments as far apart needs none to be read

TAGS = ("tags", "tag", "topics", "keywords", "categories", "category")
ALIASES = ("aliases", "alias")
CREATED = (
    *("date", "created", "created_at", "createdat", "date_created", "created_date", "creation_date", "datecreated"),
    *("published", "published_at", "publishdate", "publish_date", "pubdate"),
)
UPDATED = (
    *("updated", "updated_at", "updatedat", "date_updated", "last_updated", "lastmod", "last_modified"),
    *("last_modified_at", "modified", "modified_at", "date_modified", "datemodified"),
)
OCCURRED = ("occurred", "occurred_at", "event_date")


@dataclass(frozen=True, slots=True)
class Page:
    """What a Markdown file holds: its note, and what only the folder around it can make use of.

    `aliases` are other names of the note, `targets` what its `[[links]]` point to. `unread` are the `(key, value)` of
    front matter that could not be understood; `fields` is all of the front matter by key in small letters.
    """

    draft: Draft
    aliases: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    fields: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))


def parse(text: str, *, path: str, at: datetime, week_start: int = 0) -> Page:
    """The note in a Markdown file: front matter, title, tags, dates and `because [[X]]` links; `path` is its source.

    Times without an offset are in the zone of `at`. ValueError, with path and line, if the front matter is not YAML.
    """
    text = normalise(text.removeprefix("\ufeff"))
    fields, body = front_matter(text, path)
    reader = _Reader(fields, at, week_start)
    named, name = _dated(PurePath(path).stem)
    stated = reader.moment(*CREATED)
    created_at = stated or (local(named, at.tzinfo) if named else None) or reader.moment(*UPDATED)
    kind = reader.text("kind", "type").lower()
    if "kind" in fields and kind not in KINDS:
        reader.refuse("kind")
    aliases = tuple(dict.fromkeys(name for key in ALIASES for name in reader.items(key, words=False) if name))
    tags = (tag for key in TAGS for tag in reader.items(key, words=True))
    draft = Draft(
        body=body,
        title=reader.text("title") or _heading(body) or _spoken(name),
        topics=tuple(dict.fromkeys(name for tag in (*tags, *hash_tags(body)) if (name := topic(tag)))),
        kind=kind if kind in KINDS else "world",
        context=reader.text("context"),
        created_at=created_at,
        occurred=reader.window(created_at, *OCCURRED),
        entities=aliases,
        pinned=reader.truth("pinned"),
        source=path,
        links=tuple(("caused-by", target) for target in because_links(body)),
        dated=created_at is not None,
    )
    return Page(draft, aliases, wiki_links(body), tuple(reader.unread.items()), MappingProxyType(fields))


class _Reader:
    """Reads the values of front matter, and keeps what could not be understood in `unread`, by key."""

    def __init__(self, fields: Mapping[str, object], at: datetime, week_start: int) -> None:
        self.fields = fields
        self.at = at
        self.week_start = week_start
        self.unread: dict[str, str] = {}

    def refuse(self, key: str) -> None:
        self.unread[key] = str(self.fields[key])

    def _said(self, *keys: str) -> Iterator[tuple[str, str]]:
        """The keys that hold a text, with it on one line; a list or mapping there is not understood."""
        for key in keys:
            value = self.fields.get(key)
            if isinstance(value, str) and value.strip():
                yield key, " ".join(value.split())
            elif isinstance(value, (list, dict)) and value:
                self.refuse(key)

    def text(self, *keys: str) -> str:
        return next((text for _, text in self._said(*keys)), "")

    def truth(self, key: str) -> bool:
        said = self.text(key).lower()
        if said not in {"", "true", "yes", "on", "1", "false", "no", "off", "0"}:
            self.refuse(key)
        return said in {"true", "yes", "on", "1"}

    def items(self, key: str, *, words: bool) -> list[str]:
        """The texts of a list; of one text, what stands between its commas, or its `words`."""
        value = self.fields.get(key)
        if isinstance(value, str):
            return [item.strip() for item in (value.split() if words and "," not in value else value.split(","))]
        if not isinstance(value, list):
            if value:
                self.refuse(key)
            return []
        if not all(isinstance(item, str) for item in value):
            self.refuse(key)
        return [item.strip() for item in value if isinstance(item, str)]

    def moment(self, *keys: str) -> datetime | None:
        """The first of the keys that names a moment by itself, whenever it is read."""
        for key, text in self._said(*keys):
            try:
                return self._moment(text)
            except UnreadableTime:
                self.refuse(key)
        return None

    def _moment(self, text: str) -> datetime:
        text = text.strip("[]<>\"'")
        try:
            return local(datetime.fromisoformat(_iso(text)), self.at.tzinfo)
        except ValueError:
            pass
        named, rest = _dated(text)
        if named and not rest.strip():
            return local(named, self.at.tzinfo)
        window = self._absolute(text)
        if window.start is None:
            raise UnreadableTime(text)
        return _clocked(window.start, text)

    def _absolute(self, text: str) -> Window:
        window = read_window(text, self.at, week_start=self.week_start)
        earlier = read_window(text, self.at - _APART, week_start=self.week_start)
        if (window.start, window.end) != (earlier.start, earlier.end):
            raise UnreadableTime(text)
        return window

    def window(self, created_at: datetime | None, *keys: str) -> Window | None:
        """The time an event took: a day, month, minute, `start/end` with the end included, or words.

        Words like "last spring" are as of the day that the note states; without one they are not understood.
        """
        for key, text in self._said(*keys):
            try:
                if window := _window(text):
                    start, end = (local(part, self.at.tzinfo) for part in (window.start, window.end) if part)
                    if start < end:
                        return Window(start, end, text, window.grain)
                elif text.count("/") != 1:
                    if created_at is None:
                        return self._absolute(text)
                    return read_window(text, created_at.astimezone(self.at.tzinfo), week_start=self.week_start)
            except (UnreadableTime, OverflowError):
                pass
            self.refuse(key)
        return None


def front_matter(text: str, path: str) -> tuple[dict[str, object], str]:
    """The front matter by key in small letters, all values texts, lists or mappings of such, and the text below it."""
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
    return {_key(str(name)): value for name, value in fields.items()}, text[match.end() :]


def _key(name: str) -> str:
    """A key as it is looked up: "Date Created" and "date-created" are one."""
    return re.sub(r"[\s\-]+", "_", name.strip().lower())


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


def _iso(text: str) -> str:
    """ISO 8601 as Python reads it: Jekyll writes a space before the offset."""
    return re.sub(r"\s+(?=[+\-]\d\d:?\d\d$|Z$)", "", text)


def _clocked(day: datetime, text: str) -> datetime:
    """The day at the time that a text says beside it, if any: "May 3rd 2024, 10:11 am", "3 May 2024 10:11 +0200"."""
    clock = _CLOCK.search(text)
    if not clock:
        return day
    hour = int(clock[1]) % 12 + 12 * (clock[4].lower() == "pm") if clock[4] else int(clock[1])
    try:
        moment = day.replace(hour=hour, minute=int(clock[2]), second=int(clock[3] or 0))
        offset = re.sub("(?i)utc|gmt", "Z", clock[5] or "")
        return datetime.fromisoformat(moment.replace(tzinfo=None).isoformat() + offset.upper()) if offset else moment
    except ValueError:
        return day


def _naive(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(_iso(text))
    except ValueError:
        return None


def _window(text: str) -> Window | None:
    """An event in ISO form: a day, month, year, minute, or `start/end` with the end included."""
    first, _, last = text.partition("/") if text.count("/") == 1 else (text, "", "")
    start, end = _span(first.strip()), _span((last or first).strip())
    if not start or not end or (start[0].tzinfo is None) != (end[1].tzinfo is None):
        return None
    return Window(start[0], end[1], text, "range" if last else start[2])


def _span(text: str) -> tuple[datetime, datetime, str] | None:
    start = _naive(f"{text}-01" if _MONTH.fullmatch(text) else f"{text}-01-01" if _YEAR.fullmatch(text) else text)
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
