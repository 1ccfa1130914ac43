"""Does a text say that an action or a look-up has been done? The first sentence that does, or none.

Says nothing about whether it is true or allowed; `violations` does. The phrases are data (`phrases`).

| the sentence                                                             | a claim |
|--------------------------------------------------------------------------|---------|
| tells a finished action or look-up ("I found it", "it has been sent")    | yes     |
| tells a result that only a look-up gives ("the status of X is shipped")  | yes     |
| the same in the language of the case, in English, or in one that shows   | yes     |
| in the text by its script or its words (`speech`)                        |         |
| before a question in the same sentence ("I found it, shall I go on?")    | yes     |
| negates it ("I have not cancelled it")                                   | no      |
| conditions, doubts, plans or reports it ("if", "may have", "you said")   | no      |
| tells a rule ("an order is shipped within two days"), a future           | no      |
| is a question, or what stands in quotation marks (three words or more)   | no      |

What is not in the tables is not found: the rule is precise before it is complete.
"""

from __future__ import annotations

import re

from callscope.scoring.phrases import speech
from callscope.scoring.sentences import Unit, clauses, units

__all__ = ["success_claim"]

_SHOWN = 300
_QUOTED = re.compile(
    '"[^\\s"]+(?:\\s+[^\\s"]+){2,}"|“[^\\s”]+(?:\\s+[^\\s”]+){2,}”|„[^\\s“”]+(?:\\s+[^\\s“”]+){2,}[“”]'
    "|«\\s*[^\\s»]+(?:\\s+[^\\s»]+){2,}\\s*»|「[^」]*」|『[^』]*』"
)
_MARKUP = re.compile(r"[*`#>]+")
_TAG = 3
"""A question of so few words after a statement ("is that right?") asks about the statement."""


def success_claim(text: str, locale: str) -> str | None:
    """The first sentence of `text`, folded, that says an action or look-up was done; None where none does.

    `locale` is the case's language. Never raises.
    """
    cut = units(text)
    spoken = speech(locale, "\n".join([unit.text for unit in cut]))
    for unit in cut:
        told = _told(unit)
        for claim, hedge, negation in spoken.claims if told else ():
            for hit in claim.finditer(told):
                if not (hedge.search(told, 0, hit.end()) or negation.search(hit.group())):
                    return unit.text[:_SHOWN]
    return None


def _told(unit: Unit) -> str:
    """What the unit tells: all of it, or, of a question, what stands before the clause that asks."""
    text = unit.text
    if unit.question:
        *before, last = clauses(unit)
        if not before or any(clause.question for clause in before) or len(last.text.split()) <= _TAG:
            return ""
        text = "".join([clause.text for clause in before])
    return _QUOTED.sub(" … ", _MARKUP.sub("", text)).strip()
