"""JSON values as hypothesis draws them: what a model can say, and the part of it that RFC 8785 defines."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

SURROGATES = st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF, categories=["Cs"])
ANY_TEXT = st.text(st.one_of(st.characters(exclude_categories=[]), SURROGATES), max_size=12)
PLAIN_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def nested(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=16,
    )


ANYTHING = nested(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**60), max_value=10**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    ANY_TEXT,
)
"""Big integers, surrogates, -0.0 and all."""

DEFINED = nested(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
    | PLAIN_TEXT,
    PLAIN_TEXT,
)
"""Where RFC 8785 and our canonical form are both defined and mean the same."""


def identical(one: Any, other: Any) -> bool:
    """Equal in type and content, key order ignored and nothing else. An oracle apart from `canonical`."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(identical(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(identical, one, other))
    return repr(one) == repr(other)


def tower(levels: int, *, inside: Any = None, kind: str = "list") -> Any:
    """`levels` containers, one in the other, the innermost holding `inside` (or nothing)."""
    value = inside
    for level in range(levels):
        empty = level == 0 and inside is None
        value = ([] if empty else [value]) if kind == "list" else ({} if empty else {"k": value})
    return value
