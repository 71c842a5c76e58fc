"""The notes around a note: a tree on a terminal, plain lines in a pipe, and a drawing for Graphviz."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from memora_cli.memory import Neighbourhood
from memora_cli.render.terminal import on_terminal, plain, say, warn
from memora_cli.store.graph import Edge
from memora_cli.store.ties import INVERSE
from memora_cli.text.display import visible_line

FORWARD = {back: forth for forth, back in INVERSE.items()}
NAME = 80  # characters of a name in the tree
LABEL = 40  # and in a drawing


def print_graph(value: Neighbourhood, console: Console) -> None:
    """Every neighbour by kind of edge, with its weight; in a pipe: depth, from, relation, weight, to, names, note."""
    if not on_terminal():
        for depth, edge in _walk(value):
            name = value.notes[edge.target].name
            say(plain((depth, edge.source, edge.relation, _weight(edge), edge.target, edge.via, name)))
        return
    tree = Tree(_label(value, value.root))
    _grow(tree, value, value.root, _by_source(value))
    console.print(tree)
    if not value.tree:
        warn(f"memora: nothing is connected to note {value.root}: memora link makes links")


def _by_source(value: Neighbourhood) -> dict[int, list[Edge]]:
    found: dict[int, list[Edge]] = defaultdict(list)
    for edge in value.tree:
        found[edge.source].append(edge)
    return found


def _grow(tree: Tree, value: Neighbourhood, source: int, edges: dict[int, list[Edge]]) -> None:
    kinds: dict[str, Tree] = {}
    grown: set[int] = set()
    for edge in edges.get(source, ()):
        if edge.relation not in kinds:
            kinds[edge.relation] = tree.add(Text(edge.relation.replace("-", " "), style="italic"))
        label = _label(value, edge.target)
        if weight := _weight(edge):
            label.append(f"  {weight}", style="dim")
        if edge.via:
            label.append(f"  {visible_line(edge.via)}", style="dim")
        branch = kinds[edge.relation].add(label)
        if edge.target not in grown:
            grown.add(edge.target)
            _grow(branch, value, edge.target, edges)
    for (number, relation), more in value.omitted.items():
        if number == source and relation in kinds:
            kinds[relation].add(Text(f"… and {more} more (-n 0 shows them)", style="dim"))


def _label(value: Neighbourhood, number: int) -> Text:
    return Text.assemble((f"#{number}", "bold"), f" {_cut(value.notes[number].name, NAME)}")


def _cut(name: str, length: int) -> str:
    name = visible_line(name)
    return name if len(name) <= length else name[: length - 1] + "…"


def _weight(edge: Edge) -> str:
    """The weight of an edge; a supersession has none."""
    return "" if "supersede" in edge.relation else f"{edge.weight:.2f}"


def _walk(value: Neighbourhood) -> Iterator[tuple[int, Edge]]:
    """The edges of the tree with the steps from the root that they end at."""
    depths = {value.root: 0}
    for edge in value.tree:
        depths.setdefault(edge.target, depths[edge.source] + 1)
        yield depths[edge.target], edge


def dot(value: Neighbourhood) -> Iterator[str]:
    """The lines of a Graphviz drawing: every note once, every edge once and in its own direction."""
    yield "digraph memora {"
    yield "  node [shape=box, style=rounded];"
    for number, note in value.notes.items():
        root = ", penwidth=2" if number == value.root else ""
        yield f"  {number} [label={_quoted(f'#{number} {_cut(note.name, LABEL)}')}{root}];"
    drawn = set()
    for edge in (*value.tree, *value.others):
        source, target, relation = edge.source, edge.target, edge.relation
        directed = relation in FORWARD or relation in INVERSE
        if relation in FORWARD or (not directed and source > target):
            source, target = target, source
        relation = FORWARD.get(relation, relation)
        if (source, target, relation) in drawn:
            continue
        drawn.add((source, target, relation))
        label = " ".join(part for part in (visible_line(edge.via) or relation, _weight(edge)) if part)
        ends = "" if directed else ", dir=none"
        yield f"  {source} -> {target} [label={_quoted(label)}{ends}];"
    yield "}"


def _quoted(text: str) -> str:
    """A string of the DOT language: a backslash would begin an escape, a quotation mark end it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
