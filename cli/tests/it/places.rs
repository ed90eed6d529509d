//! Longitudes and latitudes are places on the Earth, for every model.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use burn_gp_core::neighbors::{Coordinates, chordal};
use burn_gp_datasets::Place;
use parquet::data_type::DoubleType;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use temp_dir::TempDir;

use crate::support::processes::assert_refused;
use crate::support::{columns, numbers, read, run, succeed};

const SENTENCE: &str = "lon and lat are read as degrees on the sphere; lengthscales are in km; \
                        --kind lon=number turns this off\n";

/// Longitude, latitude, height, and a target that varies over about 1000 km.
fn rows(count: usize) -> impl Iterator<Item = [f64; 4]> {
    (0..count).map(|row| {
        let part = |step: f64| (row as f64 * step).fract();
        let (longitude, latitude) = (
            -180.0 + 360.0 * part(0.618_034),
            180.0 * part(0.414_214) - 90.0,
        );
        let height = 3.0 * part(0.732_051);
        let place = Place {
            longitude,
            latitude,
        };
        let [x, _, z] = place.point().map(|kilometers| kilometers / 3000.0);
        [
            longitude,
            latitude,
            height,
            x.sin() + z.cos() + 0.2 * height,
        ]
    })
}

fn write(path: &Path) {
    let lines = rows(120).map(|[lon, lat, height, y]| format!("{lon},{lat},{height},{y}\n"));
    let text = format!("lon,lat,height,y\n{}", lines.collect::<String>());
    fs::write(path, text).unwrap();
}

const TRAIN: [&str; 7] = [
    "train",
    "--data",
    "places.csv",
    "--steps",
    "20",
    "--dtype",
    "f64",
];

fn train(path: &Path, more: &[&str], out: &str) -> String {
    succeed(path, &[&TRAIN[..], more, &["--out", out]].concat())
}

fn predict(path: &Path, model: &str, text: &str) -> Vec<f64> {
    fs::write(path.join("new.csv"), text).unwrap();
    let predict = [
        "predict",
        "-m",
        model,
        "-d",
        "new.csv",
        "-o",
        "predicted.csv",
    ];
    succeed(path, &[&predict[..], &["--overwrite"]].concat());
    numbers(&path.join("predicted.csv"), "mean")
}

fn lengthscales(path: &Path, run: &str) -> usize {
    let metrics: serde_json::Value =
        serde_json::from_str(&read(&path.join(run).join("metrics.json"))).unwrap();
    let found = &metrics["hyperparameters"]["kernel.lengthscale"];
    found.as_array().unwrap().len()
}

#[test]
fn points_are_those_of_the_library() {
    for [longitude, latitude, ..] in rows(500) {
        for longitude in [longitude, longitude + 360.0] {
            let place = Place {
                longitude,
                latitude,
            };
            let degrees = Coordinates::new(vec![longitude, latitude], 2).unwrap();
            assert_eq!(place.point(), *chordal(&degrees).unwrap().row(0));
        }
    }
}

#[test]
fn exact_regression_knows_that_the_earth_is_round() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(&path.join("places.csv"));
    let text = train(path, &["--model", "exact"], "run");
    assert!(text.contains(SENTENCE), "{text}");
    assert!(text.contains("3 inputs, a place with lat"), "{text}");
    assert!(text.contains("\n  lon, lat (km)  "), "{text}");
    assert_eq!(lengthscales(path, "run"), 2);

    // Columns in another order, and one that the model does not know.
    let found = predict(
        path,
        "run",
        "height,name,lat,lon\n1,a,10.5,-180\n1,b,10.5,180\n1,c,90,-77\n1,d,90,13\n1,e,-90,0\n",
    );
    for (one, other) in [(found[0], found[1]), (found[2], found[3])] {
        assert!((one - other).abs() < 1e-12, "{found:?}");
    }
    assert!((found[0] - found[3]).abs() > 1e-3, "{found:?}");
    // With numbers, the edges of the map are far apart.
    let text = train(path, &["--model", "exact", "--kind", "lon=number"], "flat");
    assert!(!text.contains("sphere"), "{text}");
    assert_eq!(lengthscales(path, "flat"), 3);
    let flat = predict(path, "flat", "height,lat,lon\n1,10.5,-180\n1,10.5,180\n");
    assert!((flat[0] - flat[1]).abs() > 1e-3, "{flat:?}");

    // The columns as they were can be kept.
    fs::write(path.join("new.csv"), "lon,lat,height\n180,10.5,1\n").unwrap();
    let keep = ["--keep=lon,lat", "-o", "kept.csv"];
    succeed(
        path,
        &[&["predict", "-m", "run", "-d", "new.csv"][..], &keep].concat(),
    );
    assert_eq!(
        columns(&path.join("kept.csv"), &["lon", "lat"]),
        [["180", "10.5"]]
    );

    fs::write(path.join("new.csv"), "lon,lat,height\n1,2,3\n1,95,3\n").unwrap();
    let predict = [
        "predict", "-m", "run", "-d", "new.csv", "-o", "none.csv", "--strict",
    ];
    assert_refused(
        &run(path, &predict),
        "new.csv:3: column 2 (\"lat\") holds \"95\", but a latitude is between -90 and 90 degrees; \
         correct it or remove the row",
    );
}

