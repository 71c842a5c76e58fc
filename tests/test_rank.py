"""The promises of ranking: fuse, complete, rerank, adjust, clamp, cut."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import EPOCH, candidates, make_note, moments, notes, ranked_lists

from memora_cli.config import check
from memora_cli.errors import BadSetting
from memora_cli.rank.adjust import adjust, age_days, decay
from memora_cli.rank.clamp import clamp
from memora_cli.rank.complete import complete, heads
from memora_cli.rank.cut import cut
from memora_cli.rank.fuse import fuse
from memora_cli.rank.read import dated
from memora_cli.rank.rerank import rerank, sigmoid
from memora_cli.rank.update import update
from memora_cli.values import Candidate, Hit, Part, RankedList, Reranking, Score, Settings

RRF = Settings(fusion="rrf")


def numbers_of(found):
    return [candidate.note.id for candidate in found]


def shorten(text, most):
    return text[:most], min(len(text), most)


@given(st.data())
def test_fusing_gives_each_note_the_sum_of_its_reciprocal_ranks(data):
    known = data.draw(notes())
    lists = data.draw(ranked_lists([note.id for note in known]))
    fused = fuse(lists, {note.id: note for note in known}, RRF)
    for candidate in fused:
        ranks = [hit.rank for ranked in lists for hit in ranked.hits if hit.note_id == candidate.note.id]
        assert candidate.fused.value == math.fsum(1 / (60 + rank) for rank in ranks)
        assert len(candidate.hits) == len(ranks)
    assert set(numbers_of(fused)) == {hit.note_id for ranked in lists for hit in ranked.hits}


@given(st.data())
def test_fusing_by_scores_gives_each_note_the_sum_of_its_weighted_shares_of_the_best(data):
    known = data.draw(notes())
    lists = data.draw(ranked_lists([note.id for note in known]))
    settings = Settings(weights={"semantic": 0.7})
    for candidate in fuse(lists, {note.id: note for note in known}, settings):
        shares = [
            settings.weight(ranked.strategy) * max(0.0, hit.score) / ranked.best
            for ranked in lists
            for hit in ranked.hits
            if hit.note_id == candidate.note.id
        ]
        assert candidate.fused.value == math.fsum(shares)
        assert all(0.0 <= share <= settings.weight(name) for share, name in zip(shares, candidate.hits, strict=True))


def test_a_loose_match_that_is_first_weighs_less_than_a_close_one_by_scores_and_as_much_by_ranks():
    known = {1: make_note(1), 2: make_note(2)}
    lists = [
        RankedList("semantic", (Hit(1, 1, 0.35, ""),)),
        RankedList("keyword", (Hit(2, 1, 14.0, ""),), best=14.0),
    ]
    by_score = fuse(lists, known, Settings())
    assert [(candidate.note.id, candidate.fused.value) for candidate in by_score] == [(2, 1.0), (1, 0.35)]
    by_rank = fuse(lists, known, RRF)
    assert by_rank[0].fused.value == by_rank[1].fused.value


def test_a_list_whose_best_score_says_nothing_adds_nothing():
    (candidate,) = fuse([RankedList("keyword", (Hit(1, 1, 0.0, ""),), best=0.0)], {1: make_note(1)}, Settings())
    assert candidate.fused.value == 0.0


@given(st.data())
def test_fusing_does_not_depend_on_the_order_of_the_lists(data):
    known = data.draw(notes())
    lists = data.draw(ranked_lists([note.id for note in known]))
    by_id = {note.id: note for note in known}
    assert numbers_of(fuse(lists, by_id, RRF)) == numbers_of(fuse(lists[::-1], by_id, RRF))


@given(st.data())
def test_a_strategy_of_weight_zero_finds_nothing(data):
    known = data.draw(notes())
    lists = data.draw(ranked_lists([note.id for note in known]))
    by_id = {note.id: note for note in known}
    without = fuse([ranked for ranked in lists if ranked.strategy != "graph"], by_id, RRF)
    assert numbers_of(fuse(lists, by_id, replace(RRF, weights={"graph": 0.0}))) == numbers_of(without)


def test_equal_scores_stand_newer_first_then_by_id():
    known = {1: make_note(1), 2: make_note(2, EPOCH + timedelta(days=1)), 3: make_note(3)}
    made = [Candidate(note, {}) for note in known.values()]
    assert numbers_of(adjust([c.with_(relevance=c.fused) for c in made], EPOCH, Settings(recency_weight=0.0))) == [
        2,
        1,
        3,
    ]


def test_a_stale_note_found_alone_brings_the_head_of_its_chain():
    old, head = make_note(1, superseded_by=(2,)), make_note(3)
    alone = fuse_alone(old)
    found = complete(alone, {1: (2,), 2: (3,)}, {3: head})
    assert {candidate.note.id: candidate.completes for candidate in found} == {1: None, 3: 1}
    assert found[0].fused.value == found[1].fused.value


def test_every_candidate_knows_the_candidates_that_replace_it_also_through_others():
    known = {1: make_note(1, superseded_by=(2,)), 3: make_note(3)}
    found = complete(fuse_alone(known[1]), {1: (2,), 2: (3,)}, {3: known[3]})
    assert {candidate.note.id: candidate.superseders for candidate in found} == {1: (3,), 3: ()}


def fuse_alone(note):
    return fuse([RankedList("keyword", (Hit(note.id, 1, 1.0, ""),))], {note.id: note}, RRF)


@given(st.dictionaries(st.integers(1, 9), st.lists(st.integers(1, 9), max_size=3).map(tuple)), st.integers(1, 9))
def test_finding_the_head_of_a_chain_ends_even_in_a_corrupt_cycle(successors, number):
    found = heads(number, successors)
    assert number not in found
    assert all(not successors.get(head) for head in found)


@given(candidates(), st.floats(0.0, 1.0), st.floats(-30.0, 30.0))
def test_relevance_is_the_sum_of_its_parts_and_at_most_one(found, weight, logit):
    logits = {candidate.note.id: logit + candidate.note.id for candidate in found[:4]}
    reranked = rerank(found, logits, weight)
    for candidate in reranked:
        assert 0.0 <= candidate.relevance.value <= 1.0 + 1e-9
        assert candidate.relevance.value == candidate.relevance.part("fused") + candidate.relevance.part("reranker")
        assert (candidate.reranking is not None) == (candidate.note.id in logits)
    values = [candidate.relevance.value for candidate in reranked]
    assert values == sorted(values, reverse=True)


@given(candidates())
def test_without_a_reranker_the_order_is_the_fused_one(found):
    order = numbers_of(rerank(found, {}, 0.5))
    expected = sorted(found, key=lambda c: (-c.fused.value, -c.note.created_at.timestamp(), c.note.id))
    assert order == numbers_of(expected)


@given(st.floats(allow_nan=False))
def test_the_sigmoid_stays_between_zero_and_one(logit):
    assert 0.0 <= sigmoid(logit) <= 1.0


@given(moments, moments, st.floats(0.01, 10_000.0))
def test_a_time_in_the_future_in_1970_or_a_century_off_keeps_recency_between_zero_and_one(created, at, half_life):
    assert 0.0 <= decay(age_days(created, at), half_life) <= 1.0


@given(candidates(), moments)
def test_every_final_score_is_the_sum_of_its_leaves(found, at):
    settings = Settings()
    for candidate in adjust(found, at, settings):
        best = max(other.relevance.value for other in found)
        expected = math.fsum(
            [
                candidate.relevance.value / best,
                settings.recency_weight * 0.5 ** (candidate.age_days / settings.half_life_days),
                settings.pinned_bonus if candidate.note.pinned else 0.0,
                -10.0 if candidate.note.superseded_by else 0.0,
            ]
        )
        assert candidate.final.value == expected


@given(candidates(), moments)
def test_a_stale_note_never_scores_above_a_current_one(found, at):
    adjusted = adjust(found, at, Settings())
    stale = [bool(candidate.note.superseded_by) for candidate in adjusted]
    assert stale == sorted(stale)


def test_settings_under_which_a_stale_note_could_win_are_refused():
    with pytest.raises(BadSetting):
        check(replace(Settings(), superseded_penalty=1.0))


@given(candidates())
def test_the_clamp_puts_each_stale_note_below_all_that_supersede_it(found):
    clamped = numbers_of(clamp(found))
    for candidate in found:
        for successor in candidate.superseders:
            if successor in clamped:
                assert clamped.index(candidate.note.id) > clamped.index(successor)


@given(candidates(cycles=True))
def test_the_clamp_keeps_every_candidate_and_ends_in_a_corrupt_cycle(found):
    assert sorted(numbers_of(clamp(found))) == sorted(numbers_of(found))


@given(candidates())
def test_the_clamp_moves_nothing_the_second_time(found):
    once = clamp(found)
    assert numbers_of(clamp(once)) == numbers_of(once)


def test_a_chain_ends_newest_first():
    chain = [make_note(1, superseded_by=(2,)), make_note(2, superseded_by=(3,)), make_note(3)]
    superseders = {1: (2, 3), 2: (3,), 3: ()}
    clamped = clamp([Candidate(note, {}, superseders=superseders[note.id]) for note in chain])
    assert numbers_of(clamped) == [3, 2, 1]
    assert [bool(candidate.move) for candidate in clamped] == [False, False, True]


def test_a_chain_keeps_its_order_when_its_middle_was_not_found():
    known = [make_note(1, superseded_by=(2,)), make_note(3)]
    found = [Candidate(known[0], {}, superseders=(3,)), Candidate(known[1], {})]
    assert numbers_of(clamp(found)) == [3, 1]


def test_a_least_score_leaves_nothing_out_when_nothing_was_read():
    assert [c.cut for c in cut([Candidate(make_note(1), {})], Settings(min_score=0.9), shorten)] == [None]


budgets = st.builds(
    Settings,
    limit=st.integers(1, 20),
    max_tokens=st.integers(1, 200),
    current_only=st.booleans(),
)


@given(candidates(), budgets)
def test_the_cut_keeps_the_order_the_limit_and_the_budget(found, settings):
    result = cut(clamp(found), settings, shorten)
    kept = [candidate for candidate in result if candidate.cut is None]
    assert numbers_of(result) == numbers_of(clamp(found))
    assert len(kept) <= settings.limit
    assert sum(candidate.tokens for candidate in kept) <= settings.max_tokens
    if settings.current_only:
        assert not any(candidate.note.superseded_by for candidate in kept)


@given(candidates(), budgets)
def test_no_stale_note_is_kept_while_its_superseder_was_cut(found, settings):
    result = cut(clamp(found), settings, shorten)
    gone = {candidate.note.id for candidate in result if candidate.cut}
    for candidate in result:
        if candidate.cut is None:
            assert not gone & set(candidate.superseders)


@given(candidates(), st.integers(1, 10), st.integers(1, 200))
def test_a_smaller_limit_keeps_a_start_of_what_a_larger_one_keeps(found, limit, budget):
    def kept(most):
        result = cut(clamp(found), Settings(limit=most, max_tokens=budget), shorten)
        return [c.note.id for c in result if c.cut is None and not c.note.superseded_by]

    assert kept(50)[: len(kept(limit))] == kept(limit)


def test_a_budget_below_the_best_hit_gives_it_alone_and_shortened():
    long = make_note(1, body="A first sentence. A second sentence.", tokens=9)
    result = cut([Candidate(long, {}), Candidate(make_note(2, tokens=1), {})], Settings(max_tokens=5), shorten)
    assert [(c.note.id, c.cut, c.shortened) for c in result] == [(1, None, True), (2, "budget", False)]
    assert result[0].tokens <= 5


def test_what_is_too_long_is_skipped_and_the_next_that_fits_is_kept():
    made = [Candidate(make_note(n, tokens=tokens), {}) for n, tokens in ((1, 4), (2, 9), (3, 4))]
    assert [c.cut for c in cut(made, Settings(max_tokens=10), shorten)] == [None, "budget", None]


def test_the_reranker_reads_the_date_then_the_passage():
    text = dated(make_note(1, EPOCH.replace(year=2022, month=6, day=5)), "Anna bought a car.", EPOCH.tzinfo)
    assert text == "[Date: June 05, 2022] Anna bought a car."


# Updates


def answered(number, days, body, relevance=1.0, sure=0.9, **changes):
    """A candidate that the cross-encoder read, written some days after the epoch."""
    note = make_note(number, EPOCH + timedelta(days=days), body=body, **changes)
    made = Candidate(note, {}, passage=body, reranking=Reranking(0.0, sure, number, number))
    return made.with_(relevance=Score((Part("fused", relevance),)))


SCORE_QUERY = ("highest", "score", "ticket", "ride")
STALE_SCORE = "I love board games. My highest score in Ticket to Ride is 124 points."
NEW_SCORE = "Building is fun. I just got my highest score in Ticket to Ride: 132 points!"


def order_after_updates(made, words=SCORE_QUERY, **settings):
    later = max(candidate.note.created_at for candidate in made)
    return numbers_of(adjust(update(made, words), later, Settings(recency_weight=0.0, **settings)))


def test_of_two_notes_that_answer_alike_and_state_another_value_the_newer_goes_first():
    made = [answered(1, 0, STALE_SCORE), answered(2, 5, NEW_SCORE, relevance=0.8)]
    found = {candidate.note.id: candidate.update for candidate in update(made, SCORE_QUERY)}
    assert (found[1], found[2].old, found[2].values) == (None, 1, ("132",))
    assert set(found[2].shared) == {"highest", "score", "ticket", "ride"}
    assert order_after_updates(made) == [2, 1]


def test_a_chain_of_updates_stands_newest_first():
    made = [
        answered(1, 0, "The deploy takes 40 minutes", 1.0),
        answered(2, 5, "The deploy takes 30 minutes", 0.9),
        answered(3, 9, "The deploy takes 12 minutes", 0.8),
    ]
    assert order_after_updates(made, ("deploy", "takes")) == [3, 2, 1]


def test_nearly_the_same_sentence_is_an_update_without_a_number():
    made = [answered(1, 0, "I drink coffee every morning"), answered(2, 5, "I drink tea every morning", 0.9)]
    assert order_after_updates(made, ("drink", "morning")) == [2, 1]


@pytest.mark.parametrize(
    "newer",
    [
        answered(2, 5, NEW_SCORE, relevance=0.5),  # much less relevant
        answered(2, 5, NEW_SCORE, sure=0.4),  # hardly an answer
        answered(2, 0, NEW_SCORE),  # of the same time
        answered(2, 5, "My highest score in Ticket to Ride is 124 points, by far.", relevance=0.9),  # no other value
        answered(2, 5, "Catan: 12 points yesterday, quite a game", relevance=0.9),  # of something else
        answered(2, 5, NEW_SCORE, relevance=0.9, superseded_by=(3,)),  # superseded itself
    ],
)
def test_what_is_less_sure_or_about_something_else_updates_nothing(newer):
    made = [answered(1, 0, STALE_SCORE), newer]
    assert [candidate.update for candidate in update(made, SCORE_QUERY)] == [None, None]


def test_only_the_best_few_notes_update_each_other():
    others = [answered(n, 0, f"other {n}", 0.95) for n in (3, 4)]
    made = [answered(1, 0, STALE_SCORE), *others, answered(2, 5, NEW_SCORE, 0.9)]
    assert order_after_updates(made)[0] == 1


def test_a_pin_on_the_older_note_still_counts():
    made = [answered(1, 0, STALE_SCORE, pinned=True), answered(2, 5, NEW_SCORE, relevance=0.8)]
    assert order_after_updates(made) == [1, 2]


@given(candidates())
def test_marking_updates_keeps_the_order_and_every_number(made):
    after = update(made, ("text", "note"))
    assert [candidate.with_(update=None) for candidate in after] == made
