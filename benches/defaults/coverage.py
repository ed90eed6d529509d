"""Trains on simulated linear data whose truth is known, and checks the 95 % intervals.

There are two kinds of cells. In the grid, rows are x ~ N(0, I) in d dimensions, and the target is √R²·wᵀx plus noise of
variance 1 − R², with w a random direction of length one; R² is the share of the variance that is signal. The
wide cells have more columns than rows: y = 2x₀ − x₁ + ½x₂ plus noise of standard deviation 0.5, with 81
columns.

The program trains on all n rows with the options `--model` and `--test-fraction 0`. `repeats` is the
probability that a new observation at the input of a training row lies in the 95 % interval there, the mean
over the rows; `new rows` is the same at 400 new inputs. Both are computed from the truth and have no
sampling error of their own. `noise` is the mean ratio of the reported noise standard deviation to the true one,
`< half` the number of fits where this ratio is less than half. NLPD is the expected negative log density of an
observation at the new inputs, and `oracle` the same for a model that knows the truth.

`MISS` marks a cell where the mean coverage of repeats or of new rows is below 0.90, or where a run was
refused. The exit status is 1 if there is one.
"""

import argparse
import math
import random
import shlex
import sys
import tempfile
from pathlib import Path

import program_runs
from program_runs import Program, Results, mean, numbers, shown

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers"))
import text_table  # noqa: E402

GRID = {"d": [1, 2, 3, 5, 10, 20], "n": [20, 50, 100, 300, 1000], "r2": [0.0, 0.3, 0.8, 0.95]}
WIDE = {"d": 81, "n": [20, 40, 60]}
NEW_ROWS = 400
LEAST_COVERAGE = 0.9


class Truth:
    """A linear function with Gaussian noise, and the rows of one data set drawn from it."""

    def __init__(self, key: dict) -> None:
        self.random = random.Random(f"{key['d']} {key['n']} {key['r2']} {key['seed']}")
        if key["r2"] is None:
            self.weights = [2.0, -1.0, 0.5] + [0.0] * (key["d"] - 3)
            self.noise = 0.5
        else:
            direction = self.normal(key["d"])
            length = math.hypot(*direction)
            self.weights = [math.sqrt(key["r2"]) * part / length for part in direction]
            self.noise = math.sqrt(1.0 - key["r2"])

    def normal(self, count: int) -> list[float]:
        return [self.random.gauss(0.0, 1.0) for _ in range(count)]

    def inputs(self, rows: int) -> list[list[float]]:
        return [self.normal(len(self.weights)) for _ in range(rows)]

    def mean(self, x: list[float]) -> float:
        return sum(weight * part for weight, part in zip(self.weights, x))

    def observed(self, x: list[float]) -> float:
        return self.mean(x) + self.random.gauss(0.0, self.noise)

    def coverage(self, x: list[float], prediction: dict[str, float]) -> float:
        """The probability that an observation at x lies in the interval."""
        upper, lower = ((prediction[end] - self.mean(x)) / self.noise for end in ("upper", "lower"))
        return 0.5 * (math.erf(upper / math.sqrt(2.0)) - math.erf(lower / math.sqrt(2.0)))

    def nlpd(self, x: list[float], prediction: dict[str, float]) -> float:
        """The expected negative log density of an observation at x under a normal prediction."""
        squared_error = (prediction["mean"] - self.mean(x)) ** 2 + self.noise**2
        variance = prediction["std"] ** 2
        return 0.5 * (math.log(2.0 * math.pi * variance) + squared_error / variance)

    def oracle_nlpd(self) -> float:
        return 0.5 * (math.log(2.0 * math.pi * self.noise**2) + 1.0)




def measure(program: Program, options: list[str], key: dict) -> dict:
    truth = Truth(key)
    train, new = truth.inputs(key["n"]), truth.inputs(NEW_ROWS)
    names = [f"x{column}" for column in range(key["d"])]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rows = [[*x, truth.observed(x)] for x in train]
        program_runs.write_csv(folder / "train.csv", [*names, "y"], rows)
        program_runs.write_csv(folder / "points.csv", names, train + new)
        fixed = ["--test-fraction", 0, "--seed", key["seed"]]
        trained = program.train(folder / "train.csv", "y", folder / "model", *fixed, *options)
        predictions = program.predict(folder / "model", folder / "points.csv")
        noise = program.noise(folder / "model")
    at_train = list(zip(train, predictions))
    at_new = list(zip(new, predictions[len(train) :]))
    return {
        "repeats": sum(truth.coverage(*pair) for pair in at_train) / len(at_train),
        "new_rows": sum(truth.coverage(*pair) for pair in at_new) / len(at_new),
        "nlpd": sum(truth.nlpd(*pair) for pair in at_new) / len(at_new),
        "oracle_nlpd": truth.oracle_nlpd(),
        "noise": noise,
        "noise_ratio": None if noise is None else noise / truth.noise,
        "kernel": trained.get("kernel"),
        "model": trained.get("model"),
        "seconds": trained["process_seconds"],
    }


