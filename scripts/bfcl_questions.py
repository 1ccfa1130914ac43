"""What `bfcl_parity` asks of callscope and of bfcl-eval: recorded outputs, gold as predictions, and both spoiled.

The same questions on every run; no chance is involved. Not for judging any answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Question", "questions"]

Question = dict[str, Any]
"""`of` (where it comes from) and `language`; with them `category`, `model`, `functions`, `answer`, and either `result`
(to be decoded by the model's handler first) or `calls`; or, for a conversion alone, `declared`, `items`, `text`."""

PLAIN = "gorilla-openfunctions-v2"


def questions(data: Path, results: Path) -> Iterator[Question]:
    cases = {category: load_cases(data, category) for category in categories(data)}
    for model in sorted(path for path in results.iterdir() if path.is_dir()):
        for file in sorted(model.glob("*_result.json")):
            category = file.name.partition("BFCL_v4_")[2].removesuffix("_result.json")
            if category in cases:
                for line in lines(file):
                    yield {
                        **cases[category][line["id"]],
                        "of": f"recorded {model.name} {category}",
                        "model": model.name,
                        "result": line["result"],
                    }
    for category, of_category in cases.items():
        for number, case in enumerate(of_category.values()):
            yield from from_gold(category, number, case)
    yield from notations()


def categories(data: Path) -> list[str]:
    names = (path.name.removeprefix("BFCL_v4_").removesuffix(".json") for path in data.glob("BFCL_v4_*.json"))
    return sorted(name for name in names if not name.startswith(("multi_turn", "memory", "web_search", "format")))


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def load_cases(data: Path, category: str) -> dict[str, Question]:
    """The questions of a category by id, without what is asked of them. Gold goes with its case by place, as there."""
    prompts = lines(data / f"BFCL_v4_{category}.json")
    gold_file = data / "possible_answer" / f"BFCL_v4_{category}.json"
    gold = [each["ground_truth"] for each in lines(gold_file)] if gold_file.exists() else [None] * len(prompts)
    tail = category.rpartition("_")[2]
    return {
        prompt["id"]: {
            "category": category,
            "language": tail if tail in {"java", "javascript"} else "python",
            "functions": prompt["function"],
            "answer": answer,
        }
        for prompt, answer in zip(prompts, gold, strict=True)
    }


def from_gold(category: str, number: int, case: Question) -> Iterator[Question]:
    if case["answer"] is None:
        return
    language = case["language"]
    calls = [{name: predicted(arguments, language)} for each in case["answer"] for name, arguments in each.items()]
    base = {**case, "model": PLAIN, "of": f"gold {category}"}
    yield {**base, "calls": calls}
    yield {**base, "of": f"gold as JSON text {category}", "model": "gpt-4.1-2025-04-14-FC", "result": as_json(calls)}
    yield {**base, "of": f"gold as text {category}", "model": "gpt-4.1-2025-04-14", "result": as_text(calls, language)}
    yield {**base, "of": f"gold as text {category}", "result": as_text(calls, language)[1:-1]}
    for spoiled in mutations(calls, number):
        yield {**base, "of": f"spoiled gold {category}", "calls": spoiled}
    for functions, gold in spoiled_cases(case, number):
        yield {**base, "of": f"spoiled case {category}", "calls": calls, "functions": functions, "answer": gold}


def predicted(arguments: dict[str, Any], language: str) -> dict[str, Any]:
    """The first listed value of each argument that is not omitted; Java and JavaScript as source text."""
    chosen = {name: next((each for each in listed if each != ""), "") for name, listed in arguments.items()}
    plain = {name: unlisted(value) for name, value in chosen.items() if value != ""}
    return plain if language == "python" else {name: source(value, language) for name, value in plain.items()}


def unlisted(value: Any) -> Any:
    """A gold value without the lists of what is allowed in its objects."""
    if isinstance(value, dict):
        return {
            key: unlisted(each[0]) for key, each in value.items() if isinstance(each, list) and each and each[0] != ""
        }
    return [unlisted(each) for each in value] if isinstance(value, list) else value


def source(value: Any, language: str, top: bool = True) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if top else json.dumps(value)
    if isinstance(value, list):
        inside = ", ".join(source(each, language, top=False) for each in value)
        return f"new ArrayList<>(Arrays.asList({inside}))" if language == "java" else f"[{inside}]"
    if isinstance(value, dict):
        if language == "java":
            puts = " ".join(f"put({json.dumps(k)}, {source(v, language, top=False)});" for k, v in value.items())
            return f"new HashMap<>() {{{{ {puts} }}}}"
        return "{" + ", ".join(f"{json.dumps(k)}: {source(v, language, top=False)}" for k, v in value.items()) + "}"
    return repr(value)


def as_json(calls: list[Any]) -> list[Any]:
    return [{name.replace(".", "_"): json.dumps(arguments)} for call in calls for name, arguments in call.items()]


def as_text(calls: list[Any], language: str) -> str:
    def shown(value: Any) -> str:
        if language == "python":
            return repr(value)
        plain = isinstance(value, str) and (value[:3] in {"new", "tru", "fal"} or value[:1] in "[{0123456789-")
        return value if plain else json.dumps(value)

    written = (
        f"{name}({', '.join(f'{key}={shown(value)}' for key, value in arguments.items())})"
        for call in calls
        for name, arguments in call.items()
    )
    return f"[{', '.join(written)}]"


ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        1.0,
        2.5,
        10**30,
        "",
        "x",
        "5",
        "true",
        "new ArrayList<>()",
        "[]",
        "{}",
        "[[1], [2]]",
    ),
    *([], [1], ["x"], [1.0, 2], [[]], [{}], [{"a": 1}], {}, {"a": 1}, {"a": [1]}, [None], [[1, 2]], "List.of(1)", "5L"),
    *("5n", "5.0f", 'new String[]{"a","b"}', 'new HashMap<>() {{ put("a", 1); }}', "{a: [1, 2], b: 'x'}"),
)


