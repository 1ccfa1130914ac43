"""Minimum-cost assignment of rows to columns, exact for any size. Knows nothing of calls or values.

The Hungarian method with potentials, O(rows² · columns), after Kuhn (1955) and Munkres (1957) in the shortest
augmenting path form of Jonker and Volgenant (1987). Integers only, so no rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["assign"]


def assign(costs: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """For each row its column, so that the sum of costs is least and no column is used twice.

    `costs` is rectangular with at most as many rows as columns; the result is deterministic.
    Raises ValueError where there are more rows than columns.
    """
    rows = len(costs)
    columns = len(costs[0]) if rows else 0
    if rows > columns:
        raise ValueError(f"{rows} rows cannot each have one of {columns} columns")
    row_price = [0] * (rows + 1)
    column_price = [0] * (columns + 1)
    owner = [0] * (columns + 1)  # column -> row, both from 1; 0 is nobody
    for row in range(1, rows + 1):
        _augment(costs, row, row_price, column_price, owner)
    chosen = [0] * rows
    for column in range(1, columns + 1):
        if owner[column]:
            chosen[owner[column] - 1] = column - 1
    return tuple(chosen)


def _augment(
    costs: Sequence[Sequence[int]], row: int, row_price: list[int], column_price: list[int], owner: list[int]
) -> None:
    """Give `row` a column along the cheapest alternating path, moving other rows where that is cheaper."""
    columns = len(column_price) - 1
    least: dict[int, int] = {}
    came_from = [0] * (columns + 1)
    seen = [False] * (columns + 1)
    owner[0] = row
    column = 0
    while owner[column]:
        seen[column] = True
        current, step, following = owner[column], None, 0
        for other in range(1, columns + 1):
            if seen[other]:
                continue
            reduced = costs[current - 1][other - 1] - row_price[current] - column_price[other]
            if other not in least or reduced < least[other]:
                least[other] = reduced
                came_from[other] = column
            if step is None or least[other] < step:
                step, following = least[other], other
        assert step is not None
        for other in range(columns + 1):
            if seen[other]:
                row_price[owner[other]] += step
                column_price[other] -= step
            else:
                least[other] -= step
        column = following
    while column:
        previous = came_from[column]
        owner[column] = owner[previous]
        column = previous
