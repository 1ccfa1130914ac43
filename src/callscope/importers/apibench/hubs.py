"""The three hubs of APIBench: which files are theirs, the tool a case offers, and which calls load a model there.

| hub         | suite                | tool             | arguments                                |
|-------------|----------------------|------------------|------------------------------------------|
| torchhub    | apibench-torchhub    | torch_hub_load   | repo_or_dir, model, options              |
| huggingface | apibench-huggingface | load_hf_model    | loader, model, task, options             |
| tensorflow  | apibench-tensorflow  | load_hub_model   | loader, model, options                   |

`loader` is the function as written in Python without its package (`pipeline`, `AutoModel.from_pretrained`,
`hub.KerasLayer`), `options` every further argument.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from callscope.contract import Tool

__all__ = ["HUBS", "Hub", "HubName", "hub_of_suite", "is_companion", "is_loader"]

HubName = Literal["torchhub", "huggingface", "tensorflow"]

_TEXT = {"type": "string"}
_OPTIONS = {"type": "object", "description": "Every further keyword argument of the call, by its name."}


class Hub(NamedTuple):
    """A hub: how its files and its calls are named. `files` are the spellings in published file names."""

    name: HubName
    title: str
    files: tuple[str, ...]
    tool: Tool
    loaders: re.Pattern[str]

    @property
    def suite(self) -> str:
        """The name of the hub's suite."""
        return f"apibench-{self.name}"


def _tool(name: str, description: str, required: list[str], properties: dict[str, Any]) -> Tool:
    return Tool(
        name,
        description,
        {
            "type": "object",
            "properties": {**properties, "options": _OPTIONS},
            "required": required,
            "additionalProperties": False,
        },
    )


HUBS: dict[str, Hub] = {
    "torchhub": Hub(
        "torchhub",
        "APIBench, TorchHub",
        ("torchhub",),
        _tool(
            "torch_hub_load",
            "Load a model from PyTorch Hub: torch.hub.load(repo_or_dir, model, ...).",
            ["repo_or_dir"],
            {
                "repo_or_dir": {**_TEXT, "description": "The repository, owner/name or owner/name:ref."},
                "model": {**_TEXT, "description": "The entry point of the repository that makes the model."},
            },
        ),
        re.compile(r"(?:torch\.)?hub\.load"),
    ),
    "huggingface": Hub(
        "huggingface",
        "APIBench, Hugging Face",
        ("huggingface",),
        _tool(
            "load_hf_model",
            "Load a model from the Hugging Face Hub with the library call that fits it.",
            ["loader"],
            {
                "loader": {
                    **_TEXT,
                    "description": "The function that loads it, without its package: pipeline, "
                    "AutoModel.from_pretrained, SentenceTransformer, ...",
                },
                "model": {**_TEXT, "description": "The model's id on the hub, owner/name."},
                "task": {**_TEXT, "description": "For pipeline: the task."},
            },
        ),
        re.compile(
            r"pipeline|(?:\w+\.)*(?:from_pretrained|from_hparams|from_pretrained_keras|load_from_hub)"
            r"|(?:\w+\.)+(?:load|load_model|create_model)|load|hf_hub_download|foreign_class|SentenceTransformer"
            r"|CrossEncoder|YOLO|load_model_ensemble_and_task_from_hf_hub|SpeechRecognitionModel"
        ),
    ),
    "tensorflow": Hub(
        "tensorflow",
        "APIBench, TensorFlow Hub",
        ("tensorflow", "tensorflowhub"),
        _tool(
            "load_hub_model",
            "Load a model from TensorFlow Hub.",
            ["loader", "model"],
            {
                "loader": {**_TEXT, "description": "The function that loads it: hub.load or hub.KerasLayer."},
                "model": {**_TEXT, "description": "The model's handle, its full address."},
            },
        ),
        re.compile(r"(?:tensorflow_hub|tf_?hub|hub)\.(?:load|KerasLayer)"),
    ),
}

_COMPANION = re.compile(r"(?:\w+\.)*\w*(?:Tokenizer(?:Fast)?|Processor|FeatureExtractor|Config|Scheduler)\.from_\w+")


def hub_of_suite(suite: str) -> Hub | None:
    """The hub whose suite has that name, or None."""
    return HUBS.get(suite.removeprefix("apibench-")) if suite.startswith("apibench-") else None


def is_loader(hub: Hub, name: str) -> bool:
    """Whether a call of that name loads a model from the hub."""
    return hub.loaders.fullmatch(name) is not None and not is_companion(name)


def is_companion(name: str) -> bool:
    """Whether a call loads what only goes with a model: a tokenizer, a processor, a configuration."""
    return _COMPANION.fullmatch(name) is not None
