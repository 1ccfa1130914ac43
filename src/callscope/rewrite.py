"""The one walker that changes schemas: rules are data, and every change they make is recorded.

Knows JSON Schema's places for subschemas, and nothing of any provider, fallback or suite; those bring the rules. The
schema given is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from callscope.contract import Transformation

__all__ = ["Dialect", "Rule", "Schema", "escape_pointer", "rewrite", "without"]

Schema = dict[str, Any]

_PASSES = 8
"""How often the rules may run at one schema: a rule can bring in a keyword that an earlier one is about."""


class Rule(NamedTuple):
    """What to do about one keyword where it stands: `change` returns the schema to take its place, None to leave it."""

    name: str
    keyword: str
    change: Callable[[Schema], Schema | None]


class Dialect(NamedTuple):
    """What a schema is turned into. With `inline`, local references give way to what they point to (rule
    `ref_inlined`; `recursive_ref` where that would not end). `rules` run in order at each schema, outermost first,
    until nothing changes; then every keyword that is `dropped`, or not `kept` (None: all are), is removed (rule
    `keyword_removed`), and the subschemas under `maps`, `lists` and `ones` follow. Schemas nested deeper than `depth`
    are emptied (rule `too_deep`), and so are those that are no object, unless `booleans` may stay."""

    rules: Sequence[Rule]
    kept: frozenset[str] | None = None
    dropped: frozenset[str] = frozenset()
    inline: bool = True
    booleans: bool = False
    maps: Sequence[str] = ("properties",)
    lists: Sequence[str] = ("anyOf",)
    ones: Sequence[str] = ("items",)
    depth: int = 16

    def keeps(self, keyword: str) -> bool:
        """Whether a keyword stays."""
        return keyword not in self.dropped and (self.kept is None or keyword in self.kept)


def rewrite(schema: Schema, dialect: Dialect, pointer: str, changes: list[Transformation]) -> Schema:
    """`schema` in the dialect; `changes` gets one entry for each change, its pointer below `pointer`."""
    rewritten: Schema = _Walk(dialect, schema, changes).at(schema, pointer, 0, frozenset())
    return rewritten


def escape_pointer(name: str) -> str:
    """A name as a step of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def without(schema: Schema, keyword: str) -> Schema:
    """A schema without one of its keywords."""
    return {name: value for name, value in schema.items() if name != keyword}


class _Walk:
    def __init__(self, dialect: Dialect, root: Schema, changes: list[Transformation]) -> None:
        self.dialect, self.root, self.changes = dialect, root, changes

    def at(self, schema: Any, pointer: str, depth: int, inside: frozenset[str]) -> Any:
        """The schema at `pointer` rewritten; `inside` are the references it stands in."""
        dialect = self.dialect
        if dialect.booleans and not isinstance(schema, dict):
            return schema
        if not isinstance(schema, dict) or depth > dialect.depth:
            self.changes.append(
                Transformation(pointer, "too_deep" if isinstance(schema, dict) else "boolean_schema", schema, {})
            )
            return {}
        schema, inside = self._apply(schema, pointer, inside)
        for name in [name for name in schema if not dialect.keeps(name)]:
            self._record(pointer, name, "keyword_removed", schema, {})
        kept = {name: value for name, value in schema.items() if dialect.keeps(name)}

        def follow(value: Any, *steps: str) -> Any:
            below = "/".join([pointer, *(escape_pointer(step) for step in steps)])
            return self.at(value, below, depth + 1, inside)

        for name in dialect.maps:
            if isinstance(kept.get(name), Mapping):
                kept[name] = {key: follow(value, name, key) for key, value in kept[name].items()}
        for name in dialect.lists:
            if isinstance(kept.get(name), list):
                kept[name] = [follow(value, name, str(place)) for place, value in enumerate(kept[name])]
        for name in dialect.ones:
            if name in kept:
                kept[name] = follow(kept[name], name)
        return kept

    def _apply(self, schema: Schema, pointer: str, inside: frozenset[str]) -> tuple[Schema, frozenset[str]]:
        """The schema after references and rules, and the references it then stands in."""
        for _ in range(_PASSES):
            before = schema
            while self.dialect.inline and isinstance(reference := schema.get("$ref"), str):
                schema = self._resolve(schema, reference, pointer, inside)
                inside |= {reference}
            for rule in self.dialect.rules:
                changed = rule.change(schema) if rule.keyword in schema else None
                if changed is not None:
                    self._record(pointer, rule.keyword, rule.name, schema, changed)
                    schema = changed
            if schema is before:
                break
        return schema, inside

    def _resolve(self, schema: Schema, reference: str, pointer: str, inside: frozenset[str]) -> Schema:
        target: Any = self.root if reference.startswith("#") else None
        for step in reference.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, dict) else None
        rest = without(schema, "$ref")
        if reference in inside or not isinstance(target, dict):
            rule = "recursive_ref" if reference in inside else "unknown_ref"
            self.changes.append(Transformation(f"{pointer}/$ref", rule, reference, None))
            return rest
        self.changes.append(Transformation(f"{pointer}/$ref", "ref_inlined", reference, None))
        return {**target, **rest}

    def _record(self, pointer: str, keyword: str, rule: str, before: Schema, after: Schema) -> None:
        new = {name: value for name, value in after.items() if name not in before or before[name] != value}
        place = f"{pointer}/{escape_pointer(keyword)}"
        self.changes.append(Transformation(place, rule, before[keyword], new or None))
