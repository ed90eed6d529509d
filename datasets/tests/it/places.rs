//! Longitudes and latitudes: places on the Earth as points in space.

use std::fs;

use burn_gp_datasets::{
    ColumnKind, ColumnRoles, DataError, DataSource, Dataset, Features, InputColumns, KindOfColumn,
    MissingValues, NewRows, Place, Schema, Standardizer, StreamedStatistics, TargetColumn,
};
use temp_dir::TempDir;

const PLACES: [[f64; 2]; 6] = [
    [-180.0, 10.5],
    [180.0, 10.5],
    [13.4, 52.5],
    [-77.25, 90.0],
    [45.0, 90.0],
    [300.5, -33.0],
];

fn roles(kinds: &[&str]) -> ColumnRoles {
    let kinds = kinds.iter().map(|kind| kind.parse::<KindOfColumn>());
    ColumnRoles {
        target: "y".parse().unwrap(),
        inputs: InputColumns {
            inferred: true,
            kinds: kinds.collect::<Result<_, _>>().unwrap(),
            ..InputColumns::default()
        },
        ..ColumnRoles::default()
    }
}

fn try_load(contents: &str, roles: &ColumnRoles) -> Result<Dataset, DataError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, contents).unwrap();
    let source = DataSource::resolve(path.to_str().unwrap(), None).unwrap();
    source.load_columns(roles)
}

fn load(contents: &str, roles: &ColumnRoles) -> Dataset {
    try_load(contents, roles).unwrap()
}

/// The error message without the folder's name.
fn message<T: std::fmt::Debug>(result: Result<T, DataError>) -> String {
    let message = result.unwrap_err().to_string();
    message.rsplit_once("a.csv").unwrap().1.to_owned()
}

fn new_rows(contents: &str, schema: &Schema, rows: &NewRows) -> Result<Features, DataError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, contents).unwrap();
    let source = DataSource::resolve(path.to_str().unwrap(), None).unwrap();
    source.load_new_rows(schema, rows)
}

/// A table with these titles of the longitude and the latitude.
fn table(longitude: &str, latitude: &str, places: &[[f64; 2]]) -> String {
    let rows = places.iter().enumerate().map(|(row, [lon, lat])| {
        let height = 100.5 * row as f64;
        format!("{lon},{height},{lat},{}\n", row as f64 + 0.25)
    });
    format!(
        "{longitude},height,{latitude},y\n{}",
        rows.collect::<String>()
    )
}

fn points(places: &[[f64; 2]]) -> Vec<[f64; 3]> {
    let point = |&[longitude, latitude]: &[f64; 2]| {
        let place = Place {
            longitude,
            latitude,
        };
        place.point()
    };
    places.iter().map(point).collect()
}

#[test]
fn usual_names_with_numbers_in_range_are_places() {
    for [longitude, latitude] in [
        ["lon", "lat"],
        ["long", "lat"],
        ["lng", "lat"],
        ["longitude", "latitude"],
        ["Longitude", "Latitude"],
        ["LON", "LAT"],
        ["lon_deg", "lat_deg"],
        ["Longitude_deg", "LATITUDE_DEG"],
        ["Lng", "Latitude"],
    ] {
        let data = load(&table(longitude, latitude, &PLACES), &roles(&[]));
        assert_eq!(data.schema.place(), Some([longitude, latitude]));
        assert_eq!(data.columns[0].kind, ColumnKind::Longitude);
        assert_eq!(data.columns[2].kind, ColumnKind::Latitude);
        let place = format!("{longitude}, {latitude} (km)");
        let names = ["x", "y", "z"].map(|axis| format!("{axis} of {place}"));
        assert_eq!(data.input_names()[..3], names);
        assert_eq!(data.input_names()[3], "height");
        for (row, point) in points(&PLACES).iter().enumerate() {
            assert_eq!(data.inputs.row(row)[..3], point[..]);
            assert_eq!(data.inputs.get(row, 3), 100.5 * row as f64);
        }
        let shared = data.schema.shared_inputs();
        assert_eq!(shared.groups, [0, 0, 0, 1]);
        assert_eq!(shared.names, [place.as_str(), "height"]);
    }
    let uses: Vec<String> = (load(&table("lon", "lat", &PLACES), &roles(&[]))
        .columns
        .iter())
    .map(|column| column.purpose.to_string())
    .collect();
    let expected = [
        "3 inputs, a place with lat",
        "1 input",
        "a place with lon",
        "target",
    ];
    assert_eq!(uses, expected);
}

