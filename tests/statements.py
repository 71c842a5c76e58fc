"""Reads SQL as a distributed database would: does every table that a statement touches have a predicate on `space`?"""

from __future__ import annotations

import re
from collections import Counter

from memora_cli.store.schema import metadata

TABLES = (*metadata.tables, "embeddings")
USED = re.compile(rf"\b(FROM|JOIN|UPDATE|INTO|,)\s+({'|'.join(TABLES)})\b(?:\s+AS\s+(\w+))?(?!\.)", re.IGNORECASE)
ALLOWED = {
    r"SELECT DISTINCT (notes|changes|aliases)\.space\s+FROM \w+": "lists the spaces, for an export of all",
    r"SELECT notes\.id\s+FROM notes\s+WHERE notes\.id IN": "ids are unique in the database, whatever the space",
    r"SELECT count\(\*\) AS count_1, count\(distinct\(notes\.space\)\)": "doctor counts the spaces",
    r"SELECT count\(distinct\(notes\.id\)\) AS count_1\s+FROM passages JOIN notes": "doctor looks at every space",
    r"SELECT count\(\*\) AS count_1\s+FROM (passages|vectors|supersessions|links)\s+WHERE NOT \(EXISTS": "doctor, too",
    r"SELECT vectors\.model, length\(vectors\.vector\)": "doctor, too",
    r"^SELECT vectors\.space, [\w., ]+\s+FROM vectors$": "doctor, too",
    r"SELECT vectors\.space, vectors\.model\s+FROM vectors UNION": "doctor, too",
    r"FROM \(SELECT vectors\.space AS space, vectors\.model AS model": "doctor, too",
}
"""Statements over all spaces, and why they may be: everywhere else a space leads to one server of many."""


def unbound(statement: str) -> list[str]:
    """The tables of a statement that no predicate binds to a space."""
    if re.match(r"\s*(CREATE|ALTER|DROP|COMMENT|VACUUM|EXPLAIN)\b", statement):
        return []
    if any(re.search(allowed, statement) for allowed in ALLOWED):
        return []
    used: Counter[str] = Counter()
    missing = []
    for match in USED.finditer(statement):
        word, table, alias = match[1].upper(), match[2], match[3]
        if word == "INTO":
            if not re.match(r"\s*\(\s*space\b", statement[match.end() :]):
                missing.append(table)
        elif word != "," or alias:
            used[alias or table] += 1
    for name, times in used.items():
        bare = rf"\b{name}\s+WHERE\s+space\s*="  # what is written by hand names one table only
        predicate = rf"(?<![\w.]){name}\.space\s*(?:=|IN\b)|=\s*{name}\.space\b|\({name}\.space,[^)]*\)\s+IN\b|{bare}"
        if len(re.findall(predicate, statement)) < times:
            missing.append(name)
    return missing
