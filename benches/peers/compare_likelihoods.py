"""Compares `burn-gp train --model vecchia-laplace` with GPBoost's Vecchia-Laplace approximation; prints one table.

For each likelihood, rows of two inputs are simulated from a known smooth function. Both programs read the same files,
fit a Matérn-5/2 kernel with a lengthscale for each input, a constant mean and the parameters of the likelihood, with
the same number of neighbors and in double precision, and predict the test rows. Scores are the mean negative log
predictive density (NLPD) and the RMSE of the predicted means; beside them is the RMSE of the true means. Each program
is a process of its own, in turns. Seconds are medians over the rounds: ours those of the whole process, GPBoost's those
of reading, fit and predictions without imports.
"""

import argparse
import csv
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cargo_executable
import json_lines
import text_table

FOLDER = Path(__file__).resolve().parent

# Our names of GPBoost's likelihoods.
LIKELIHOODS = {
    "bernoulli_probit": "bernoulli",
    "poisson": "poisson",
    "negative_binomial": "negative-binomial",
    "gamma": "gamma",
    "tweedie": "tweedie",
    "beta": "beta",
    "binomial_logit": "binomial",
    "beta_binomial": "beta-binomial",
}
SIZE = 2.0
PRECISION = 8.0
OF_TRIALS = ["binomial_logit", "beta_binomial"]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="Python with gpboost, numpy and scipy")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--likelihoods", nargs="+", choices=LIKELIHOODS, default=list(LIKELIHOODS))
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--test-rows", type=int, default=1000)
    parser.add_argument("--neighbors", type=int, default=30)
    parser.add_argument("--prediction-neighbors", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def function(first: float, second: float) -> float:
    return 0.5 + math.sin(6 * first) + math.cos(5 * second) * first


def poisson(rate: float, draws: random.Random) -> int:
    """The number of exponential times with mean one before `rate`."""
    count, passed = 0, draws.expovariate(1)
    while passed < rate:
        count, passed = count + 1, passed + draws.expovariate(1)
    return count


def draw(likelihood: str, f: float, trials: int, draws: random.Random) -> tuple[float, float]:
    """A target and its mean."""
    if likelihood in OF_TRIALS:
        mean = share = 1 / (1 + math.exp(-f))
        if likelihood == "beta_binomial":
            share = draws.betavariate(PRECISION * mean, PRECISION * (1 - mean))
        return sum(draws.random() < share for _ in range(trials)), trials * mean
    mean = math.exp(f)
    if likelihood == "bernoulli_probit":
        probability = statistics.NormalDist().cdf(f)
        return int(draws.random() < probability), probability
    if likelihood == "poisson":
        return poisson(mean, draws), mean
    if likelihood == "negative_binomial":
        return poisson(draws.gammavariate(SIZE, mean / SIZE), draws), mean
    if likelihood == "gamma":
        return draws.gammavariate(SIZE, mean / SIZE), mean
    if likelihood == "beta":
        mean = 1 / (1 + math.exp(-f))
        drawn = draws.betavariate(PRECISION * mean, PRECISION * (1 - mean))
        return min(max(drawn, 1e-6), 1 - 1e-6), mean
    # Dispersion 1 and power 1.5: gamma variables with shape 1.
    number = poisson(2 * math.sqrt(mean), draws)
    return draws.gammavariate(number, math.sqrt(mean) / 2) if number else 0.0, mean


def simulate(likelihood: str, path: Path, rows: int, draws: random.Random) -> list[tuple[float, float]]:
    """Writes rows; returns their targets and means."""
    drawn = []
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        has_trials = likelihood in OF_TRIALS
        table.writerow(["first", "second", "trials", "y"] if has_trials else ["first", "second", "y"])
        for _ in range(rows):
            place = (draws.random(), draws.random())
            trials = [draws.randint(1, 40)] if has_trials else []
            drawn.append(draw(likelihood, function(*place), sum(trials), draws))
            table.writerow([*place, *trials, drawn[-1][0]])
    return drawn


def root_mean_square(errors: list[float]) -> float:
    return math.sqrt(statistics.fmean(error * error for error in errors))


def own(arguments: argparse.Namespace, likelihood: str, train: Path, test: Path) -> dict:
    """Scores and seconds of our program."""
    out = train.parent / "run"
    command = [arguments.program, "train", "--model", "vecchia-laplace", "--kernel", "matern52", "--mean", "constant"]
    command += ["--data", train, "--test", test, "--target", "y", "--dtype", "f64"]
    command += ["--likelihood", LIKELIHOODS[likelihood], "--threads", arguments.threads]
    command += ["--neighbors", arguments.neighbors, "--prediction-neighbors", arguments.prediction_neighbors]
    command += ["--trials", "trials"] if likelihood in OF_TRIALS else []
    command += ["--out", out, "--overwrite", "--quiet"]
    began = time.monotonic()
    subprocess.run([str(word) for word in command], check=True)
    seconds = time.monotonic() - began
    metrics = json.loads((out / "metrics.json").read_text())
    with (out / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    column = "probability of 1" if likelihood == "bernoulli_probit" else "mean"
    rmse = root_mean_square([float(row["y"]) - float(row[column]) for row in rows])
    return {"program": "burn-gp", "seconds": seconds, "nlpd": metrics["nlpd"], "rmse": rmse}


def peer(arguments: argparse.Namespace, likelihood: str, train: Path, test: Path) -> dict:
    """Scores and seconds of GPBoost."""
    command = [arguments.peers, FOLDER / "likelihood_gpboost.py", "--train", train, "--test", test]
    command += ["--likelihood", likelihood, "--neighbors", arguments.neighbors]
    command += ["--prediction-neighbors", arguments.prediction_neighbors, "--threads", arguments.threads]
    return json_lines.run(command)[-1]


def compare(arguments: argparse.Namespace, likelihood: str, folder: Path) -> list[dict]:
    """The results of all rounds."""
    draws = random.Random(f"{arguments.seed} {likelihood}")
    train, test = folder / "train.csv", folder / "test.csv"
    simulate(likelihood, train, arguments.rows, draws)
    drawn = simulate(likelihood, test, arguments.test_rows, draws)
    truth = root_mean_square([target - mean for target, mean in drawn])
    results = []
    for number in range(arguments.rounds):
        found = [own(arguments, likelihood, train, test)]
        if arguments.peers:
            found.append(peer(arguments, likelihood, train, test))
        for result in found:
            results.append({"likelihood": likelihood, "rmse_of_truth": truth} | result)
            print(f"round {number + 1}: {json.dumps(results[-1])}", file=sys.stderr, flush=True)
    return results


def main() -> None:
    arguments = parse_arguments()
    arguments.program = arguments.program or cargo_executable.build("bin", "burn-gp")
    results = []
    with tempfile.TemporaryDirectory() as created:
        for likelihood in arguments.likelihoods:
            results += compare(arguments, likelihood, Path(created))
    runs: dict[tuple[str, str], list[dict]] = {}
    for result in results:
        runs.setdefault((result["likelihood"], result["program"]), []).append(result)
    rows = []
    for (likelihood, program), own_results in runs.items():
        first = own_results[0]
        cells = [f"{first[key]:.4f}" for key in ("nlpd", "rmse", "rmse_of_truth")]
        seconds = statistics.median(result["seconds"] for result in own_results)
        rows.append([likelihood, program, *cells, f"{seconds:.1f}"])
    print(text_table.render(["likelihood", "program", "NLPD", "RMSE", "of true means", "seconds"], rows))
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
