"""Times the log density of a series over time and its gradient in a peer; prints one JSON line.

The peers are tinygp (JAX, compiled) and celerite2 (C++), both in linear time and in double precision. The data are
those of `benches/state_space.rs`. celerite2 has no Matern-5/2, approximates Matern-3/2, and is timed through its
driver: factorization, solve and their reverse passes, without the derivatives of the kernel's parameters, which makes
it look a little faster. The fastest of several repetitions counts.
"""

import argparse
import json
import math
import time
from collections.abc import Callable

import processor_threads

NOISE = 0.1
STEP = 0.05
VARIANCE = 1.0
LENGTHSCALE = 1.0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=["tinygp", "celerite2"])
    parser.add_argument("kernel", choices=["matern12", "matern32", "matern52"])
    parser.add_argument("rows", type=int)
    parser.add_argument("--uneven", action="store_true", help="steps that differ from row to row")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def series(rows: int, is_uneven: bool) -> tuple[list[float], list[float]]:
    """Times and targets, the same as in `benches/state_space.rs`."""
    state = 1

    def uniform() -> float:
        nonlocal state
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (state >> 11) / 2**53

    times, now = [], 0.0
    for _ in range(rows):
        now += STEP * (0.5 + uniform() if is_uneven else 1.0)
        times.append(now)
    return times, [math.sin(time) + 0.3 * (uniform() - 0.5) for time in times]


def fastest(run: Callable[[], object], repetitions: int) -> float:
    """The milliseconds of the fastest repetition, after one that is not timed."""
    run()
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return 1e3 * min(seconds)


def tinygp_runs(arguments, times, targets) -> tuple[Callable, Callable, dict]:
    """Functions that compute the log density, and also its gradient, and the versions."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import tinygp

    kinds = {"matern12": "Exp", "matern32": "Matern32", "matern52": "Matern52"}
    kind = getattr(tinygp.kernels.quasisep, kinds[arguments.kernel])

    def log_density(parameters, x, y):
        kernel = kind(scale=parameters["lengthscale"], sigma=parameters["deviation"])
        process = tinygp.GaussianProcess(kernel, x, diag=parameters["noise"], assume_sorted=True)
        return process.log_probability(y)

    parameters = {"lengthscale": LENGTHSCALE, "deviation": math.sqrt(VARIANCE), "noise": NOISE}
    x, y = jnp.array(times), jnp.array(targets)
    density, gradient = jax.jit(log_density), jax.jit(jax.value_and_grad(log_density))
    versions = {"tinygp": tinygp.__version__, "jax": jax.__version__}
    return (
        lambda: float(density(parameters, x, y)),
        lambda: jax.block_until_ready(gradient(parameters, x, y)),
        versions,
    )


def celerite2_runs(arguments, times, targets) -> tuple[Callable, Callable, dict]:
    import celerite2
    import numpy as np
    from celerite2 import backprop, driver, terms

    kernels = {
        "matern12": terms.RealTerm(a=VARIANCE, c=1.0 / LENGTHSCALE),
        "matern32": terms.Matern32Term(sigma=math.sqrt(VARIANCE), rho=LENGTHSCALE),
    }
    if arguments.kernel not in kernels:
        raise SystemExit(f"celerite2 has no {arguments.kernel}")
    term, rows = kernels[arguments.kernel], arguments.rows
    t, y = np.array(times), np.array(targets)
    noise = np.full(rows, NOISE)
    empty = np.empty_like

    def density() -> float:
        c, a, u, v = term.get_celerite_matrices(t, noise)
        d, w = driver.factor(t, c, a, u, v, a.copy(), v.copy())
        z = driver.solve_lower(t, c, u, w, y[:, None], y[:, None].copy())[:, 0]
        return float(-0.5 * (np.log(d).sum() + (z * z / d).sum() + rows * math.log(2.0 * math.pi)))

    def gradient() -> object:
        c, a, u, v = term.get_celerite_matrices(t, noise)
        size = len(c)
        d, w, s = backprop.factor_fwd(t, c, a, u, v, empty(a), empty(v), np.empty((rows, size, size)))
        column = y[:, None]
        z, f = backprop.solve_lower_fwd(t, c, u, w, column, empty(column), np.empty((rows, size, 1)))
        of_d = -0.5 / d + 0.5 * z[:, 0] ** 2 / d**2
        *_, of_w, _ = backprop.solve_lower_rev(
            t, c, u, w, column, z, f, -z / d[:, None], empty(t), empty(c), empty(u), empty(w), empty(z)
        )
        spaces = [empty(x) for x in (t, c, a, u, v)]
        return backprop.factor_rev(t, c, a, u, v, d, w, s, of_d, of_w, *spaces)

    return density, gradient, {"celerite2": celerite2.__version__}


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    times, targets = series(arguments.rows, arguments.uneven)
    runs = {"tinygp": tinygp_runs, "celerite2": celerite2_runs}[arguments.peer]
    density, gradient, versions = runs(arguments, times, targets)
    line = {
        "peer": arguments.peer,
        "log_density": density(),
        "density_ms": fastest(density, arguments.repetitions),
        "gradient_ms": fastest(gradient, arguments.repetitions),
        "versions": versions,
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