#[test]
fn other_names_and_numbers_are_numbers() {
    for [longitude, latitude] in [
        ["x", "y2"],
        ["lon", "height2"],
        ["lons", "lat"],
        ["lon_rad", "lat_rad"],
        ["long_term", "lat"],
        ["lon", "flat"],
        ["easting", "northing"],
        ["pickup_longitude", "pickup_latitude"],
    ] {
        let data = load(&table(longitude, latitude, &PLACES), &roles(&[]));
        assert_eq!(data.schema.place(), None, "{longitude} {latitude}");
        let names = [longitude, "height", latitude];
        assert_eq!(data.input_names(), names);
        assert!(data.schema.columns.is_empty());
    }
    let with = |row: usize, place: [f64; 2]| {
        let mut places = PLACES;
        places[row] = place;
        load(&table("lon", "lat", &places), &roles(&[]))
            .schema
            .place()
            .is_some()
    };
    assert!(with(2, [360.0, -90.0]));
    for place in [[360.5, 10.0], [-180.5, 10.0], [0.5, 90.5], [0.5, -90.25]] {
        assert!(!with(2, place), "{place:?}");
    }
}

#[test]
fn two_columns_of_one_name_are_not_recognized() {
    let text = "lon,lat,Longitude,y\n1.5,2.5,3.5,1\n2.5,4.5,1.5,2\n3.25,1.5,4.5,4\n";
    assert_eq!(load(text, &roles(&[])).schema.place(), None);
    let mut without = roles(&[]);
    without.inputs.without = vec!["Longitude".into()];
    assert_eq!(load(text, &without).schema.place(), Some(["lon", "lat"]));
}

#[test]
fn kinds_name_places_and_turn_them_off() {
    let text = table("a", "b c", &PLACES);
    let data = load(&text, &roles(&["a=longitude", "b c=latitude"]));
    assert_eq!(data.schema.place(), Some(["a", "b c"]));
    let off = load(&table("lon", "lat", &PLACES), &roles(&["lon=number"]));
    assert_eq!(off.schema.place(), None);
    assert_eq!(off.input_names(), ["lon", "height", "lat"]);
    assert_eq!(off.inputs.get(5, 0), 300.5);

    let refused = |text: &str, kinds: &[&str]| message(try_load(text, &roles(kinds)));
    assert_eq!(
        refused(&text, &["a=longitude"]),
        ": column 1 (\"a\") is given as a longitude, but no column as its latitude; \
         correct the file, or use --kind a=longitude --kind COLUMN=latitude"
    );
    assert_eq!(
        refused(&table("lon", "lat", &PLACES), &["lat=latitude"]),
        ": column 3 (\"lat\") is given as a latitude, but no column as its longitude; \
         correct the file, or use --kind lat=latitude --kind COLUMN=longitude"
    );
    let all = ["a=longitude", "height=longitude", "b c=latitude"];
    assert_eq!(
        refused(&text, &all),
        ": column 2 (\"height\") is given as a second longitude, but a table has one place in each row; \
         correct the file, or use --kind height=number"
    );
    assert_eq!(
        refused(&text, &["a=longitude", "height=latitude"]),
        ": column 2 (\"height\") holds the latitude 100.5, which is not between -90 and 90 degrees \
         (in line 3); correct the file, or use --kind a=number --kind height=number"
    );
    assert_eq!(
        refused(&text, &["a=longitude", "y=latitude"]),
        ": column 4 (\"y\") is not an input, so that it cannot be a latitude; \
         correct the file, or use --kind a=number --kind y=number"
    );
}

#[test]
fn the_coordinates_share_one_scale() {
    // Little varies from north to south here, and nothing along one of the axes.
    let places = [[10.0, 0.0], [11.0, 0.0], [12.5, 0.0], [20.0, 0.0]];
    let data = load(
        &table("a", "b", &places),
        &roles(&["a=longitude", "b=latitude"]),
    );
    let all: Vec<usize> = (0..data.rows()).collect();
    let fitted = Standardizer::fit(&data, &all);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let variances = (0..3).map(|axis| {
        let values: Vec<f64> = data.inputs.column(axis).collect();
        let center = mean(&values);
        let squares: Vec<f64> = values
            .iter()
            .map(|value| (value - center).powi(2))
            .collect();
        mean(&squares)
    });
    let expected = (variances.sum::<f64>() / 3.0).sqrt();
    for scale in &fitted.input_scale[..3] {
        assert!((scale / expected - 1.0).abs() < 1e-12, "{scale} {expected}");
    }
    let ranges = fitted.clone().with_input_ranges(&data, &all);
    let y: Vec<f64> = data.inputs.column(1).collect();
    let half = 0.5 * (y[3] - y[0]);
    for scale in &ranges.input_scale[..3] {
        assert!((scale / half - 1.0).abs() < 1e-12, "{scale} {half}");
    }
    let mut statistics = StreamedStatistics::new(data.columns());
    all.iter()
        .for_each(|&row| statistics.push(data.inputs.row(row), data.targets[row]));
    let streamed = statistics.standardizer(&data.schema);
    let streamed_ranges = statistics.with_input_ranges(streamed.clone(), &data.schema);
    for (found, expected) in [(streamed, fitted), (streamed_ranges, ranges)] {
        let scales = found.input_scale.iter().zip(&expected.input_scale);
        for (found, expected) in scales {
            // Two ways to sum a few numbers.
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        }
    }
    // A single place has no variation.
    let one = load(
        &table("a", "b", &[[10.0, 5.0]; 3]),
        &roles(&["a=longitude", "b=latitude"]),
    );
    assert_eq!(
        Standardizer::fit(&one, &[0, 1, 2]).input_scale[..3],
        [1.0; 3]
    );
}

