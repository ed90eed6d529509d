"""Compares `burn-gp forecast` with the seasonal naive forecast and AutoETS on several series; prints one table.

Each series is forecast from several origins, a horizon apart, by a process that gets only the values before the origin.
MASE is the mean absolute error divided by that of the seasonal naive forecast within these values; coverage is that of
intervals of 80 %. Both are means over origins. `time_series_data.py` writes the series.
"""

import argparse
import csv
import json
import math
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
LEVEL = 0.8


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=Path, required=True, help="folder that time_series_data.py wrote")
    parser.add_argument("--only", help="names of series, separated by commas")
    parser.add_argument("--peers", type=Path, help="Python with statsforecast")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--origins", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--extra", default="", help="more options for `forecast`, separated by blanks")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def read(path: Path) -> list[tuple[str, float]]:
    with path.open() as file:
        return [(row["time"], float(row["value"])) for row in csv.DictReader(file)]


def own(arguments: argparse.Namespace, data: Path, horizon: int, folder: Path) -> tuple[dict, str]:
    """The forecast of our program, and its model."""
    out = folder / "run"
    command = [arguments.program, "forecast", "--data", data, "--horizon", horizon, "--origins", 0]
    command += ["--levels", LEVEL, "--threads", arguments.threads, "--out", out, "--overwrite"]
    command += arguments.extra.split()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    with (out / "forecast.csv").open() as file:
        rows = list(csv.DictReader(file))
    metrics = json.loads((out / "metrics.json").read_text())["series"][0]
    columns = {"point": "median", "lower": "lower_80", "upper": "upper_80"}
    found = {name: [float(row[column]) for row in rows] for name, column in columns.items()}
    return found, f"{metrics['model']} ({metrics.get('transform', 'none')})"


def ets(arguments: argparse.Namespace, data: Path, season: int, horizon: int) -> dict:
    command = [arguments.peers, FOLDER / "forecast_statsforecast.py", "--data", data]
    command += ["--season", season, "--horizon", horizon, "--level", round(100 * LEVEL)]
    return json_lines.run(command)[-1]


def seasonal_naive(values: list[float], season: int, horizon: int) -> dict:
    """The value a season before, with normal intervals."""
    differences = [now - before for before, now in zip(values, values[season:])]
    deviation = math.sqrt(statistics.fmean(difference**2 for difference in differences))
    half = statistics.NormalDist().inv_cdf(0.5 + LEVEL / 2) * deviation
    point = [values[len(values) - season + step % season] for step in range(horizon)]
    widths = [half * math.sqrt(step // season + 1) for step in range(horizon)]
    lower = [value - width for value, width in zip(point, widths)]
    return {"point": point, "lower": lower, "upper": [value + width for value, width in zip(point, widths)]}


def scores(forecast: dict, future: list[float], scale: float) -> dict:
    errors = [abs(value - point) for value, point in zip(future, forecast["point"])]
    inside = [low <= value <= high for value, low, high in zip(future, forecast["lower"], forecast["upper"])]
    return {"mase": statistics.fmean(errors) / scale, "coverage": statistics.fmean(inside)}


def compare(arguments: argparse.Namespace, listed: dict, folder: Path) -> dict:
    """Mean scores of all programs on one series."""
    rows = read(arguments.series / f"{listed['name']}.csv")
    season, horizon = listed["season"], listed["horizon"]
    found: dict[str, list[dict]] = {}
    models, seconds = [], 0.0
    for origin in range(arguments.origins, 0, -1):
        end = len(rows) - origin * horizon
        known, future = rows[:end], [value for _, value in rows[end : end + horizon]]
        values = [value for _, value in known]
        data = folder / "known.csv"
        data.write_text("time,value\n" + "".join(f"{time},{value}\n" for time, value in known))
        differences = [abs(now - before) for before, now in zip(values, values[season:])]
        scale = statistics.fmean(differences)
        began = time.monotonic()
        forecast, model = own(arguments, data, horizon, folder)
        seconds += time.monotonic() - began
        models.append(model)
        forecasts = {"burn-gp": forecast, "seasonal naive": seasonal_naive(values, season, horizon)}
        if arguments.peers:
            forecasts["AutoETS"] = ets(arguments, data, season, horizon)
        for program, forecast in forecasts.items():
            found.setdefault(program, []).append(scores(forecast, future, scale))
    mean = lambda all, key: statistics.fmean(one[key] for one in all)  # noqa: E731
    means = {program: {key: mean(all, key) for key in ("mase", "coverage")} for program, all in found.items()}
    return {**listed, "rows": len(rows), "seconds": seconds, "models": models, "scores": means}


def main() -> None:
    arguments = parse_arguments()
    arguments.program = arguments.program or cargo_executable.build("bin", "burn-gp")
    lines = (arguments.series / "series.json").read_text().splitlines()
    listed = [json.loads(line) for line in lines]
    if arguments.only:
        listed = [one for one in listed if one["name"] in arguments.only.split(",")]
    results = []
    with tempfile.TemporaryDirectory() as created:
        for one in listed:
            results.append(compare(arguments, one, Path(created)))
            print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    programs = list(results[0]["scores"])
    header = ["series", "rows", "horizon"]
    header += [f"MASE of {program}" for program in programs] + [f"within 80 % of {program}" for program in programs]
    table = []
    for one in results:
        cells = [f"{one['scores'][program]['mase']:.3f}" for program in programs]
        cells += [f"{one['scores'][program]['coverage']:.2f}" for program in programs]
        table.append([one["name"], str(one["rows"]), str(one["horizon"]), *cells, f"{one['seconds']:.1f}"])
    print(text_table.render([*header, "seconds of burn-gp"], table))
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
