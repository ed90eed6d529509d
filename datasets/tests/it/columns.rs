//! Columns with special roles: labels and the noise of the target.

use std::fs;

use burn_gp_datasets::{
    ClassOrder, ColumnRoles, Companion, DataError, DataSource, Dataset, Features, Labels,
    RowAttributes, RowRole, Schema, TargetColumn, load_features_file,
};
use temp_dir::TempDir;

/// Column roles for a labeled target in the last column.
fn labeled() -> ColumnRoles {
    ColumnRoles {
        labels: Some(Labels::Unordered),
        ..ColumnRoles::default()
    }
}

fn load_columns(contents: &str, roles: &ColumnRoles) -> Result<Dataset, DataError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, contents).unwrap();
    DataSource::resolve(path.to_str().unwrap(), None)?.load_columns(roles)
}

fn load_features(contents: &str, schema: &Schema) -> Result<Features, DataError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, contents).unwrap();
    load_features_file(&path, schema)
}

fn features(contents: &str, schema: &Schema) -> Features {
    load_features(contents, schema).unwrap()
}

/// An error message from the file name on.
fn message<T: std::fmt::Debug>(result: Result<T, DataError>) -> String {
    let text = result.unwrap_err().to_string();
    let start = text.find("a.csv").unwrap();
    text[start..].to_owned()
}

#[test]
fn labels_of_any_text_become_classes() {
    let data = load_columns("x,y\n1,setosa\n2, virginica\n3,setosa\n", &labeled()).unwrap();
    assert_eq!(data.targets, [0.0, 1.0, 0.0]);
    let classes = data.schema.classes.clone().unwrap();
    assert_eq!(classes.names(), ["setosa", "virginica"]);
    // Without a header, text in the first row is data.
    let bare = load_columns("1,b\n2,a\n", &labeled()).unwrap();
    assert_eq!((bare.rows(), bare.schema.named), (2, false));
    assert_eq!(bare.targets, [1.0, 0.0]);
    // Numbers are ordered by value, in any notation.
    let numbers = load_columns("x,y\n1,10\n2,-1\n3,9\n4,9.0\n", &labeled()).unwrap();
    assert_eq!(numbers.targets, [2.0, 0.0, 1.0, 1.0]);
    // A saved schema keeps its classes.
    let text = serde_json::to_string(&data.schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), data.schema);
}

#[test]
fn labels_of_sources_of_numbers() {
    let source = DataSource::resolve("winequality", None).unwrap();
    let data = source.load_columns(&labeled()).unwrap();
    let classes = data.schema.classes.unwrap();
    assert_eq!(classes.names(), ["3", "4", "5", "6", "7", "8"]);
    assert!(
        data.targets
            .iter()
            .all(|&class| (0.0..6.0).contains(&class))
    );
}

#[test]
fn labels_of_new_data_are_those_of_the_old() {
    let data = load_columns("x,y\n1,yes\n2,no\n", &labeled()).unwrap();
    let found = features("y,x\nyes,7\n", &data.schema);
    assert_eq!(found.targets, Some(vec![1.0]));
    assert_eq!(
        message(load_features("x,y\n1,no\n2,maybe\n", &data.schema)),
        r#"a.csv:3: the label "maybe" is not one of the labels the model was trained on, "no", "yes"; correct it"#
    );
    assert_eq!(
        message(load_columns("x,y\n1,same\n2,same\n", &labeled())),
        r#"a.csv: the target, column 2 ("y"), is same in every row, so there is nothing to learn; choose another target"#
    );
    assert_eq!(
        message(load_columns("x,y\n1,same\n2,\n", &labeled())),
        r#"a.csv:3: column 2 ("y") has no value; fill it in or remove the row"#
    );
}

/// Column roles for an ordinal target in the last column.
fn ordered(order: Option<&str>) -> ColumnRoles {
    let labels = match order {
        None => Labels::Ordered,
        Some(order) => Labels::InOrder(order.parse::<ClassOrder>().unwrap()),
    };
    ColumnRoles {
        labels: Some(labels),
        ..ColumnRoles::default()
    }
}