def cells_of(arguments: argparse.Namespace) -> list[dict]:
    grid = [
        {"d": d, "n": n, "r2": r2} for n in arguments.n for d in arguments.d for r2 in arguments.r2
    ]
    wide = [{"d": WIDE["d"], "n": n, "r2": None} for n in WIDE["n"]]
    return {"grid": grid, "wide": wide, "all": wide + grid}[arguments.cells]


def is_miss(runs: list[dict]) -> bool:
    coverages = [mean(runs, name) for name in ("repeats", "new_rows")]
    return any(coverage is None or coverage < LEAST_COVERAGE for coverage in coverages)


def numbers_of(runs: list[dict]) -> list[str]:
    """The results of a cell, without the fits that were refused."""
    fits = [run for run in runs if "refused" not in run]
    ratios = [run["noise_ratio"] for run in fits if run["noise_ratio"] is not None]
    small = sum(ratio < 0.5 for ratio in ratios)
    coverages = [shown(mean(fits, name)) for name in ("repeats", "new_rows")]
    noise = shown(sum(ratios) / len(ratios) if ratios else None, 2)
    mark = "MISS" if is_miss(runs) else ""
    return [*coverages, noise, f"{small} of {len(runs)}", shown(mean(fits, "nlpd")), mark]


def table(cells: list[dict], results: Results, before: Results | None) -> str:
    titles = ["repeats", "new rows", "noise", "< half", "NLPD", "bar"]
    header = ["d, n, R²", *titles, "oracle", "seconds"]
    if before is not None:
        header[1:1] = [f"before: {titles[0]}", *titles[1:]]
        header[1 + len(titles)] = f"now: {titles[0]}"
    rows = []
    for cell in cells:
        runs = results.of(cell)
        share = "wide" if cell["r2"] is None else f"{cell['r2']:g}"
        line = [f"{cell['d']}, {cell['n']}, {share}"]
        if before is not None:
            same = {run["seed"] for run in runs}
            line += numbers_of([run for run in before.of(cell) if run["seed"] in same])
        fits = [run for run in runs if "refused" not in run]
        line += [*numbers_of(runs), shown(mean(fits, "oracle_nlpd")), shown(mean(fits, "seconds"), 1)]
        rows.append(line)
    return text_table.render(header, rows)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    program_runs.add_options(parser)
    parser.add_argument("--model", default="auto", help="auto (default), exact, sgpr, svgp, …")
    parser.add_argument("--cells", choices=["all", "grid", "wide"], default="all")
    for name, kind in {"d": int, "n": int, "r2": float}.items():
        values = ",".join(f"{value:g}" for value in GRID[name])
        parser.add_argument(
            f"--{name}", type=numbers(kind), default=GRID[name], metavar="A,B", help=f"default: {values}"
        )
    parser.add_argument("--seeds", type=int, default=10, metavar="K", help="data sets per cell")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    program = program_runs.program_of(arguments)
    options = ["--model", arguments.model, *shlex.split(arguments.extra)]
    results = Results(arguments.out, {"program": program.digest(), "options": options})
    before = program_runs.earlier(arguments.compare) if arguments.compare else None
    cells = cells_of(arguments)
    keys = [cell | {"seed": seed} for seed in range(arguments.seeds) for cell in cells]
    results.complete(keys, lambda key: measure(program, options, key), arguments.jobs)
    print(table(cells, results, before))
    misses = [cell for cell in cells if is_miss(results.of(cell))]
    for run in results.runs:
        if "refused" in run:
            print(f"refused: d {run['d']}, n {run['n']}, R² {run['r2']}, seed {run['seed']}: {run['refused']}")
    print(f"{len(misses)} of {len(cells)} cells miss the bar: coverage below {LEAST_COVERAGE}")
    sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()