const GAPS: &str = "lat,lon,y\n10.5,20.5,1\n,21.5,2\n12.5,,3\n13.5,24.5,5\n";

#[test]
fn a_place_without_one_coordinate_is_missing() {
    let with = |missing| {
        let mut roles = roles(&[]);
        roles.inputs.missing = missing;
        try_load(GAPS, &roles)
    };
    let marked = with(MissingValues::Indicator).unwrap();
    let place = "lon, lat (km)";
    let names = ["x", "y", "z"].map(|axis| format!("{axis} of {place}"));
    assert_eq!(marked.input_names()[0], "lat is missing");
    assert_eq!(marked.input_names()[1..4], names);
    assert_eq!(marked.input_names()[4], "lon is missing");
    assert_eq!(marked.schema.shared_inputs().groups, [0, 1, 1, 1, 2]);
    for row in [1, 2] {
        assert!(marked.inputs.row(row)[1..4].iter().all(|x| x.is_nan()));
    }
    assert_eq!(
        [marked.inputs.get(1, 0), marked.inputs.get(2, 4)],
        [1.0, 1.0]
    );
    assert_eq!(
        [marked.inputs.get(2, 0), marked.inputs.get(1, 4)],
        [0.0, 0.0]
    );
    // The missing places are filled with the mean of the others.
    let standard = Standardizer::fit(&marked, &[0, 1, 2, 3]).transform_inputs(&marked.inputs);
    assert_eq!(standard.row(1)[1..4], [0.0; 3]);

    assert_eq!(with(MissingValues::Mean).unwrap().columns(), 3);
    assert_eq!(with(MissingValues::Drop).unwrap().rows(), 2);
    let refused = message(with(MissingValues::Refuse));
    assert!(
        refused.contains("(\"lat\") has no value in 1 row (in line 3)"),
        "{refused}"
    );
}

#[test]
fn new_rows_have_places_in_any_order_of_columns() {
    let data = load(&table("lon", "lat", &PLACES), &roles(&[]));
    let strict = NewRows::default();
    let text = "lat,other,height,lon\n52.5,1,7,13.4\n52.5,1,7,373.4\n";
    let found = new_rows(text, &data.schema, &strict).unwrap();
    let [point] = points(&[[13.4, 52.5]])[..] else {
        unreachable!()
    };
    assert_eq!(found.inputs.row(0)[..3], point);
    // A turn more; 373.4 − 360 is 13.4 up to one rounding of 373.4.
    for (one, other) in point.iter().zip(found.inputs.row(1)) {
        assert!((one - other).abs() < 1e-9, "{one} {other}");
    }
    assert_eq!(found.inputs.get(0, 3), 7.0);
    assert_eq!(found.ignored, ["other"]);

    let wrong = "lon,height,lat\n1,2,3\n1,2,-90.5\n";
    assert_eq!(
        message(new_rows(wrong, &data.schema, &strict)),
        ":3: column 3 (\"lat\") holds \"-90.5\", but a latitude is between -90 and 90 degrees; \
         correct it or remove the row"
    );
    let lenient = NewRows {
        lenient: true,
        fill_gaps: true,
        ..NewRows::default()
    };
    let found = new_rows(wrong, &data.schema, &lenient).unwrap();
    assert_eq!(found.unfit.len(), 1);
    assert_eq!(found.unfit[0].row, 1);
    // A gap where training had none.
    let gap = "lon,height,lat\n1,2,\n";
    assert!(new_rows(gap, &data.schema, &strict).is_err());
    let found = new_rows(gap, &data.schema, &lenient).unwrap();
    assert!(found.inputs.row(0)[..3].iter().all(|x| x.is_nan()));
    assert_eq!(found.filled, [("lat".to_owned(), 1)]);
}

#[test]
fn a_file_without_header_has_places_by_position() {
    let text = "10.5,20.5,1.5\n-12.5,21.5,2.5\n13.5,24.5,5.5\n";
    let mut roles = roles(&["x1=latitude", "x2=longitude"]);
    roles.target = TargetColumn::Last;
    let data = load(text, &roles);
    assert_eq!(data.schema.place(), Some(["x2", "x1"]));
    let found = new_rows("10.5,20.5\n", &data.schema, &NewRows::default()).unwrap();
    assert_eq!(found.inputs.row(0), points(&[[20.5, 10.5]])[0]);
}

#[test]
fn schemas_with_places_survive_json() {
    let schema = load(GAPS, &roles(&[])).schema;
    let json = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
}
