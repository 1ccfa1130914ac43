"""Real embedded models: found and checked by hash, run in a process of their own, spoken to over loopback HTTP.

An adapter talks to one as to any other HTTP service. `endpoints` and `default_run` tie them to a run; the rest of the
room knows nothing of suites, scoring or providers.
"""

from callscope.local.default_run import DEFAULT_MODELS, TARGET_SECONDS, Sizing, measure, size_plan
from callscope.local.endpoints import EmbeddedEndpoints
from callscope.local.fitness import Problem, check_machine, warm_up
from callscope.local.models import ChatTemplate, ModelSpec, chat_template, load_models, model_spec
from callscope.local.server import Answer, LocalServer, Turn
from callscope.local.weights import Weights, resolve_weights, weights_cache

__all__ = [
    "DEFAULT_MODELS",
    "TARGET_SECONDS",
    "Answer",
    "ChatTemplate",
    "EmbeddedEndpoints",
    "LocalServer",
    "ModelSpec",
    "Problem",
    "Sizing",
    "Turn",
    "Weights",
    "chat_template",
    "check_machine",
    "load_models",
    "measure",
    "model_spec",
    "resolve_weights",
    "size_plan",
    "warm_up",
    "weights_cache",
]
