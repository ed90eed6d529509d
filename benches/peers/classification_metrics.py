"""Scores of class probabilities."""

import numpy as np


def score(labels: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """Share of wrong labels, and mean negative log probability of the label."""
    labels = labels.astype(int)
    of_label = probabilities[np.arange(len(labels)), labels]
    return {
        "error": float(np.mean(probabilities.argmax(1) != labels)),
        "nlpd": float(-np.mean(np.log(np.maximum(of_label, 1e-300)))),
    }
