"""Source text and JSON of Java and JavaScript arguments as JSON values of the declared type."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.importers.bfcl.native import native_value


def of(inner: str, outer: str = "ArrayList") -> dict[str, Any]:
    return {"type": outer, "items": {"type": inner}}


JAVA = [
    ("5", "integer", 5),
    ("-5", "integer", -5),
    ("5L", "long", 5),
    ("5", "long", 5),
    ("1_000", "integer", 1000),
    ("0x1F", "integer", 31),
    ("0b101", "integer", 5),
    ("017", "integer", 15),
    ("(long) 5", "long", 5),
    ("Long.valueOf(5)", "long", 5),
    ('"5"', "integer", '"5"'),
    ("count", "integer", "count"),
    ("1 + 2", "integer", "1 + 2"),
    ("true", "integer", "true"),
    ("3.5f", "float", 3.5),
    ("3", "double", 3.0),
    ("1e3", "double", 1000.0),
    ("true", "boolean", True),
    ("Boolean.FALSE", "boolean", False),
    ('"true"', "boolean", '"true"'),
    ("'c'", "char", "c"),
    ("c", "char", "c"),
    ('"a\\n\\"b\\" \\u00fc \\101"', "String", 'a\n"b" ü A'),
    ('new String("a")', "String", "a"),
    ("SELECT * FROM t", "String", "SELECT * FROM t"),
    ("", "String", ""),
    ("5", "String", "5"),
    ('"x"', "any", "x"),
    ("x", "any", "x"),
    ("5", "any", "5"),
    ('new ArrayList<>(Arrays.asList("a", "b, c"))', of("String"), ["a", "b, c"]),
    ('List.of("a", "b")', of("String"), ["a", "b"]),
    ("Set.of(1, 2)", of("integer", "Set"), [1, 2]),
    ("java.util.List.of(1)", of("integer"), [1]),
    ("new ArrayList<>(List.of(1f))", of("float"), [1.0]),
    ("Arrays.asList(1, 2)", of("double"), [1.0, 2.0]),
    ('new ArrayList<String>() {{ add("a"); add("b"); }}', of("String"), ["a", "b"]),
    ("new ArrayList<>() {{ addAll(List.of(1, 2)); }}", of("integer"), [1, 2]),
    ("new LinkedList<>()", "Queue", []),
    ("new ArrayList<>(10)", "ArrayList", []),
    ("Collections.emptyList()", "ArrayList", []),
    ("Collections.singletonList(1)", "ArrayList", [1]),
    ("new int[]{1, 2}", of("integer", "Array"), [1, 2]),
    ("{1, 2}", "Array", [1, 2]),
    ('new String[]{"a"}', of("String", "Array"), ["a"]),
    ("new int[][]{{1}, {2}}", "Array", [[1], [2]]),
    ("List.of(a, b.c(), null)", "ArrayList", ["a", "b.c()", None]),
    ('["a", 1]', "ArrayList", ["a", 1]),
    ("names", of("String"), "names"),
    ("new int[5]", "Array", "new int[5]"),
    ('new HashMap<String, Integer>() {{ put("a", 1); put("b", 2); }}', "HashMap", {"a": 1, "b": 2}),
    ('Map.of("a", List.of(1), "b", Map.of())', "HashMap", {"a": [1], "b": {}}),
    ('new HashMap<>(Map.of("a", 1))', "HashMap", {"a": 1}),
    ('Map.ofEntries(Map.entry("a", 1))', "HashMap", {"a": 1}),
    ('Collections.singletonMap("a", 1)', "HashMap", {"a": 1}),
    ("Collections.emptyMap()", "HashMap", {}),
    ("new Hashtable<>()", "Hashtable", {}),
    ('{"a": 1}', "HashMap", {"a": 1}),
    ("Map.of(1, 2)", "HashMap", "Map.of(1, 2)"),
    ("Map.ofEntries(1)", "HashMap", "Map.ofEntries(1)"),
    ("List.of(1)", "HashMap", "List.of(1)"),
    ("new A()", "HashMap", "new A()"),
    ("f(1, 2)", "ArrayList", "f(1, 2)"),
    ("List.copyOf(a, b)", "ArrayList", "List.copyOf(a, b)"),
    ("int x; y", "integer", "int x; y"),
]


@pytest.mark.parametrize(("text", "declared", "value"), JAVA)
def test_java(text: str, declared: Any, value: Any) -> None:
    found = native_value(text, declared, "java")
    assert (type(found), found) == (type(value), value)


JAVASCRIPT = [
    ("5", "integer", 5),
    ("5n", "Bigint", 5),
    ("5", "Bigint", 5),
    ('BigInt("5")', "Bigint", 5),
    ("BigInt('x')", "Bigint", "BigInt('x')"),
    ("-3.5", "float", -3.5),
    ("+3", "float", 3.0),
    ("!3", "float", "!3"),
    ("0x1f", "integer", 31),
    ("true", "Boolean", True),
    ("True", "Boolean", "True"),
    ("'a'", "String", "a"),
    ("`a`", "String", "a"),
    ("`a${b}`", "String", "`a${b}`"),
    ('"\\u{1F600}\\x41\\q"', "String", "\U0001f600Aq"),
    ('"\\u{110000}"', "String", "\\u{110000}"),
    ("\ud800", "String", "\ud800"),
    ("[1, 'a, b', [2]]", "array", [1, "a, b", [2]]),
    ("[1, 2]", of("float", "array"), [1.0, 2.0]),
    ("new Array(1, 2)", "array", [1, 2]),
    ("new Array(5)", "array", "new Array(5)"),
    ("Array.of(5)", "array", [5]),
    ("new Set([1])", "array", [1]),
    ("new Set()", "array", []),
    ("Array.from(5)", "array", "Array.from(5)"),
    ("[a, () => 1, /* no */ 2]", "array", ["a", "() => 1", 2]),
    ("items", of("String", "array"), "items"),
    ("{a: [1, 'b'], 'c d': x, e}", "dict", {"a": [1, "b"], "c d": "x", "e": "e"}),
    ('{"a": ["b", "c"]}', "dict", {"a": ["b", "c"]}),
    ("{/* no */ a: 1}", "dict", {"a": 1}),
    ("{...a}", "dict", "{...a}"),
    ("{[a]: 1}", "dict", "{[a]: 1}"),
    ("new Map([['a', 1]])", "dict", {"a": 1}),
    ("new Map([1])", "dict", "new Map([1])"),
    ("new Map()", "dict", {}),
    ("Object.fromEntries([['a', 1]])", "dict", {"a": 1}),
    ("new Date(2024, 1)", "dict", "new Date(2024, 1)"),
    ("new Date('2024')", "any", "new Date('2024')"),
    ("undefined", "any", "undefined"),
    ("(5)", "integer", 5),
    ("()", "integer", "()"),
    ("1; 2", "integer", "1; 2"),
]


@pytest.mark.parametrize(("text", "declared", "value"), JAVASCRIPT)
def test_javascript(text: str, declared: Any, value: Any) -> None:
    found = native_value(text, declared, "javascript")
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("value", [5, 5.0, True, None, [1, "a"], {"a": 1}])
def test_json_values_stay_as_they_are(value: Any) -> None:
    assert native_value(value, "integer", "java") is value


def test_the_elements_of_a_json_list_may_still_be_source_text() -> None:
    assert native_value([1, "2L", "x"], of("long"), "java") == [1, 2, "x"]


def test_the_members_of_an_object_go_by_their_own_types() -> None:
    document = {"type": "dict", "properties": {"a": {"type": "float"}, "b": of("float", "array")}}
    read = native_value("{a: 1, b: [2], c: 3}", document, "javascript")
    assert [type(each) for each in (read["a"], read["b"][0], read["c"])] == [float, float, int]


def test_an_integer_beyond_every_float_stays_one() -> None:
    assert native_value("1" * 400, "double", "java") == int("1" * 400)


@pytest.mark.parametrize("language", ["java", "javascript"])
@pytest.mark.parametrize("text", ["[" * 3000, "(" * 3000, "{" * 3000, "[" * 150 + "]" * 150, "1" * 10_000])
def test_deep_or_long_text_is_no_trouble(text: str, language: Any) -> None:
    for declared in ("array", "integer", "dict", "String"):
        native_value(text, declared, language)


PIECES = [
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "1",
    "a",
    ",",
    "'",
    '"',
    "new ",
    "Map",
    "List.of",
    "put",
    ";",
    "<>",
    ":",
    "\\",
    "ü",
]


@given(
    text=st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=20),
    declared=st.sampled_from(
        ["integer", "float", "String", "any", "ArrayList", "HashMap", "array", "dict", "unheard of"]
    ),
    language=st.sampled_from(["java", "javascript"]),
)
def test_no_text_makes_it_raise(text: str, declared: str, language: Any) -> None:
    native_value(text, declared, language)
