"""The harness document's three tools, its eight cases, and short ways to write outcomes."""

from __future__ import annotations

from typing import Any

from callscope.contract import (
    ArgumentRules,
    Case,
    ExpectClarification,
    ExpectText,
    ExpectTool,
    Malformed,
    Text,
    Tool,
    ToolCall,
    ToolCalls,
    Verdict,
)
from callscope.scoring import evaluate

TOOLS: tuple[Tool, ...] = (
    Tool(
        "lookup_order",
        "Find one order by its exact public order ID.",
        {
            "type": "object",
            "properties": {"order_id": {"type": "string", "pattern": "^ORD-[0-9]{6}$"}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
    ),
    Tool(
        "search_orders",
        "Search orders when an exact order ID is not available.",
        {
            "type": "object",
            "properties": {
                "email": {"type": "string"},
                "status": {"type": "string", "enum": ["processing", "shipped", "delivered", "cancelled"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
            },
            "required": ["email"],
            "additionalProperties": False,
        },
    ),
    Tool(
        "get_shipping_quote",
        "Estimate shipping price and delivery window for a destination.",
        {
            "type": "object",
            "properties": {
                "country_code": {"type": "string", "pattern": "^[A-Z]{2}$"},
                "postal_code": {"type": "string"},
                "weight_grams": {"type": "integer", "minimum": 1, "maximum": 50000},
                "service": {"type": "string", "enum": ["standard", "express"]},
            },
            "required": ["country_code", "postal_code", "weight_grams"],
            "additionalProperties": False,
        },
    ),
)


def equals(**values: Any) -> ArgumentRules:
    return ArgumentRules(required_equals=values)


def tool_case(prompt: str, name: str, **values: Any) -> Case:
    return Case("case", prompt, ExpectTool(name, equals(**values)))


LOOKUP = tool_case("Where is order ORD-104821?", "lookup_order", order_id="ORD-104821")
SEARCH = tool_case(
    "Show my shipped orders. My email is sam@example.test.",
    "search_orders",
    email="sam@example.test",
    status="shipped",
)
HELLO = Case("abstain-01", "Hello! What can you help me with?", ExpectText())
CLARIFY = Case(
    "clarify-01", "How much is express shipping to Germany for 750 grams?", ExpectClarification(("postal_code",))
)
QUOTE = tool_case(
    "Quote standard shipping for 750 grams to US postal code 02139.",
    "get_shipping_quote",
    country_code="US",
    postal_code="02139",
    weight_grams=750,
    service="standard",
)
NORMALIZE = tool_case(
    "Shipping quote for 1 kg to ca, M5V 3L9.",
    "get_shipping_quote",
    country_code="CA",
    postal_code="M5V 3L9",
    weight_grams=1000,
)


def call(name: str, /, **arguments: Any) -> ToolCall:
    return ToolCall(None, name, arguments)


def broken(name: str, raw: str = '{"order_id": "ORD-10', reason: str = "truncated") -> ToolCall:
    return ToolCall(None, name, malformed=Malformed(reason, raw))


def calls(*given: ToolCall, text: str | None = None, flags: tuple[str, ...] = ()) -> ToolCalls:
    return ToolCalls(given, flags, text)


def said(text: str, *flags: str) -> Text:
    return Text(text, flags)


def judge(case: Case, outcome: Any, tools: tuple[Tool, ...] = TOOLS) -> Verdict:
    return evaluate(case, tools, outcome)


def one_tool(schema: dict[str, Any], name: str = "f") -> tuple[Tool, ...]:
    return (Tool(name, "", schema),)
