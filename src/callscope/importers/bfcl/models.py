"""What BFCL's model list says of a model: how its recorded results are decoded, and whether `.` in names became `_`.

Facts of bfcl-eval 2026.3.23 as data. Not for anything about the models themselves. A name that the list does not hold
is told by its form, where bfcl-eval would stop with a KeyError:

| name                  | results                | names                                   |
|-----------------------|------------------------|-----------------------------------------|
| listed                | as its handler does it | as listed                               |
| ends in `-FC`, no `/` | `json_arguments`       | `.` became `_`, as for all but one such |
| anything else         | `by_shape`             | as declared                             |
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

__all__ = ["Profile", "profile"]


class Profile(NamedTuple):
    """How a model's results are read. `decoder` names an entry of `decoders.DECODERS`.

    underscores: names with `.` were offered, and are expected back, with `_`. listed: bfcl-eval knows the model.
    """

    decoder: str
    underscores: bool
    listed: bool


# (decoder, whether names carry underscores): the models, as bfcl-eval spells them.
_LISTED: dict[tuple[str, bool], str] = {
    ("json_arguments", True): """
        claude-haiku-4-5-20251001-FC claude-opus-4-5-20251101-FC claude-sonnet-4-5-20250929-FC DeepSeek-V3.2-Exp-FC
        glm-4.5-FC glm-4.5-air-FC glm-4.6-FC gpt-4.1-2025-04-14-FC gpt-4.1-mini-2025-04-14-FC
        gpt-4.1-nano-2025-04-14-FC gpt-4o-2024-11-20-FC gpt-4o-mini-2024-07-18-FC gpt-5-mini-2025-08-07-FC
        gpt-5-nano-2025-08-07-FC gpt-5.2-2025-12-11-FC grok-4-0709-FC grok-4-1-fast-non-reasoning-FC
        grok-4-1-fast-reasoning-FC kimi-k2-0905-preview-FC meetkai/functionary-medium-v3.1-FC
        meetkai/functionary-small-v3.1-FC meta-llama/llama-4-maverick-17b-128e-instruct-fp8-FC-novita
        meta-llama/llama-4-scout-17b-16e-instruct-FC-novita mistral-large-2411-FC mistral-medium-2505-FC
        mistral-small-2506-FC Nanbeige3.5-Pro-Thinking-FC o3-2025-04-16-FC o4-mini-2025-04-16-FC
        open-mistral-nemo-2407-FC openbmb/MiniCPM-SALA-FC qwen/qwq-32b-FC-novita qwen3-0.6b-FC qwen3-1.7b-FC
        qwen3-14b-FC qwen3-30b-a3b-instruct-2507-FC qwen3-32b-FC qwen3-4b-FC qwen3-4b-nothink-FC qwen3-4b-think-FC
        qwen3-8b-FC qwq-32b-FC""",
    ("json_arguments", False): "firefunction-v2-FC palmyra-x-004 qwen3-235b-a22b-instruct-2507-FC",
    ("prompting", False): """
        BitAgent/BitAgent-8B BitAgent/GoGoAgent claude-haiku-4-5-20251001 claude-opus-4-5-20251101
        claude-sonnet-4-5-20250929 deepseek-ai/DeepSeek-R1 DeepSeek-V3.2-Exp DeepSeek-V3.2-Exp-thinking
        google/gemma-3-12b-it google/gemma-3-1b-it google/gemma-3-27b-it google/gemma-3-4b-it gpt-4.1-2025-04-14
        gpt-4.1-mini-2025-04-14 gpt-4.1-nano-2025-04-14 gpt-4o-2024-11-20 gpt-4o-mini-2024-07-18
        gpt-5-mini-2025-08-07 gpt-5-nano-2025-08-07 gpt-5.2-2025-12-11 grok-4-0709 kimi-k2-0905-preview
        Ling/ling-lite-v1.5 meta-llama/Llama-3.1-70B-Instruct meta-llama/Llama-3.1-8B-Instruct
        meta-llama/Llama-3.2-1B-Instruct-FC meta-llama/Llama-3.2-3B-Instruct-FC meta-llama/Llama-3.3-70B-Instruct-FC
        meta-llama/llama-4-maverick-17b-128e-instruct-fp8-novita
        meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8-FC meta-llama/llama-4-scout-17b-16e-instruct-novita
        meta-llama/Llama-4-Scout-17B-16E-Instruct-FC mistral-large-2411 mistral-medium-2505 mistral-small-2506
        NovaSky-AI/Sky-T1-32B-Preview nvidia/nemotron-4-340b-instruct o3-2025-04-16 o4-mini-2025-04-16
        open-mistral-nemo-2407 openbmb/MiniCPM3-4B phronetic-ai/RZN-T qwen/qwq-32b-novita Qwen/Qwen3-0.6B
        Qwen/Qwen3-1.7B Qwen/Qwen3-14B Qwen/Qwen3-235B-A22B-Instruct-2507 Qwen/Qwen3-30B-A3B-Instruct-2507
        Qwen/Qwen3-32B Qwen/Qwen3-4B-Instruct-2507 Qwen/Qwen3-8B qwen3-0.6b qwen3-1.7b qwen3-14b
        qwen3-235b-a22b-instruct-2507 qwen3-30b-a3b-instruct-2507 qwen3-32b qwen3-4b qwen3-8b qwq-32b
        speakleash/Bielik-11B-v2.3-Instruct Team-ACE/ToolACE-2-8B uiuc-convai/CoALM-405B uiuc-convai/CoALM-70B
        uiuc-convai/CoALM-8B watt-ai/watt-tool-70B watt-ai/watt-tool-8B ZJared/Haha-7B""",
    ("phi_prompting", False): "microsoft/phi-4 microsoft/Phi-4-mini-instruct",
    ("gemini_prompting", False): """
        gemini-2.5-flash gemini-2.5-flash-lite gemini-3-pro-preview gemini-3.1-flash-lite-preview""",
    ("gemini", True): """
        gemini-2.5-flash-FC gemini-2.5-flash-lite-FC gemini-3-pro-preview-FC gemini-3.1-flash-lite-preview-FC""",
    ("any_list", True): "nova-2-lite-v1.0 nova-micro-v1.0 nova-pro-v1.0",
    ("any_list", False): "mistralai/Ministral-8B-Instruct-2410",
    ("list_of_objects", False): """
        ibm-granite/granite-3.1-8b-instruct ibm-granite/granite-3.2-8b-instruct katanemo/Arch-Agent-1.5B
        katanemo/Arch-Agent-32B katanemo/Arch-Agent-3B katanemo/Arch-Agent-7B microsoft/Phi-4-mini-instruct-FC""",
    ("cohere", True): "command-a-03-2025-FC command-a-reasoning-08-2025-FC command-r7b-12-2024-FC",
    ("named_objects", False): "DM-Cito-32B-v1 DM-Cito-8B-v3 xiaoming-14B",
    ("bracketed", False): "gorilla-openfunctions-v2",
    ("toolcall_tag", False): "nvidia/llama-3.1-nemotron-ultra-253b-v1",
    ("hermes", False): """
        ibm-granite/granite-4.0-350m Nanbeige/Nanbeige4-3B-Thinking-2511 Qwen/Qwen3-0.6B-FC Qwen/Qwen3-1.7B-FC
        Qwen/Qwen3-14B-FC Qwen/Qwen3-235B-A22B-Instruct-2507-FC Qwen/Qwen3-30B-A3B-Instruct-2507-FC
        Qwen/Qwen3-32B-FC Qwen/Qwen3-4B-Instruct-2507-FC Qwen/Qwen3-8B-FC
        X-Humanoid/Pelican1.0-VL-235B-A22B-FC X-Humanoid/Pelican1.0-VL-30B-A3B-FC""",
    ("falcon", False): """
        tiiuae/Falcon3-10B-Instruct-FC tiiuae/Falcon3-1B-Instruct-FC tiiuae/Falcon3-3B-Instruct-FC
        tiiuae/Falcon3-7B-Instruct-FC""",
    ("glm_lines", True): "THUDM/glm-4-9b-chat",
    ("granite_20b", True): "ibm-granite/granite-20b-functioncalling",
    ("json_text", False): "BitAgent/BitAgent-Bounty-8B",
    ("json_or_semicolons", False): """
        Salesforce/Llama-xLAM-2-70b-fc-r Salesforce/Llama-xLAM-2-8b-fc-r Salesforce/xLAM-2-1b-fc-r
        Salesforce/xLAM-2-32b-fc-r Salesforce/xLAM-2-3b-fc-r""",
    ("hammer", False): """
        MadeAgents/Hammer2.1-0.5b MadeAgents/Hammer2.1-1.5b MadeAgents/Hammer2.1-3b MadeAgents/Hammer2.1-7b""",
    ("llama_3_1", False): "meta-llama/Llama-3.1-70B-Instruct-FC meta-llama/Llama-3.1-8B-Instruct-FC",
    ("think_agent", False): "ThinkAgents/ThinkAgent-1B",
    ("minicpm", True): "openbmb/MiniCPM3-4B-FC",
    ("functiongemma", False): "google/functiongemma-270m-it-FC",
}


@cache
def _table() -> dict[str, Profile]:
    return {
        name: Profile(decoder, underscores, listed=True)
        for (decoder, underscores), names in _LISTED.items()
        for name in names.split()
    }


def profile(model: str) -> Profile:
    """The profile of a model, by its name or by the name of its result folder (where `/` is written `_`)."""
    name = model.replace("_", "/")
    listed = _table().get(name) or _table().get(model)
    if listed is not None:
        return listed
    if name.endswith("-FC") and "/" not in name:
        return Profile("json_arguments", underscores=True, listed=False)
    return Profile("by_shape", underscores=False, listed=False)
