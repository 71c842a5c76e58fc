"""Named things of notes and questions: topics, wiki links, tags, mentions and capitalised names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from memora_cli.text.names import names, question_names
from memora_cli.text.passages import CODE_BLOCK
from memora_cli.text.stopwords import STOP_WORDS
from memora_cli.text.words import fold, is_unspaced, tokens

EntitySource = Literal["explicit", "topic", "link", "tag", "mention", "name"]

MAX_NGRAM = 4
MAX_QUERY_WORDS = 64  # of a question, that are looked up as names

_OPAQUE = "\x01"  # what code, links and addresses become: no word, no space, no sentence end
_CODE = re.compile(r"(?<!`)(`+)(?!`)[^`\n]+\1(?!`)")
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.\-]{1,20}://[^\s<>\"\]]+|\bwww\.[^\s<>\"\]]+|(?<![\w.+\-])[\w.+\-]{1,64}@[\w\-]+\.[\w.\-]+"
    r"|(?<=\])\([^()\n]{0,500}\)|</?[A-Za-z][^<>\n]*>",
    re.IGNORECASE,
)
_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]+)\]\]")
_BECAUSE = re.compile(r"\bbecause\s+(?:of\s+)?\[\[([^\[\]\n]+)\]\]", re.IGNORECASE)
_MEDIA = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|pdf|mp[34]|mov|wav|canvas)$", re.IGNORECASE)
_TAG = re.compile(r"(?<![\w#&/\\\[=])#(\w[\w/\-]*)")
_COLOUR = re.compile(r"[0-9a-f]{3}|[0-9a-f]{6}|(?=\D*\d)(?:[0-9a-f]{4}|[0-9a-f]{8})", re.IGNORECASE)
_MENTION = re.compile(r"(?<![\w@/.\\])@([^\W\d_](?:[\w\-.]*\w)?)(?![\w/@(])")


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing as it was first written, and where it was found."""

    name: str
    source: EntitySource

    @property
    def key(self) -> str:
        """What makes two entities the same."""
        return entity_key(self.name)


def entity_key(name: str) -> str:
    """The name for comparing: folded, with hyphens, underscores and white space as one space."""
    return re.sub(r"[\s_\-]+", " ", fold(name)).strip()


def extract(title: str, body: str, topics: Iterable[str], explicit: Iterable[str]) -> tuple[Entity, ...]:
    """The entities of a note, each key once, in the order explicit, topic, link, tag, mention, name."""
    text = f"{title}\n\n{body}"
    found: list[Entity] = [Entity(name.strip(), "explicit") for name in explicit]
    found += [Entity(name.strip(), "topic") for name in topics]
    found += [Entity(target.rsplit("/", 1)[-1], "link") for target in wiki_links(text)]
    found += [Entity(tag, "tag") for tag in hash_tags(text)]
    found += [Entity(name, "mention") for name in mentions(text)]
    found += [Entity(name, "name") for name in names(_prose(text), len(title.split()))]
    kept: dict[str, Entity] = {}
    for entity in found:
        if entity.key:
            kept.setdefault(entity.key, entity)
    return tuple(kept.values())


def wiki_links(text: str) -> tuple[str, ...]:
    """The targets of `[[Target#heading|alias]]`, each once; none from code, embedded media or headings of the note."""
    links = _WIKI.finditer(_without_code(text))
    targets = (_target(match[2]) for match in links if not (match[1] and _MEDIA.search(_target(match[2]))))
    return tuple(dict.fromkeys(target for target in targets if target))


def because_links(body: str) -> tuple[str, ...]:
    """The targets of `because [[X]]`, each once."""
    targets = (_target(match[1]) for match in _BECAUSE.finditer(_without_code(body)))
    return tuple(dict.fromkeys(target for target in targets if target))


def hash_tags(text: str) -> tuple[str, ...]:
    """The `#tags` of a text without `#`, each once; no headings, numbers, colours, code or parts of addresses."""
    found = (match[1].rstrip("-/") for match in _TAG.finditer(_plain(text)))
    return tuple(dict.fromkeys(tag for tag in found if _is_tag(tag)))


def mentions(text: str) -> tuple[str, ...]:
    """The `@names` of a text without `@`, each once; no e-mail addresses, package scopes or calls."""
    return tuple(dict.fromkeys(match[1] for match in _MENTION.finditer(_plain(text))))


def query_entities(text: str) -> tuple[str, ...]:
    """Keys of what a question may name: links, tags, mentions, and every capitalised stretch of up to 4 words."""
    found = [*(target.rsplit("/", 1)[-1] for target in wiki_links(text)), *hash_tags(text), *mentions(text)]
    found += question_names(_prose(text), MAX_NGRAM)
    keys = dict.fromkeys(entity_key(name) for name in found)
    return tuple(key for key in keys if key and key not in STOP_WORDS)


def query_ngrams(text: str) -> tuple[str, ...]:
    """Keys of all runs of 1 to 4 words of a question, longest first, that neither begin nor end with a stop word."""
    words = [re.sub(r"['’]s$", "", word.strip(".,;:!?…\"'“”‘’()[]{}<>#@*")) for word in text.split()]
    keys = [key for word in words if (key := entity_key(word))]
    keys = [part for key in keys for part in key.split(" ")][:MAX_QUERY_WORDS]
    found = [
        " ".join(keys[at : at + size])
        for size in range(MAX_NGRAM, 0, -1)
        for at in range(len(keys) - size + 1)
        if keys[at] not in STOP_WORDS and keys[at + size - 1] not in STOP_WORDS
    ]
    for run in filter(is_unspaced, tokens(" ".join(keys))):
        run = run[:MAX_QUERY_WORDS]
        found += [run[at : at + size] for size in range(6, 1, -1) for at in range(len(run) - size + 1)]
    return tuple(dict.fromkeys(found))


def _blank(match: re.Match[str]) -> str:
    return _OPAQUE * len(match[0])


def _without_code(text: str) -> str:
    return _CODE.sub(_blank, CODE_BLOCK.sub("\n\n", text))


def _plain(text: str) -> str:
    """The text without code, addresses and wiki links."""
    return _WIKI.sub(_blank, _ADDRESS.sub(_blank, _without_code(text)))


def _prose(text: str) -> str:
    """The text without everything that is named by a mark of its own."""
    return _MENTION.sub(_blank, _TAG.sub(_blank, _plain(text)))


def _target(link: str) -> str:
    return re.sub(r"\.md$", "", re.split(r"[|#^]", link, maxsplit=1)[0].strip(), flags=re.IGNORECASE)


def _is_tag(tag: str) -> bool:
    return any(map(str.isalpha, tag)) and not _COLOUR.fullmatch(tag)
