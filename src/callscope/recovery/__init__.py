"""Conversations after the first call: deterministic fake tools, error envelopes, and the verdict on what followed.

Pure. The bounded loop that sends the rounds is `capture.conversation`.
"""

from callscope.recovery.fakes import answer_calls, call_hash
from callscope.recovery.verdict import recovery_verdict

__all__ = ["answer_calls", "call_hash", "recovery_verdict"]
