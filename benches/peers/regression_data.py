"""Regression sets in the `uci_datasets` layout, and their standardization.

A folder `DIR/NAME` holds `data.csv.gz` (no header, the target is the last column) and
`test_mask.csv.gz` (one row per data row, one 0/1 column per split, 1 = test row).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Standardized:
    """Inputs [N, D] and targets [N, 1], standardized with the training rows' statistics."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    input_mean: np.ndarray
    input_scale: np.ndarray
    target_mean: float
    target_scale: float


def load(data_dir: Path, name: str) -> np.ndarray:
    """All rows [N, D + 1] of a set, in the file's order."""
    return np.loadtxt(data_dir / name / "data.csv.gz", delimiter=",", ndmin=2)


def split_rows(data_dir: Path, name: str, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of the training and of the test rows of the collection's own split."""
    mask = np.loadtxt(data_dir / name / "test_mask.csv.gz", delimiter=",", ndmin=2)
    if not 0 <= split < mask.shape[1]:
        raise SystemExit(f"{name} has splits 0 to {mask.shape[1] - 1}; got --split {split}")
    test = mask[:, split] > 0.5
    return np.flatnonzero(~test), np.flatnonzero(test)


def statistics(train: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and population standard deviation per column; a constant column has scale 1."""
    mean = train.mean(axis=0)
    scale = train.std(axis=0)
    # Rounding leaves a constant column with a standard deviation of a few units in the last place.
    constant = scale <= 1e-12 * np.maximum(1.0, np.abs(mean))
    return mean, np.where(constant, 1.0, scale)


def standardize(
    table: np.ndarray, train: np.ndarray, test: np.ndarray, dtype: str
) -> Standardized:
    """Split `table` by row numbers and standardize it with the training rows' statistics."""
    mean, scale = statistics(table[train])
    rows = ((table - mean) / scale).astype(dtype)
    x, y = rows[:, :-1], rows[:, -1:]
    return Standardized(
        x_train=x[train],
        y_train=y[train],
        x_test=x[test],
        y_test=y[test],
        input_mean=mean[:-1],
        input_scale=scale[:-1],
        target_mean=float(mean[-1]),
        target_scale=float(scale[-1]),
    )
