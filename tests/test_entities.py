"""Entities: what a note names, and what a question may mean by a name."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.text.entities import (
    because_links,
    entity_key,
    extract,
    hash_tags,
    mentions,
    query_entities,
    query_ngrams,
    wiki_links,
)

ANY_TEXT = st.text(st.characters(), max_size=80)
NOTE_TEXT = st.lists(
    st.sampled_from(
        [
            "Alice",
            "met",
            "NASA",
            ". ",
            " ",
            "\n",
            "of",
            "the",
            "'s",
            "#tag",
            "[[X]]",
            "```",
            "`",
            "A.",
            "-",
            "É",
            "(",
            "@b",
        ]
    ),
    max_size=30,
).map("".join)


def names(body, title="", topics=(), explicit=()):
    return [entity.name for entity in extract(title, body, topics, explicit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("If nothing works, try Docker. One option is the EXISTING setup.", ["Docker"]),
        ("Alice works as a software engineer at Google", ["Alice", "Google"]),
        ("Google announced the Pixel on Monday, in June.", ["Google", "Pixel"]),
        ("Yesterday Maria Garcia went to New York with Dr. Smith.", ["Maria Garcia", "New York", "Smith"]),
        ("Running late. Meeting Bob at Starbucks. Call Carol.", ["Bob", "Starbucks", "Carol"]),
        ("Dinner was great. Coffee is bad for me. Everything worked.", []),
        ("NASA launched it on IBM hardware.", ["NASA", "IBM"]),
        ("READ THE MANUAL NOW. It is IMPORTANT. DO NOT TOUCH.", []),
        ("I SAW ALICE AND BOB TODAY", []),
        ("Alice's job is fun", ["Alice"]),
        ("iPhone broke. GitHub is down.", ["iPhone", "GitHub"]),
        ("The Bank of England and the CEO of Google", ["Bank of England", "CEO", "Google"]),
        ("He met Ludwig van Beethoven and Charles de Gaulle", ["Ludwig van Beethoven", "Charles de Gaulle"]),
        ("John F. Kennedy lived through World War II.", ["John F. Kennedy", "World War II"]),
        ("Los Angeles is big. We like the U.S. too.", ["Los Angeles", "U.S."]),
        ("Paul Newman's Google-based shirt, COVID-19, GPT-4", ["Paul Newman", "Google", "COVID-19", "GPT-4"]),
        ("Attendees: Alice, Bob\n- Carol is late\n- Buy milk", ["Alice", "Bob", "Carol"]),
        ("Alice and Bob went out. Dave, Erin and Frida stayed.", ["Alice", "Bob", "Dave", "Erin", "Frida"]),
        ("Maria, can you call? Unfortunately, no.", ["Maria"]),
        ("Bananas rot. We ate bananas, then bananas again.", []),
        ('He said "Running late again" to Peter O\'Brien.', ["Peter O'Brien"]),
        ("Use `Foo Bar` and https://example.org/Some/Path or Me@Example.org", []),
        ("```\nAlice met Bob\n```\nafter Carol came", ["Carol"]),
        ("# How To Center A Div\n\nWe asked Maria.", ["Maria"]),
        ("Ich habe heute einen Termin beim Zahnarzt und treffe Maria in Berlin.", ["Maria", "Berlin"]),
        ("Вчера я встретил Марию в Москве.", ["Марию", "Москве"]),
        ("昨日、東京で会いました。", []),
        ("", []),
    ],
)
def test_names_are_capitals_that_no_sentence_start_shouting_or_heading_explains(text, expected):
    assert names(text) == expected


def test_a_word_that_is_a_name_inside_one_sentence_is_one_at_the_start_of_another():
    assert names("Kubernetes again. I dislike Kubernetes.") == ["Kubernetes"]


def test_a_short_title_is_a_name_and_a_title_in_capitals_is_not():
    assert names("slow today", title="Docker") == ["Docker"]
    assert names("it moved", title="Move The Docker Host") == []
    assert names("then we moved Docker", title="Move The Docker Host") == ["Docker"]


def test_every_source_is_named_and_the_same_name_comes_once():
    found = extract("", "See [[Google]] and #work, ask @bob about GOOGLE at Google.", ("travel",), ("Alice",))
    assert [(entity.name, entity.source) for entity in found] == [
        ("Alice", "explicit"),
        ("travel", "topic"),
        ("Google", "link"),
        ("work", "tag"),
        ("bob", "mention"),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [("Google", "GOOGLE"), ("café", "Cafe\u0301"), ("New  York", "new-york"), ("machine_learning", "Machine Learning")],
)
def test_the_same_name_in_any_spelling_is_one_entity(one, other):
    assert entity_key(one) == entity_key(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#work, #area/home and (#2024-goals)", ("work", "area/home", "2024-goals")),
        ("# Heading\n## Two", ()),
        ("color: #fff; #a1b2c3 #123 #12345678", ()),
        ("C# and F#m and a#b", ()),
        ("https://x.y/#frag [a](#anchor) `#code` [[Note#part]]", ()),
        ("#日本 #čaj", ("日本", "čaj")),
    ],
)
def test_tags_are_no_headings_colours_numbers_or_anchors(text, expected):
    assert hash_tags(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ask @bob and @anna-maria.", ("bob", "anna-maria")),
        ("me@example.org and @types/node and `@property`", ()),
    ],
)
def test_mentions_are_no_addresses_scopes_or_code(text, expected):
    assert mentions(text) == expected


def test_wiki_links_give_the_target_without_heading_alias_or_extension():
    text = "[[People/Alice|her]] [[Plan#Part]] [[Plan.md]] ![[shot.png]] ![[Embedded]] [[#here]] `[[code]]` [[]]"
    assert wiki_links(text) == ("People/Alice", "Plan", "Embedded")
    assert names("we saw [[People/Alice|her]]") == ["Alice"]


def test_because_links_are_causes():
    assert because_links("Late because [[Train strike|it]] and Because of [[Rain]]; see [[Other]]") == (
        "Train strike",
        "Rain",
    )


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("What does Alice do?", "alice"),
        ("Alice's job", "alice"),
        ("Alice’s job", "alice"),
        ("Is New York nice?", "new york"),
        ("who runs the Bank of England", "bank of england"),
        ("notes on [[People/Alice]]", "alice"),
        ("#work today", "work"),
        ("what did @bob say", "bob"),
        ("WHO IS ALICE", "alice"),
    ],
)
def test_a_question_gives_the_names_it_may_mean(question, key):
    assert key in query_entities(question)


@pytest.mark.parametrize("question", ["What is this?", "How do I do it", "Tell me more", "The who and what", ""])
def test_function_words_of_a_question_are_no_names(question):
    assert not {"what", "how", "the", "who", "i", "it"} & {*query_entities(question), *query_ngrams(question)}


def test_the_opening_word_of_a_question_is_no_name():
    assert query_entities("Tell Alice about Brno") == ("tell alice", "alice", "brno")


def test_names_in_lower_case_are_among_the_runs_of_words():
    assert {"maria garcia", "google"} <= set(query_ngrams("does maria garcia work at google?"))
    assert "jean luc" in query_ngrams("jean-luc's car")
    assert "c++" in query_ngrams("learn c++, please")
    assert "谷歌" in query_ngrams("谷歌的产品")
    assert query_ngrams("bank of england")[0] == "bank of england"


@given(st.one_of(ANY_TEXT, NOTE_TEXT), ANY_TEXT)
def test_no_text_is_an_error_and_every_key_comes_once(body, title):
    keys = [entity.key for entity in extract(title, body, (title,), (body,))]
    assert len(keys) == len(set(keys))
    assert all(keys)
    query_entities(body)
    query_ngrams(body)
    because_links(body)


@given(NOTE_TEXT)
def test_names_stand_in_the_text(body):
    assert all(entity.name in body for entity in extract("", body, (), ()))


@pytest.mark.parametrize("text", ["a" * 10**6, "<a" * 300_000, "](" * 300_000, "A " * 300_000, "`a" * 300_000])
def test_a_megabyte_takes_seconds(text):
    start = time.perf_counter()
    extract("", text, (), ())
    query_entities(text)
    assert time.perf_counter() - start < 20
