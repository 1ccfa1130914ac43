"""What holds for every outcome and every case: totality, consistency, symmetry, optimality, stable hashes."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scoring_kit import TOOLS, call, equals, judge

from callscope.canonical import canonical, canonical_hash
from callscope.contract import (
    Alternative,
    ArgumentRules,
    Attribution,
    Case,
    ErrorCategory,
    ExpectClarification,
    ExpectedCall,
    ExpectNoCall,
    ExpectText,
    ExpectTool,
    ExpectTools,
    Malformed,
    Outcome,
    ProviderError,
    Refusal,
    Selection,
    Semantics,
    Structure,
    Text,
    Tolerance,
    Tool,
    ToolCall,
    ToolCalls,
    Verdict,
    Violation,
)
from callscope.jsontext import dump_faithful, parse_json
from callscope.scoring import compare_values, evaluate, outcome_hash, verdict_hash
from callscope.scoring.alignment import align
from callscope.scoring.assignment import assign

NAMES = st.sampled_from(["lookup_order", "search_orders", "get_shipping_quote", "fly", ""])
KEYS = st.sampled_from(["order_id", "email", "status", "limit", "postal_code", "a/b", "~", ""]) | st.text(max_size=3)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "\u00e9", "e\u0301", "\ud800", "ORD-104821", "shipped"])
    | st.text(max_size=4)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
HUGE = st.sampled_from([10**400, -(10**400), 10**400 + 1, 2**63, 10**4000, 1e308])
ARGUMENTS = OBJECTS | st.dictionaries(KEYS, HUGE | st.lists(HUGE, max_size=2), max_size=2)
PLACES = KEYS.map(lambda key: "/" + key)
CONSTRAINTS = st.sampled_from(
    [{"integer": True}, {"type": "dict"}, {"minimum": 1}, {"pattern": "^a"}, {}, {"string": True, "null": True}]
)
TOLERANCES = st.builds(Tolerance, st.sampled_from([0.0, 0.5, 1.0, 1e308]), st.sampled_from([0.0, 1e-300, 0.1]))
RULES = st.builds(
    ArgumentRules,
    required_equals=ARGUMENTS,
    one_of=st.dictionaries(KEYS, st.lists(VALUES, max_size=2).map(tuple), max_size=2),
    optional=st.lists(KEYS, max_size=2).map(tuple),
    constraints=st.dictionaries(KEYS, CONSTRAINTS, max_size=2),
    forbidden=st.lists(KEYS, max_size=1).map(tuple),
    unordered=st.lists(PLACES, max_size=2).map(tuple),
    tolerance=st.dictionaries(
        PLACES,
        st.builds(Tolerance, st.sampled_from([0.0, 0.5, 1.0, 1e308]), st.sampled_from([0.0, 1e-400, 0.1])),
        max_size=1,
    ),
    temporal=st.lists(KEYS, max_size=1).map(tuple),
)
ALTERNATIVES = st.lists(st.builds(Alternative, RULES, st.none() | NAMES), max_size=2).map(tuple)
IDS = st.sampled_from(["x", "y"])
EXPECTED_CALLS = st.builds(
    ExpectedCall, NAMES, RULES, ALTERNATIVES, st.none() | IDS, st.lists(IDS, max_size=2).map(tuple)
)
EXPECTATIONS = (
    st.builds(ExpectTool, NAMES, RULES, ALTERNATIVES)
    | st.builds(ExpectTools, st.lists(EXPECTED_CALLS, max_size=3).map(tuple), st.booleans())
    | st.builds(ExpectText)
    | st.builds(ExpectNoCall, st.none() | NAMES)
    | st.builds(
        ExpectClarification,
        st.lists(KEYS, max_size=2).map(tuple),
        st.dictionaries(KEYS, st.just(("w", "")), max_size=1),
    )
)
CASES = st.builds(
    Case,
    st.just("id"),
    st.text(max_size=20),
    EXPECTATIONS,
    locale=st.sampled_from(["en", "de-DE", "zh", "", "xx", "pt_BR"]),
    tools=st.none() | st.lists(NAMES, max_size=2).map(tuple),
)
CALLS = (
    st.builds(ToolCall, st.none() | st.text(max_size=2), NAMES, ARGUMENTS)
    | st.builds(ToolCall, st.none(), NAMES, st.none(), st.builds(Malformed, st.just("syntax"), st.text(max_size=5)))
    | st.builds(ToolCall, st.none(), NAMES)
    | st.builds(ToolCall, st.none(), NAMES, st.just({"x": float("nan")}))
)
WORDS = st.sampled_from(
    ["", "Which postal code?", "I found your order.", "Please provide the order ID.", "请提供邮政编码。", "\ud800?"]
) | st.text(max_size=30)
FLAGS = st.lists(st.sampled_from(["text_tool_call", "reasoning_tool_call", "truncated"]), max_size=2).map(tuple)
OUTCOMES: st.SearchStrategy[Outcome] = (
    st.builds(ToolCalls, st.lists(CALLS, max_size=4).map(tuple), FLAGS, st.none() | WORDS)
    | st.builds(Text, WORDS, FLAGS)
    | st.builds(Refusal, st.none() | WORDS, FLAGS)
    | st.builds(
        ProviderError, st.sampled_from(get_args(ErrorCategory)), st.text(max_size=3), st.text(max_size=3), FLAGS
    )
)


def check(verdict: Verdict) -> None:
    """A verdict that contradicts itself fails here."""
    assert verdict.selection in get_args(Selection)
    assert verdict.structure in get_args(Structure)
    assert verdict.semantics in get_args(Semantics)
    assert verdict.attribution in get_args(Attribution)
    assert set(verdict.violations) <= set(get_args(Violation))
    assert set(verdict.decided_by) == {"acceptance", "selection", "structure", "semantics", "attribution", "passed"}
    assert len(set(verdict.flags)) == len(verdict.flags)
    right = verdict.selection in ("correct_tool", "clarified_as_expected", "abstained_correctly")
    if verdict.passed is True:
        assert right
        assert verdict.structure in ("valid", "not_applicable")
        assert verdict.semantics in ("exact", "acceptable", "not_applicable")
        assert verdict.violations == ()
        assert verdict.attribution == "correct"
    if verdict.passed is False:
        assert verdict.decided_by["passed"].endswith(("_failed", "_violated"))
        assert (
            not right
            or verdict.structure in ("invalid", "malformed")
            or verdict.semantics == "wrong"
            or verdict.violations
        )
    if verdict.acceptance != "accepted":
        assert (verdict.passed, verdict.selection, verdict.attribution) == (None, "not_observed", "not_observed")
    else:
        assert "not_observed" not in (verdict.selection, verdict.attribution)
    if verdict.structure == "malformed":
        assert verdict.passed is False
    if verdict.semantics == "wrong":
        assert verdict.attribution.startswith("parameter_error.")
    if verdict.attribution == "over_recall":
        assert verdict.selection in ("called_when_abstention_expected", "guessed_instead_of_clarifying")
    if verdict.attribution == "miss_recall":
        assert verdict.selection in ("wrong_tool", "no_call_when_expected", "refused", "clarified_unnecessarily")


@given(CASES, OUTCOMES)
@example(Case("c", "p", ExpectTools(())), ToolCalls((), ()))
def test_every_outcome_of_every_case_has_a_consistent_verdict(case: Case, outcome: Outcome) -> None:
    verdict = judge(case, outcome)
    check(verdict)
    assert verdict == judge(case, outcome)
    written = dump_faithful(msgspec.structs.asdict(verdict))
    assert canonical(parse_json(written).value["evidence"]) == canonical(verdict.evidence)
    assert len(verdict_hash(verdict)) == 64


def nested(value: Any, levels: int, *, in_object: bool) -> Any:
    for _ in range(levels):
        value = {"a": value} if in_object else [value]
    return value


@pytest.mark.parametrize("in_object", [True, False])
@pytest.mark.parametrize("levels", [198, 199, 200, 201, 20_000])
@pytest.mark.parametrize("digits", [0, 400, 5000])
def test_deep_and_huge_values_have_a_verdict(digits: int, levels: int, in_object: bool) -> None:
    number = 10**digits
    gold, near = (nested(one, levels, in_object=in_object) for one in (number, number + 1))
    places = tuple("/x" + ("/a" if in_object else "/0") * depth for depth in range(min(levels, 300)))
    rules = ArgumentRules({"x": gold}, unordered=places, tolerance={places[-1]: Tolerance(1.0)})
    case = Case("c", "p", ExpectTool("fly", rules))
    schema = {"properties": {"x": {"default": gold}}}
    for given_value in (gold, near):
        for tools in (TOOLS, (Tool("fly", "", {}), *TOOLS), (Tool("fly", "", schema),)):
            verdict = evaluate(case, tools, ToolCalls((call("fly", x=given_value),), ()))
            assert verdict.passed is not True or (given_value is gold and levels < 200)
            assert (verdict.structure == "malformed") is (levels >= 200)
    omitted = evaluate(case, (Tool("fly", "", schema),), ToolCalls((call("fly"),), ()))
    assert omitted.semantics == ("acceptable" if levels <= 200 else "wrong")


@given(st.integers(), st.integers(0, 10), st.integers(0, 500))
def test_a_tolerance_is_exact_for_integers_of_any_size(start: int, allowed: int, power: int) -> None:
    expected = start * 10**power
    tolerance = {"": Tolerance(float(allowed))}
    assert compare_values(expected, expected + allowed, tolerance=tolerance).result != "wrong"
    assert compare_values(expected, expected - allowed - 1, tolerance=tolerance).result == "wrong"


@given(CASES, OUTCOMES)
def test_nothing_that_is_judged_is_changed(case: Case, outcome: Outcome) -> None:
    before = repr((case, TOOLS, outcome))
    judge(case, outcome)
    assert repr((case, TOOLS, outcome)) == before


@given(CASES, OUTCOMES, st.sampled_from(get_args(ErrorCategory)))
def test_coverage_loss_never_depends_on_the_case(case: Case, outcome: Outcome, category: ErrorCategory) -> None:
    verdict = judge(case, ProviderError(category, "c", "m"))
    assert (verdict.passed, verdict.violations) == (None, ())


@given(OBJECTS)
def test_arguments_equal_to_the_rules_are_always_exact(arguments: dict[str, Any]) -> None:
    verdict = judge(Case("c", "p", ExpectTool("fly", equals())), ToolCalls((call("fly"),), ()))
    assert verdict.semantics == "exact"
    rules = ArgumentRules(required_equals=arguments)
    assert (
        judge(Case("c", "p", ExpectTool("fly", rules)), ToolCalls((ToolCall(None, "fly", arguments),), ())).semantics
        == "exact"
    )


@given(VALUES | HUGE, VALUES | HUGE)
def test_equality_is_symmetric(left: Any, right: Any) -> None:
    there, back = compare_values(left, right), compare_values(right, left)
    assert there.result == back.result
    assert len(there.differences) == len(back.differences)


@given(st.lists(VALUES, max_size=5), st.randoms(use_true_random=False))
def test_a_shuffled_multiset_is_equal_and_a_changed_one_is_not(items: list[Any], random: Any) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)
    assert compare_values(items, shuffled, unordered=("",)).result != "wrong"
    assert compare_values(items, [*shuffled, "one more"], unordered=("",)).result == "wrong"


@given(VALUES)
def test_equality_is_reflexive_and_as_fine_as_the_canonical_form(value: Any) -> None:
    assert compare_values(value, value).result == "exact"


@given(VALUES, VALUES)
def test_exact_equality_is_equality_of_canonical_forms(left: Any, right: Any) -> None:
    assert (compare_values(left, right).result == "exact") == (canonical(left) == canonical(right))


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@given(OBJECTS, VALUES)
def test_the_outcome_hash_ignores_key_order_ids_and_words_and_nothing_else(
    arguments: dict[str, Any], other: Any
) -> None:
    one = outcome_hash(ToolCalls((ToolCall("1", "f", arguments),), ()))
    assert one == outcome_hash(ToolCalls((ToolCall(None, "f", reordered(arguments)),), ("truncated",), "words"))
    changed = {**arguments, "changed": other}
    if "changed" not in arguments:
        assert one != outcome_hash(ToolCalls((ToolCall("1", "f", changed),), ()))
    assert one != outcome_hash(ToolCalls((ToolCall("1", "g", arguments),), ()))
    assert (canonical_hash(arguments) == canonical_hash(other)) == (canonical(arguments) == canonical(other))


MATRICES = st.integers(1, 5).flatmap(
    lambda rows: st.integers(rows, 6).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(0, 9) | st.just(10**9), min_size=columns, max_size=columns),
            min_size=rows,
            max_size=rows,
        )
    )
)


@given(MATRICES)
def test_the_assignment_costs_what_the_best_of_all_costs(costs: list[list[int]]) -> None:
    chosen = assign(costs)
    assert len(set(chosen)) == len(costs)
    best = min(
        sum(row[column] for row, column in zip(costs, columns, strict=True))
        for columns in itertools.permutations(range(len(costs[0])), len(costs))
    )
    assert sum(row[column] for row, column in zip(costs, chosen, strict=True)) == best


def test_an_assignment_needs_a_column_for_each_row() -> None:
    assert assign([]) == ()
    with pytest.raises(ValueError, match="2 rows"):
        assign([[1], [2]])


SMALL_RULES = st.builds(
    ArgumentRules,
    one_of=st.dictionaries(st.just("a"), st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple), min_size=1),
)


@given(
    st.lists(st.builds(ExpectedCall, st.sampled_from("fg"), SMALL_RULES), min_size=1, max_size=4),
    st.lists(st.builds(call, st.sampled_from("fgh"), a=st.integers(0, 3)), max_size=4),
)
def test_the_pairing_answers_as_much_as_can_be_answered_at_least_cost(
    required: list[ExpectedCall], given_calls: list[ToolCall]
) -> None:
    aligned = align(required, given_calls, {})
    found = (aligned.answered, -sum(match.cost for match in aligned.matches if match))
    best = (0, 0)
    positions: list[int | None] = [*range(len(given_calls)), *[None] * len(required)]
    for chosen in set(itertools.permutations(positions, len(required))):
        pairs = [(wanted, given_calls[at]) for wanted, at in zip(required, chosen, strict=True) if at is not None]
        if all(wanted.name == one.name for wanted, one in pairs):
            misfits = sum(
                one.arguments["a"] not in wanted.arguments.one_of["a"] for wanted, one in pairs if one.arguments
            )
            best = max(best, (len(pairs), -100 * misfits))
    assert found == best
    used = [match.call for match in aligned.matches if match]
    assert sorted([*used, *aligned.unmatched]) == list(range(len(given_calls)))
