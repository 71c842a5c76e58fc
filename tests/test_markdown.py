"""Markdown: front matter, titles, tags, dates and causes of imported files."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.text import markdown
from memora_cli.text.words import normalise, topic

PRAGUE = ZoneInfo("Europe/Prague")
AT = datetime(2025, 11, 24, 15, 54, tzinfo=PRAGUE)
ANY_TEXT = st.text(st.characters(), max_size=120)


def page(front, body="Text.\n", path="notes/a-note.md"):
    return markdown.parse(f"---\n{front}\n---\n{body}", path=path, at=AT)


def parse(text, path):
    return markdown.parse(text, path=path, at=AT).draft


def note(front, body="Text.\n", path="notes/a-note.md"):
    return page(front, body, path).draft


def local(*numbers):
    return datetime(*numbers, tzinfo=PRAGUE)


def test_an_obsidian_note():
    draft = parse(
        "---\ntitle: Trip to Brno\ntags: [travel, Area/Home]\ncreated: 2024-05-03T10:11\npinned: true\n"
        "type: agent\n---\n# Heading\n\nWent by #train because [[Car broke|it]].\n",
        path="Trips/brno.md",
    )
    assert draft.title == "Trip to Brno"
    assert draft.topics == ("travel", "area/home", "train")
    assert draft.created_at == local(2024, 5, 3, 10, 11)
    assert draft.pinned
    assert draft.kind == "agent"
    assert draft.links == (("caused-by", "Car broke"),)
    assert draft.body == "# Heading\n\nWent by #train because [[Car broke|it]].\n"
    assert draft.source == "Trips/brno.md"


def test_a_jekyll_post():
    draft = parse(
        "---\nlayout: post\ndate: 2024-05-03 10:11:12 +0200\ncategories: tips tools\n---\nText.",
        path="2024-05-03-my-post.md",
    )
    assert draft.title == "my post"
    assert draft.topics == ("tips", "tools")
    assert draft.created_at is not None
    assert draft.created_at.astimezone(UTC) == datetime(2024, 5, 3, 8, 11, 12, tzinfo=UTC)


def test_a_zk_note():
    draft = parse("---\ntitle: \"A: b\"\nkeywords: [x, 'y z']\n---\n", path="3403.md")
    assert (draft.title, draft.topics) == ("A: b", ("x", "y-z"))


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("# First #\n\n# Second", "x.md", "First"),
        ("```\n# comment\n```\n\n# Real", "x.md", "Real"),
        ("text", "my-first_note.md", "my first note"),
        ("text", "Meeting - Bob.md", "Meeting - Bob"),
        ("text", "2024-05-03 Dentist.md", "Dentist"),
        ("text", "2024-05-03.md", ""),
        ("text", "202405031011.md", ""),
        ("#tag only", "2024-05-03.md", ""),
    ],
)
def test_the_title_is_the_first_heading_or_what_the_file_name_says(text, path, title):
    assert parse(text, path=path).title == title


@pytest.mark.parametrize(
    ("path", "created"),
    [
        ("2024-05-03-title.md", local(2024, 5, 3)),
        ("daily/20240503.md", local(2024, 5, 3)),
        ("202405031011 idea.md", local(2024, 5, 3, 10, 11)),
        ("2024-05-03-1984-review.md", local(2024, 5, 3)),
        ("2024-13-45.md", None),
        ("12345678.md", None),
        ("note.md", None),
    ],
)
def test_a_file_name_can_say_the_date(path, created):
    assert parse("text", path=path).created_at == created


@pytest.mark.parametrize(
    ("value", "topics"),
    [
        ("tags: [One, two]", ("one", "two")),
        ("tags:\n  - One\n  - '#two'", ("one", "two")),
        ("tags: one, two three", ("one", "two-three")),
        ("tags: one two", ("one", "two")),
        ("tags: [yes, 2024, on]", ("yes", "2024", "on")),
        ("tags:", ()),
        ("topics: [Cafe\u0301]", ("café",)),
    ],
)
def test_topics_are_read_as_people_write_them(value, topics):
    assert note(value).topics == topics


@pytest.mark.parametrize(
    ("value", "start", "days"),
    [
        ("2024-05-03", local(2024, 5, 3), 1),
        ("2024-02", local(2024, 2, 1), 29),
        ("2023", local(2023, 1, 1), 365),
        ("2024-05-03/2024-05-07", local(2024, 5, 3), 5),
    ],
)
def test_an_event_lasts_as_long_as_it_is_said_to(value, start, days):
    window = note(f"occurred: {value}").occurred
    assert window is not None
    assert (window.start, window.end) == (start, start + timedelta(days=days))


@pytest.mark.parametrize(
    ("value", "created"),
    [
        ("2024-05-03", local(2024, 5, 3)),
        ("2024-5-3", local(2024, 5, 3)),
        ("2024/05/03 10:11", local(2024, 5, 3, 10, 11)),
        ("2024.05.03", local(2024, 5, 3)),
        ("03.05.2024 10:11", local(2024, 5, 3, 10, 11)),
        ("13/05/2024", local(2024, 5, 13)),
        ("5/13/2024", local(2024, 5, 13)),
        ("202405031011", local(2024, 5, 3, 10, 11)),
        ("20240503101112", local(2024, 5, 3, 10, 11, 12)),
        ("May 3rd, 2024", local(2024, 5, 3)),
        ("3. May 2024", local(2024, 5, 3)),
        ("Friday, May 3rd 2024, 10:11:12 pm", local(2024, 5, 3, 22, 11, 12)),
        ("May 3, 2024 12:05 AM", local(2024, 5, 3, 0, 5)),
        ("Fri, 03 May 2024 10:11:12 +0500", datetime(2024, 5, 3, 5, 11, 12, tzinfo=UTC)),
        ("2024-05-03 10:11:12 UTC", datetime(2024, 5, 3, 10, 11, 12, tzinfo=UTC)),
        ("2024-05-03T10:11:12Z", datetime(2024, 5, 3, 10, 11, 12, tzinfo=UTC)),
        ("2024-05-03 10:11:12 +0200", datetime(2024, 5, 3, 8, 11, 12, tzinfo=UTC)),
        ("'[[2024-05-03]]'", local(2024, 5, 3)),
        ("May 2024", local(2024, 5, 1)),
        ("2024", local(2024, 1, 1)),
    ],
)
def test_a_date_is_read_in_the_forms_that_people_write(value, created):
    found = page(f"date: {value}")
    assert found.draft.created_at == created
    assert found.unread == ()


@pytest.mark.parametrize(
    "key",
    [
        *("date", "Date", "created", "created_at", "createdAt", "date created", "Creation-Date", "published"),
        *("pubDate", "updated", "modified", "last_modified_at", "date modified", "lastmod"),
    ],
)
def test_a_date_is_found_by_its_usual_keys(key):
    assert note(f"{key}: 2024-05-03").created_at == local(2024, 5, 3)


def test_when_it_was_created_goes_over_the_file_name_and_that_over_when_it_was_updated():
    assert note("updated: 2024-06-01\ncreated: 2024-05-03", path="2024-04-01.md").created_at == local(2024, 5, 3)
    assert note("updated: 2024-06-01", path="2024-04-01.md").created_at == local(2024, 4, 1)
    assert note("date: soon\ncreated: 2024-05-03").created_at == local(2024, 5, 3)


def test_what_cannot_be_understood_is_told_by_its_key_and_the_rest_is_read():
    found = page(
        "title: [a, list]\ndate: last summer\nevent_date: 2024-05-07/2024-05-03\npinned: perhaps\nkind: feeling\n"
        "tags: {a: b}\nmodified: 9999-12-31\ncontext: kitchen\ntype: post"
    )
    assert dict(found.unread) == {
        "title": "['a', 'list']",
        "date": "last summer",
        "event_date": "2024-05-07/2024-05-03",
        "pinned": "perhaps",
        "kind": "feeling",
        "tags": "{'a': 'b'}",
        "modified": "9999-12-31",
    }
    assert (found.draft.created_at, found.draft.occurred, found.draft.dated) == (None, None, False)
    assert (found.draft.title, found.draft.context, found.draft.kind) == ("a note", "kitchen", "world")


def test_an_event_in_words_is_as_of_the_day_that_the_note_states():
    window = note("date: 2020-11-01\noccurred: last spring").occurred
    assert window is not None
    assert (window.start, window.end) == (local(2019, 3, 1), local(2019, 6, 1))
    assert page("occurred: last spring").unread == (("occurred", "last spring"),)
    assert page("occurred: summer 2024").unread == ()


@pytest.mark.parametrize(
    ("value", "aliases"),
    [
        ("aliases: [Big Blue, ibm]", ("Big Blue", "ibm")),
        ("alias: Big Blue", ("Big Blue",)),
        ("aliases: Big Blue, ibm", ("Big Blue", "ibm")),
        ("aliases:", ()),
    ],
)
def test_aliases_are_other_names_of_the_note(value, aliases):
    found = page(value)
    assert found.aliases == aliases
    assert found.draft.entities == aliases


def test_links_are_read_without_their_part_and_their_words():
    text = "[[a]] [[b#part]] [[c|words]] [[people/d.md#x|y]] [[#here]] `[[code]]` ![[picture.png]]"
    assert page("title: x", text).targets == ("a", "b", "c", "people/d")


@pytest.mark.parametrize("front", ["title: a: b", "tags: [a", "a: b\n  c: d\n e", "x: \x07", "[" * 5000])
def test_broken_front_matter_names_file_and_line(front):
    with pytest.raises(ValueError, match=r"^n\.md:\d+: front matter is not YAML"):
        note(front, path="n.md")


@pytest.mark.parametrize("text", ["---\nprose\n---\nmore", "---\nno end", "text\n---\na: b\n---\n", "----\n"])
def test_rules_in_prose_are_no_front_matter(text):
    assert parse(text, path="n.md").body == text


def test_front_matter_makes_no_objects():
    assert note("title: !!python/object/apply:os.getcwd []\ntags: [a]").topics == ("a",)


def test_crlf_byte_order_mark_nul_and_lone_surrogates_do_no_harm():
    draft = parse("\ufeff---\r\ntitle: T\r\n---\r\nA\x00\udce9\r\n", path="n.md")
    assert (draft.title, draft.body) == ("T", "A\ufffd\ufffd\n")


@pytest.mark.parametrize(
    ("typed", "stored"), [("#New  York", "new-york"), ("Cafe\u0301", "café"), ("a/B", "a/b"), (" # ", "")]
)
def test_topics_have_one_form(typed, stored):
    assert topic(typed) == stored
    assert topic(stored) == stored


@given(ANY_TEXT)
def test_a_body_comes_back_as_it_was_stored(text):
    body = normalise(text)
    assert parse(f"---\ntitle: x\n---\n{body}", path="n.md").body == body


@given(st.text(st.sampled_from("-\n:ab #[]'\"!&*{}0\t")), ANY_TEXT)
def test_a_file_is_a_note_or_refused_by_name(front, path):
    try:
        parse(f"---\n{front}\n---\n{front}", path=path)
    except ValueError as error:
        assert "front matter" in str(error)  # noqa: PT017
