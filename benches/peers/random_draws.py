"""Inducing points and mini-batches drawn at random, and slices of all rows.

Import after `processor_threads.limit`.
"""

from collections.abc import Iterator

import numpy as np
from scipy.cluster.vq import kmeans2

CHUNK_ROWS = 4096


def initial_inducing(
    x: np.ndarray, count: int, method: str, rng: np.random.Generator
) -> np.ndarray:
    """Inducing points [M, D]: a random subset of the rows of `x`, or k-means++ centers."""
    if count > len(x):
        raise SystemExit(f"{count} inducing points requested, but there are only {len(x)} training rows")
    if method == "subset":
        return x[rng.choice(len(x), count, replace=False)].copy()
    centers, _ = kmeans2(x.astype(np.float64), count, minit="++", seed=rng, missing="warn")
    return centers.astype(x.dtype)


def random_batches(rows: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Endless mini-batches of exactly `size` row numbers; every pass is a fresh permutation."""
    size = min(size, rows)
    pending = np.empty(0, np.int64)
    while True:
        while len(pending) < size:
            pending = np.concatenate([pending, rng.permutation(rows)])
        yield pending[:size]
        pending = pending[size:]


def chunks(rows: int, size: int = CHUNK_ROWS):
    """Slices of at most `size` rows that together cover `rows` rows."""
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))