#[test]
fn lengthscales_are_in_kilometers() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(&path.join("places.csv"));
    let words = "train --data places.csv --kernel matern52(lengthscale=1500) --model svgp \
                 --inducing 20 --steps 1 --out run";
    succeed(path, &words.split_whitespace().collect::<Vec<_>>());
    let text = succeed(path, &["show", "run", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
    let parameters = shown["parameters"].as_array().unwrap();
    let found = (parameters.iter())
        .find(|parameter| parameter["path"] == "kernel.lengthscale")
        .unwrap();
    assert_eq!(found["inputs"][0], "lon, lat (km)");
    let value = found["values"][0].as_f64().unwrap();
    // One step changes a parameter by little more than the learning rate, at most 0.1.
    assert!((value / 1500.0).ln().abs() < 0.2, "{value}");
}

#[test]
fn a_report_has_the_effects_of_longitude_and_latitude() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(&path.join("places.csv"));
    train(path, &["--model", "sgpr", "--inducing", "30"], "run");
    succeed(path, &["report", "run", "--out", "page.html"]);
    let page = read(&path.join("page.html"));
    for text in [
        "effect of lon",
        "effect of lat",
        "a place with lon",
        "lon, lat (km)",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

/// A table of longitudes, latitudes and this target.
fn write_map(path: &Path, target: impl Fn(f64) -> String) {
    let lines = rows(120).map(|[lon, lat, _, y]| format!("{lon},{lat},{}\n", target(y)));
    fs::write(path, format!("lon,lat,y\n{}", lines.collect::<String>())).unwrap();
}

#[test]
fn places_have_a_map_in_degrees() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let data = path.join("places.csv");
    write_map(&data, |y| y.to_string());
    train(path, &["--model", "exact"], "run");
    let map = read(&path.join("run/prediction-map.svg"));
    succeed(path, &["report", "run", "--out", "page.html"]);
    let caption = "Predictions over both inputs, and how certain they are";
    assert!(read(&path.join("page.html")).contains(caption));
    write_map(&data, |y| ["low", "high"][usize::from(y > 1.0)].to_owned());
    let classifier = [
        "--model",
        "svgp",
        "--likelihood",
        "bernoulli",
        "--inducing",
        "10",
    ];
    train(path, &classifier, "classes");
    let decisions = read(&path.join("classes/decision-map.svg"));
    for map in [&map, &decisions] {
        // All of the globe.
        for text in [
            "lon (°)",
            "lat (°)",
            "−180",
            "180",
            "shapes are true at latitude",
        ] {
            assert!(map.contains(text), "{text}");
        }
    }
    assert!(map.contains("test rows, colored by y") && !decisions.contains("colored by"));
    // With a height, there is no map.
    write(&data);
    train(path, &["--model", "exact"], "high");
    assert!(!path.join("high/prediction-map.svg").exists());
}

#[test]
fn held_out_files_and_gaps_have_places_too() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(&path.join("places.csv"));
    fs::write(
        path.join("test.csv"),
        "y,lat,lon,height\n1,10,20,1\n2,10,,1\n1.5,-10,340,1\n",
    )
    .unwrap();
    let exact = ["--model", "exact", "--test", "test.csv"];
    train(path, &exact, "run");
    assert_eq!(numbers(&path.join("run/predictions.csv"), "mean").len(), 3);
    fs::write(path.join("test.csv"), "y,lat,lon,height\n1,-91,20,1\n").unwrap();
    let output = run(path, &[&TRAIN[..], &exact, &["--out", "second"]].concat());
    let message = "test.csv:2: column 2 (\"lat\") holds \"-91\", but a latitude is between -90 and 90 degrees; \
                   correct it or remove the row";
    let found = String::from_utf8(output.stderr).unwrap();
    assert!(found.trim_end().ends_with(message), "{found}");
    assert_eq!(output.status.code(), Some(2));
}

fn write_parquet(path: &Path) {
    let message = "message rows { required double lon; required double lat; required double height; \
                   required double y; }";
    let schema = Arc::new(parse_message_type(message).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let all: Vec<[f64; 4]> = rows(1500).collect();
    for rows in all.chunks(400) {
        let mut group = writer.next_row_group().unwrap();
        for position in 0..4 {
            let mut column = group.next_column().unwrap().unwrap();
            let values: Vec<f64> = rows.iter().map(|row| row[position]).collect();
            let typed = column.typed::<DoubleType>();
            typed.write_batch(&values, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// In one batch, rows have the same sum in any order, up to rounding that training amplifies.
#[test]
fn streamed_rows_have_the_losses_of_rows_in_memory() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_parquet(&path.join("places.parquet"));
    let losses = |stream: &str, out: &str| {
        let train = [
            "train",
            "--data",
            "places.parquet",
            "--inducing",
            "20",
            "--steps",
            "20",
        ];
        let more = [
            "--batch-size",
            "10000",
            "--test-fraction",
            "0",
            "--dtype",
            "f64",
        ];
        let text = succeed(path, &[&train[..], &more, &[stream, "--out", out]].concat());
        assert!(text.contains(SENTENCE), "{text}");
        numbers(&path.join(out).join("training_log.csv"), "loss")
    };
    let (streamed, memory) = (
        losses("--stream", "streamed"),
        losses("--stream=false", "memory"),
    );
    assert_eq!(streamed.len(), 20);
    for (found, expected) in streamed.iter().zip(&memory) {
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    }
}

#[test]
fn one_coordinate_alone_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(&path.join("places.csv"));
    let more = ["--kind", "height=latitude", "--out", "run"];
    assert_refused(
        &run(path, &[&TRAIN[..], &more].concat()),
        "places.csv: column 3 (\"height\") is given as a latitude, but no column as its longitude; \
         correct the file, or use --kind height=latitude --kind COLUMN=longitude",
    );
}
