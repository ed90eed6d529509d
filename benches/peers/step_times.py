"""Times the steps of a training loop, and reports the peak memory of the process."""

import resource
import time
from collections.abc import Callable

WARM_UP = 3


def measure(step: Callable[[], float], steps: int) -> tuple[list[float], float]:
    """The sorted milliseconds of `steps` steps after a few warm-up steps, and the last loss."""
    milliseconds = []
    loss = float("nan")
    for number in range(WARM_UP + steps):
        start = time.perf_counter()
        loss = step()
        if number >= WARM_UP:
            milliseconds.append(1e3 * (time.perf_counter() - start))
    return sorted(milliseconds), loss


def median(milliseconds: list[float]) -> float:
    """The median of a sorted list of milliseconds, to the microsecond."""
    return round(milliseconds[len(milliseconds) // 2], 3)


def peak_mebibytes() -> int:
    """The peak resident memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
