"""pass@k and pass^k: what repeats of a case say of trying again, and of always succeeding. Two things, two names.

| name   | the chance that, of k tries of a case …  | estimated from c passes in n tries by | grows with k |
|--------|------------------------------------------|---------------------------------------|--------------|
| pass@k | at least one passes                      | 1 - C(n-c, k) / C(n, k)               | up           |
| pass^k | all pass                                 | C(c, k) / C(n, k)                     | down         |

Both are unbiased where n >= k and tries are alike, and both are the plain pass rate at k = 1. pass@k: Chen et al. 2021,
arXiv:2107.03374, 2.1; pass^k: Yao et al. 2024, arXiv:2406.12045, 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb

__all__ = ["ks_of", "pass_at", "pass_hat"]

_ALL = 10
_CHOSEN = (16, 25, 32, 50, 64, 100)


def _check(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"0 <= passes <= tries and 1 <= k <= tries are needed (found c={c}, n={n}, k={k})")


@lru_cache(maxsize=4096)
def pass_at(n: int, c: int, k: int) -> Fraction:
    """pass@k of one case with `c` passes in `n` tries. Raises ValueError unless 0 <= c <= n and 1 <= k <= n."""
    _check(n, c, k)
    return 1 - Fraction(comb(n - c, k), comb(n, k))


@lru_cache(maxsize=4096)
def pass_hat(n: int, c: int, k: int) -> Fraction:
    """pass^k of one case with `c` passes in `n` tries. Raises ValueError unless 0 <= c <= n and 1 <= k <= n."""
    _check(n, c, k)
    return Fraction(comb(c, k), comb(n, k))


def ks_of(tries: Sequence[int]) -> tuple[int, ...]:
    """The k worth a column: up to the most tries of any case, all to 10 and a few beyond."""
    most = max(tries, default=0)
    return tuple(k for k in (*range(1, _ALL + 1), *_CHOSEN) if k <= most)