def mutations(calls: list[Any], number: int) -> Iterator[list[Any]]:
    """Calls with one thing changed; which odd value is used goes round with `number`."""
    yield []
    yield [*calls, calls[-1]]
    yield calls[1:]
    yield calls[::-1]
    yield [{"renamed": next(iter(call.values()))} for call in calls]
    yield [{next(iter(call)).replace(".", "_"): next(iter(call.values()))} for call in calls]
    for index, call in enumerate(calls):
        ((name, arguments),) = call.items()

        def with_(changed: Any, index: int = index, name: str = name) -> list[Any]:
            return [*calls[:index], {name: changed}, *calls[index + 1 :]]

        yield with_({**arguments, "not_there": 1})
        yield with_(ODD[number % len(ODD)])
        for place, (key, value) in enumerate(arguments.items()):
            yield with_({each: arguments[each] for each in arguments if each != key})
            yield with_({**arguments, key: ODD[(number * 7 + place) % len(ODD)]})
            yield with_({**arguments, key: ODD[(number * 11 + 3 * place + 5) % len(ODD)]})
            for changed in nearby(value):
                yield with_({**arguments, key: changed})


def nearby(value: Any) -> Iterator[Any]:
    """Values that differ a little: what folding may forgive, and what it may not."""
    if isinstance(value, str):
        yield from (
            value.upper(),
            value + ".",
            value.replace(" ", "_"),
            value + "q",
            [value],
            f'"{value}"',
            value[::-1],
        )
    elif isinstance(value, bool):
        yield from (int(value), str(value), not value)
    elif isinstance(value, int):
        yield from (float(value), str(value), value + 1, bool(value))
    elif isinstance(value, float):
        yield from (int(value), str(value), value + 0.5, value * (1 + 1e-12))
    elif isinstance(value, list):
        yield from (value[::-1], value[:-1], [*value, *value[:1]], value[0] if value else [0])
        for index, item in enumerate(value[:3]):
            for changed in nearby(item):
                yield [*value[:index], changed, *value[index + 1 :]]
    elif isinstance(value, dict):
        yield {**value, "not_there": 1}
        for key, item in value.items():
            yield {each: value[each] for each in value if each != key}
            for changed in nearby(item):
                yield {**value, key: changed}


def spoiled_cases(case: Question, number: int) -> Iterator[tuple[Any, Any]]:
    """The case's functions or gold in a form that the checker was not made for."""
    functions, gold = case["functions"], case["answer"]
    first = functions[0]
    yield [{**first, "name": "other"}], gold
    yield [{key: value for key, value in first.items() if key != "parameters"}], gold
    parameters = first["parameters"]
    for missing in ("required", "properties"):
        yield [{**first, "parameters": {key: parameters[key] for key in parameters if key != missing}}], gold
    yield {**first}, gold
    types = (
        "number",
        ["string", "null"],
        "object",
        "array",
        "tuple",
        "any",
        "float",
        "Set",
        "Hashtable",
        "Queue",
        "long",
    )
    for offset, name in enumerate(parameters["properties"]):
        for changed in (types[(number + offset) % len(types)], types[(number * 5 + offset + 3) % len(types)]):
            properties = {**parameters["properties"], name: {**parameters["properties"][name], "type": changed}}
            yield [{**first, "parameters": {**parameters, "properties": properties}}, *functions[1:]], gold
    yield functions, []
    yield functions, [{}]
    ((name, arguments),) = gold[0].items()
    for offset, key in enumerate(arguments):
        for listed in ([], [""], None, ODD[(number + offset) % len(ODD)], [ODD[(number * 3 + offset) % len(ODD)], ""]):
            yield functions, [{name: {**arguments, key: listed}}, *gold[1:]]


def notations() -> Iterator[Question]:
    """Hand-made results in every notation a handler decodes, and source text of every declared type."""
    known = json.loads((Path(__file__).parent / "bfcl_notations.json").read_text(encoding="utf-8"))
    python = [f"a.f(x={value})" for value in known["python_values"]] + known["python"]
    results = [*python, *(f"[{each}]" for each in python), *known["results"], "(" * 300, "[" * 300]
    base: Question = {
        "of": "notations",
        "language": "python",
        "functions": [{"name": "a.f", "parameters": {"properties": {"x": {"type": "any"}}, "required": []}}],
        "answer": [{"a.f": {"x": ["1", 1, ""]}}],
    }
    for model in known["models"]:
        for category in ("simple_python", "irrelevance", "live_relevance"):
            for result in results:
                yield {**base, "category": category, "model": model, "result": result}
    for language, declared in (("java", "any"), ("javascript", "String")):
        function = {"name": "a.f", "parameters": {"properties": {"x": {"type": declared}}, "required": []}}
        written = [f"[a.f(x={value}{tail})]" for value in known[f"{language}_values"] for tail in ("", ", y=2")]
        for text in (*written, *known[language]):
            for model in ("gpt-4.1-2025-04-14", PLAIN):
                yield {
                    **base,
                    "of": f"notations {language}",
                    "category": f"simple_{language}",
                    "language": language,
                    "functions": [function],
                    "model": model,
                    "result": text,
                }
    for language, types in known["declared"].items():
        for declared in types:
            for items in (None, *types) if declared in {"Array", "ArrayList", "array"} else (None,):
                for text in (*known["sources"], "1" * 5000):
                    yield {
                        "of": f"values {language}",
                        "language": language,
                        "declared": declared,
                        "items": items,
                        "text": text,
                    }