#[test]
fn ordered_labels_are_in_the_order_of_their_numbers() {
    let grades = "x,y\n1,grade 10\n2,grade 2\n3,grade 1\n";
    let data = load_columns(grades, &ordered(None)).unwrap();
    assert_eq!(data.targets, [2.0, 1.0, 0.0]);
    let numbers = load_columns("x,y\n1,10\n2,-1\n3,9\n", &ordered(None)).unwrap();
    assert_eq!(numbers.targets, [2.0, 0.0, 1.0]);
    // For nominal labels the order is the same, and any text is accepted.
    let unordered = load_columns(grades, &labeled()).unwrap();
    assert_eq!(unordered.schema.classes, data.schema.classes);
}

#[test]
fn other_labels_have_an_order_that_is_given() {
    let sizes = "x,y\n1,low\n2,high\n3,medium\n4,low\n";
    let data = load_columns(sizes, &ordered(Some("low, medium, high"))).unwrap();
    assert_eq!(data.targets, [0.0, 2.0, 1.0, 0.0]);
    // New data use the class order of the model.
    let found = features("x,y\n7,medium\n", &data.schema);
    assert_eq!(found.targets, Some(vec![1.0]));
    assert_eq!(
        message(load_columns(sizes, &ordered(None))),
        r#"a.csv: the order of the labels of column 2 ("y") is unknown; give it, lowest first, or start from this guess: --class-order high,low,medium"#
    );
    assert_eq!(
        message(load_columns(sizes, &ordered(Some("low,high")))),
        r#"a.csv:4: the label "medium" is not in the order low,high; add it to --class-order"#
    );
    assert_eq!(
        message(load_columns(sizes, &ordered(Some("low,medium,high,top")))),
        r#"a.csv: "top" in the order low,medium,high,top is not one of the labels, "high", "low", "medium"; remove it from --class-order"#
    );
}

fn named(name: &str) -> TargetColumn {
    TargetColumn::Name(name.to_owned())
}

fn noise(attributes: &RowAttributes) -> Option<&[f64]> {
    attributes.numbers(Companion::Noise)
}

/// The noise column is not an input.
#[test]
fn the_noise_of_every_target() {
    let roles = ColumnRoles {
        target: "y".parse().unwrap(),
        ..ColumnRoles::default()
    };
    let roles = roles.with(Companion::Noise, named("error"));
    let data = load_columns("x,error,y\n1,0.5,10\n2,0.25,20\n", &roles).unwrap();
    assert_eq!(data.input_names(), ["x"]);
    assert_eq!(noise(&data.attributes), Some(&[0.5, 0.25][..]));
    assert_eq!(noise(&data.select(&[1]).attributes), Some(&[0.25][..]));
    let found = features("x\n1\n", &data.schema);
    assert_eq!((found.targets, noise(&found.attributes)), (None, None));
    let found = features("error,x\n2,1\n", &data.schema);
    assert_eq!(
        (found.targets, noise(&found.attributes)),
        (None, Some(&[2.0][..]))
    );
    let by_number = ColumnRoles {
        target: TargetColumn::Number(3),
        ..ColumnRoles::default()
    };
    let by_number = by_number.with(Companion::Noise, TargetColumn::Number(2));
    let bare = load_columns("1,0.5,10\n2,0.25,20\n", &by_number).unwrap();
    assert_eq!(noise(&bare.attributes), noise(&data.attributes));
    let found = features("1,2,3\n4,5,6\n", &bare.schema);
    assert_eq!(noise(&found.attributes), Some(&[2.0, 5.0][..]));
    assert_eq!(
        message(load_columns("x,error,y\n1,0.5,10\n2,0,20\n", &roles)),
        r#"a.csv:3: column 2 ("error") is 0, but the noise of a target must be a positive standard deviation; correct it"#
    );
    assert_eq!(
        message(load_columns("x,z,y\n1,0.5,10\n2,1,20\n", &roles)),
        r#"a.csv: there is no noise column "error"; the columns are "x", "z", "y""#
    );
    let both = roles.with(Companion::Noise, named("y"));
    assert_eq!(
        message(load_columns("x,z,y\n1,0.5,10\n2,1,20\n", &both)),
        r#"a.csv: column 3 ("y") cannot be both the target and its noise; give two columns"#
    );
    let split = ColumnRoles::default().with(RowRole::Time, named("y"));
    assert_eq!(
        message(load_columns("x,y\n1,10\n2,20\n", &split)),
        r#"a.csv: column 2 ("y") cannot be both the target and the time; give two columns"#
    );
}
