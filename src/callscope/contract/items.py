"""What a case is in PluginEval's terms: its kind of item, the label of its query and target, the type of a negative.

| item              | labels it may have            | (need, relevant, arguments)  |
|-------------------|-------------------------------|------------------------------|
| positive          | call                          | (1, 1, gold calls)           |
| underspecified    | underspecified                | (1, 1, none)                 |
| targeted_negative | other_tool, no_tool           | (1, 0, none), (0, 0, none)   |
| global_negative   | no_tool, other_tool           | (0, 0, none), (1, 0, none)   |

Source: the PluginEval document, label space; its worked-out proposal, section 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

__all__ = ["LABELS_OF", "LABEL_OF", "Item", "Label", "NegativeType"]

Item = Literal["positive", "underspecified", "targeted_negative", "global_negative"]
"""`targeted_negative`: one designated tool must not be called; `global_negative`: no tool may be."""

Label = Literal["no_tool", "other_tool", "underspecified", "call"]
"""(0,0,none): no tool is needed; (1,0,none): one is, but not the target; (1,1,none): the target, with too little said
to call it; (1,1,arguments)."""

NegativeType = Literal["A", "B", "C"]
"""Why a negative is hard: A domain distance, B surface similarity, C capability boundary."""

LABELS_OF: Mapping[Item, tuple[Label, ...]] = {
    "positive": ("call",),
    "underspecified": ("underspecified",),
    "targeted_negative": ("other_tool", "no_tool"),
    "global_negative": ("no_tool", "other_tool"),
}
"""The labels each item may have, the usual one first."""

LABEL_OF: Mapping[Item, Label] = {item: labels[0] for item, labels in LABELS_OF.items()}
