"""callscope shows exactly where LLM function calling succeeds or breaks."""

from callscope._version import __version__

__all__ = ["__version__"]
