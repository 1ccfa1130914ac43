"""The published schemas are what the code generates, and what the code writes is valid by them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import jsonschema_rs

import callscope
from callscope.formats import all_schemas, write_all
from tests.capture.helpers import small_suite, stand_in_model
from tests.stand_in import StandIn, by_rules

DOCS = Path(__file__).resolve().parents[1] / "docs" / "schemas"


def test_the_published_files_are_those_the_code_generates(tmp_path: Path) -> None:
    written = write_all(tmp_path)
    assert {path.name for path in DOCS.glob("*.json")} == {path.name for path in written}
    for path in written:
        assert (DOCS / path.name).read_bytes() == path.read_bytes(), "run: make schemas"


def test_a_runs_files_are_valid(tmp_path: Path) -> None:
    async def go() -> callscope.Run:
        async with StandIn(by_rules) as server:
            models = [stand_in_model(server.url)]
            return await callscope.arun(small_suite(), models=models, out=tmp_path / "run", repeats=2)

    run = asyncio.run(go())
    valid = {name: jsonschema_rs.Draft202012Validator(schema, offline=True) for name, schema in all_schemas().items()}
    valid["manifest.schema.json"].validate(json.loads((run.path / "manifest.json").read_bytes()))
    for line in (run.path / "records.jsonl").read_bytes().splitlines():
        valid["record.schema.json"].validate(json.loads(line))
    for line in (run.path / "verdicts.jsonl").read_bytes().splitlines():
        verdict = json.loads(line)
        valid["verdict.schema.json"].validate(verdict)
        valid["outcome.schema.json"].validate(verdict["outcome"])
        broken = {**verdict, "selection": "guessed"}
        assert not valid["verdict.schema.json"].is_valid(broken)
