"""Provider accounts: which models share one, how its calls are paced, and whose trial is held next.

An account is a provider, an address and a key variable. Its trials keep the plan's order; between accounts the one
with the fewest trials in flight goes first, so that a slow provider holds up no other. Sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from callscope.capture.pacing import Lane
from callscope.contract import ModelEntry, Outcome, Pacing, ProviderError, Trial
from callscope.errors import InputError

__all__ = ["Account", "Queue", "Queues", "account_of", "pacing_by_account"]


HOPELESS = 5
"""Refused trials in a row, from the first on, after which an account is given up for this sitting."""


class Account(NamedTuple):
    """What a provider counts together. Embedded models are one account: they share this machine."""

    provider: str
    base_url: str | None
    api_key_env: str | None


def account_of(entry: ModelEntry) -> Account:
    """The account that a model's calls are counted on."""
    address = None if entry.base_url is None else entry.base_url.rstrip("/")
    return Account(entry.provider, address, entry.api_key_env)


def pacing_by_account(entries: Iterable[ModelEntry], pacing: Mapping[str, Pacing]) -> dict[Account, Pacing]:
    """The pacing of each account; an entry that says nothing shares what another of its account says.

    `pacing` is by label. Raises InputError where a bound is not above zero, or two entries of an account disagree.
    """
    found: dict[Account, tuple[str, Pacing]] = {}
    for entry in entries:
        own, account = pacing.get(entry.label, Pacing()), account_of(entry)
        bounds = {
            "limits.requests_per_minute": own.limits.requests_per_minute,
            "limits.tokens_per_minute": own.limits.tokens_per_minute,
            "concurrency": own.concurrency,
        }
        for name, bound in bounds.items():
            if bound is not None and not 0 < bound < float("inf"):
                raise InputError("is out of range", field=f"{entry.label}: {name}", found=bound, expected="above 0")
        if own == Pacing():
            found.setdefault(account, (entry.label, own))
            continue
        label, other = found.get(account, (entry.label, Pacing()))
        if other not in {own, Pacing()}:
            hint = f"{label} is on the same account (provider, address, key variable): give both the same, or one none"
            raise InputError("contradicts another entry", field=f"{entry.label}: limits, concurrency", hint=hint)
        found[account] = (entry.label, own)
    return {account: own for account, (_, own) in found.items()}


class Queue:
    """The trials of one account that are still to be held, in plan order."""

    def __init__(self, lane: Lane, pending: Iterator[Trial], most: int | None) -> None:
        self.lane, self.in_flight, self.taken = lane, 0, 0
        self.given_up: str | None = None
        self._answered, self._refused = False, 0
        self._pending, self._most = pending, most
        self._next = next(pending, None)

    @property
    def open(self) -> bool:
        """Whether a trial may be taken: one is left, the account is not given up, and its bound is not reached."""
        return self._next is not None and self.given_up is None and (self._most is None or self.in_flight < self._most)

    def take(self) -> Trial:
        """The next trial, which then is in flight."""
        trial = self._next
        assert trial is not None, "taken from an empty queue"
        self._next = next(self._pending, None)
        self.in_flight += 1
        self.taken += 1
        return trial

    def saw(self, outcome: Outcome, label: str) -> None:
        """Take note of how a trial ended. An account that has never answered and refuses five trials in a row for the
        same reason (no such key, nobody listening) is given up, with the reason: the rest would end the same way."""
        hopeless = isinstance(outcome, ProviderError) and (
            outcome.category == "authentication_error" or outcome.code == "connection_failed"
        )
        self._answered = self._answered or not hopeless
        self._refused = self._refused + 1 if hopeless else 0
        if isinstance(outcome, ProviderError) and not self._answered and self._refused >= HOPELESS:
            self.given_up = f"{label}: {self._refused} trials in a row ended with {outcome.code}: {outcome.message}"


class Queues:
    """All accounts of a run.

    `take` gives None only where each account is empty or at its bound; a worker may then end, since those in flight
    go on with what is left of theirs.
    """

    def __init__(self, queues: Sequence[Queue]) -> None:
        self._queues = tuple(queues)

    def take(self) -> tuple[Queue, Trial] | None:
        """The next trial: of an account that is not paused before one that is, then of the least busy one."""
        queue = min(
            (queue for queue in self._queues if queue.open),
            key=lambda one: (one.lane.paused, one.in_flight, one.taken),
            default=None,
        )
        return None if queue is None else (queue, queue.take())

    @staticmethod
    def give_back(queue: Queue) -> None:
        """The trial taken from `queue` is recorded."""
        queue.in_flight -= 1
