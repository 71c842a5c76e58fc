"""The temporal strategy: the notes whose event time meets the window of the query, or comes near it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memora_cli.retrieve.semantic import nearest_notes
from memora_cli.retrieve.source import Found, Source, rank
from memora_cli.store import conditions, graph, notes, times
from memora_cli.values import RankedList, Window

STOP_BELOW = 0.1
OPEN_SPAN = timedelta(days=30)  # the unit of distance for a window that is open on one side
DECAY = 0.8
INSTANT = timedelta(minutes=1)  # the least distance of what does not meet the window
MENTIONS = 4  # spans read for each note wanted, as a text may mention several
SPREADS_OVER = frozenset({"temporal", *graph.CAUSAL})


def temporal(source: Source) -> RankedList:
    """Nearest to the window first: 1 inside it, falling with the distance in window lengths; ties by cosine.

    A note is where its event (else its creation) is, or where its text mentions to be, whichever is nearer.
    """
    window = source.understood.window
    if window is None:
        return RankedList("temporal", skipped="the query names no time")
    limit = source.settings.strategy_limit
    near: dict[int, tuple[int, float]] = {}
    events: dict[int, times.Event] = {}
    said: dict[int, list[tuple[datetime, datetime]]] = {}
    for scope in source.scopes():
        meets = conditions.meets(window.start, window.end)
        if source.understood.embedding is not None:
            near |= nearest_notes(source, scope & (meets | times.mentions(source.space, window)), limit)
        events |= times.events(source.connection, scope & meets, limit)
        events |= times.events(source.connection, scope & ~meets, limit, around=window)
        said |= times.mentioned(source.connection, scope, window, limit * MENTIONS)
    those_near = conditions.with_ids(source.space, near, source.as_of)
    events |= times.events(source.connection, those_near, None)
    said |= times.mentioned(source.connection, those_near, window, None)
    proximity = {note_id: closeness(window, event) for note_id, event in events.items()}
    reasons = {note_id: describe(window, event) for note_id, event in events.items()}
    for note_id, spans in said.items():
        value, span = max((fit(window, *span), span) for span in spans)
        if value > proximity.get(note_id, 0.0):
            proximity[note_id], reasons[note_id] = value, f"mentions {_span(window, *span)}"
    _spread(source, proximity, reasons)
    found = [
        Found(note_id, value, reasons[note_id], *near.get(note_id, (None, 0.0)))
        for note_id, value in proximity.items()
        if value >= STOP_BELOW
    ]
    return RankedList("temporal", rank(source, found))


def fit(window: Window, start: datetime, end: datetime) -> float:
    """How well a mentioned span that meets the window fits it: from 0.5 to 1 by the share of it that lies inside."""
    inside = min(end, window.end or end) - max(start, window.start or start)
    return 0.5 + 0.5 * (inside / (end - start))


def _span(window: Window, start: datetime, end: datetime) -> str:
    zone = (window.start or window.end or start).tzinfo
    first, last = start.astimezone(zone), end.astimezone(zone) - timedelta(microseconds=1)
    return f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def closeness(window: Window, event: times.Event) -> float:
    """1 when the event meets the half-open window, else 1 / (1 + distance / length), below 1.

    The length of a window that is open on one side is 30 days.
    """
    distance = _distance(window, event)
    length = window.end - window.start if window.start and window.end else OPEN_SPAN
    return 1.0 / (1.0 + abs(distance) / max(length, INSTANT))


def _distance(window: Window, event: times.Event) -> timedelta:
    """How far the event's far edge lies beyond the window: negative before it, 0 when they meet."""
    if window.end and event.start and event.start >= window.end:
        return max(INSTANT, (event.end or event.start) - window.end)
    ended = event.end is not None and window.start is not None
    if ended and (event.end < window.start or (event.end == window.start != event.start)):  # type: ignore[operator]
        return min(-INSTANT, (event.start or event.end) - window.start)  # type: ignore[operator]
    return timedelta(0)


def describe(window: Window, event: times.Event) -> str:
    """The day of the event, and how far it is from the window."""
    moment = event.start or event.end
    zone = (window.start or window.end or moment or datetime.now(UTC)).tzinfo
    day = f"{moment.astimezone(zone):%Y-%m-%d}" if moment else "it"
    distance = _distance(window, event)
    if not distance:
        return f"{day} is inside"
    days = max(1, round(abs(distance) / timedelta(days=1)))
    return f"{day} is {days} {'day' if days == 1 else 'days'} {'after' if distance > timedelta(0) else 'before'}"


def _spread(source: Source, proximity: dict[int, float], reasons: dict[int, str]) -> None:
    """One step from what is inside the window, over temporal and causal links, to what has no better standing."""
    inside = [note_id for note_id, value in proximity.items() if value == 1.0]
    found = graph.edges(source.connection, source.space, inside, hub=0, as_of=source.as_of)
    reached = [edge for edge in found if edge.relation in SPREADS_OVER]
    allowed = notes.allowed(source.connection, source.query.filters, {edge.target for edge in reached})
    for edge in reached:
        value = min(0.99, edge.weight * DECAY)
        if edge.target in allowed and value > proximity.get(edge.target, 0.0):
            proximity[edge.target] = value
            reasons[edge.target] = f"#{edge.source} → {edge.relation} → #{edge.target}"
