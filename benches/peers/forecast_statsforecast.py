"""Forecasts one series with AutoETS of statsforecast; prints a line of JSON.

Needs statsforecast. ETS has seasons of at most 24 steps; longer ones are left out.
"""

import argparse
import csv
import json
from pathlib import Path

LONGEST_SEASON = 24


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="CSV file with a column `value`")
    parser.add_argument("--season", type=int, required=True)
    parser.add_argument("--horizon", type=int, required=True)
    parser.add_argument("--level", type=int, default=80, help="in percent")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    import numpy
    from statsforecast.models import AutoETS

    with arguments.data.open() as file:
        values = numpy.array([float(row["value"]) for row in csv.DictReader(file)])
    season = arguments.season if arguments.season <= LONGEST_SEASON else 1
    found = AutoETS(season_length=season).forecast(values, arguments.horizon, level=[arguments.level])
    ends = [found[f"{end}-{arguments.level}"] for end in ("lo", "hi")]
    print(json.dumps({"point": found["mean"].tolist(), "lower": ends[0].tolist(), "upper": ends[1].tolist()}))


if __name__ == "__main__":
    main()
