"""The repair track: what a production stack that repairs would have made of an outcome. Never part of a verdict.

Directed by the declared tools alone, never by what a case expects. Nothing is guessed, filled in or mapped by meaning:
each repair has one reading or none, and says what it changed. The stages judge the outcome as it came; `derive` puts
what they say of the repaired one beside it.
"""

from callscope.scoring.repair.track import REPAIRS, Repairs, repair

__all__ = ["REPAIRS", "Repairs", "repair"]
