//! Real-world tables: columns of all kinds, gaps, row numbers.

use std::fs;

use burn_gp_datasets::{
    ColumnKind, ColumnRoles, DataError, DataSource, Dataset, Features, InputColumns, KeptColumns,
    Labels, MissingValues, NewRows, Purpose, Schema, Standardizer, Task, Time,
};
use temp_dir::TempDir;

/// A table with a column of each kind.
const TABLE: &str = "\
rownames,age,smoker,city,joined,note,constant,blank,price
1,20,yes,Bern,2020-01-01,n1,7,,1.5
2,NA,no,Rome,2020-01-08,n2,7,,2.5
3,40,yes,Bern,2020-02-01,n3,7,,
4,30,no,Oslo,2020-03-01,n4,7,,4.5
5,50,no,,2021-03-01,n5,7,,3.5
6,25,yes,Rome,2021-05-01,n6,7,,2.0
7,35,yes,Oslo,2021-06-01,n7,7,,5.0
8,45,no,Bern,2021-07-01,n8,7,,6.0
9,55,no,Rome,2021-08-01,n9,7,,7.0
10,65,no,Oslo,2021-09-01,n10,7,,8.0
11,60,no,Oslo,2021-10-01,n11,7,,9.0
12,15,no,Oslo,2021-11-01,n12,7,,9.5
";

fn inferred() -> InputColumns {
    InputColumns {
        inferred: true,
        ..InputColumns::default()
    }
}

fn roles(target: &str, inputs: InputColumns) -> ColumnRoles {
    ColumnRoles {
        target: target.parse().unwrap(),
        inputs,
        ..ColumnRoles::default()
    }
}

/// A file in its own folder.
struct File {
    folder: TempDir,
    source: DataSource,
}

impl File {
    fn new(name: &str, contents: impl AsRef<[u8]>) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, contents).unwrap();
        let source = DataSource::resolve(path.to_str().unwrap(), None).unwrap();
        Self { folder, source }
    }

    /// The error message without the folder's name.
    fn message<T: std::fmt::Debug>(&self, result: Result<T, DataError>) -> String {
        let folder = format!("{}/", self.folder.path().display());
        result.unwrap_err().to_string().replace(&folder, "")
    }
}

fn load(contents: &str, roles: &ColumnRoles) -> Dataset {
    File::new("a.csv", contents)
        .source
        .load_columns(roles)
        .unwrap()
}

fn new_rows(contents: &str, schema: &Schema) -> Features {
    let rows = NewRows {
        lenient: true,
        ..NewRows::default()
    };
    let file = File::new("new.csv", contents);
    file.source.load_new_rows(schema, &rows).unwrap()
}

#[test]
fn every_column_has_a_kind_and_a_use() {
    let data = load(TABLE, &roles("price", inferred()));
    let found: Vec<(ColumnKind, String)> = (data.columns.iter())
        .map(|column| (column.kind, column.purpose.to_string()))
        .collect();
    let expected = [
        (ColumnKind::RowNumber, "left out: counts the rows"),
        (ColumnKind::Number, "2 inputs"),
        (ColumnKind::Boolean, "1 input"),
        (ColumnKind::Category, "5 inputs"),
        (ColumnKind::Date, "1 input"),
        (ColumnKind::Id, "left out: different in every row"),
        (ColumnKind::Constant, "left out: the same in every row"),
        (ColumnKind::Empty, "left out: no values"),
        (ColumnKind::Number, "target"),
    ];
    let expected = expected.map(|(kind, purpose)| (kind, purpose.to_owned()));
    assert_eq!(found, expected);
    assert_eq!(
        data.input_names(),
        [
            "age",
            "age is missing",
            "smoker=yes",
            "city=Bern",
            "city=Oslo",
            "city=Rome",
            "city=(missing)",
            "city=(other)",
            "joined",
        ]
    );
    assert_eq!(data.columns[1].values, "15 to 65");
    assert_eq!(data.columns[1].missing, 1);
    assert_eq!(data.columns[4].values, "2020-01-01 to 2021-11-01");
    // The row without a target is left out, and the others keep their place in the file.
    assert_eq!((data.rows(), data.left_out), (11, 1));
    assert_eq!((data.source_row(2), data.location(2).number()), (3, 5));
    let first = [20.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 18_262.0];
    assert_eq!(data.inputs.row(0), first);
    let second = data.inputs.row(1);
    assert!(second[0].is_nan() && second[1] == 1.0);
}

#[test]
fn missing_values_are_filled_by_the_training_rows() {
    let numbers = "a,b,y\n1,1,1\n,2,2\n3,3,3\n8,4,4\n100,5,5\n";
    let train = [0, 1, 2, 3];
    let standardized = |missing| {
        let inputs = InputColumns {
            missing,
            ..inferred()
        };
        let data = load(numbers, &roles("y", inputs));
        let standardizer = Standardizer::fit(&data, &train);
        let standardizer = match missing {
            MissingValues::Median => standardizer.with_medians(&data, &train),
            _ => standardizer,
        };
        let filled = standardizer.transform_inputs(&data.inputs);
        standardizer.inverse_inputs(&filled)
    };
    let mean = standardized(MissingValues::Indicator);
    assert_eq!(mean.columns(), 3);
    assert!((mean.get(1, 0) - 4.0).abs() < 1e-12);
    assert_eq!(standardized(MissingValues::Mean).columns(), 2);
    let median = standardized(MissingValues::Median);
    assert!((median.get(1, 0) - 3.0).abs() < 1e-12);
    assert_eq!(standardized(MissingValues::Drop).rows(), 4);
    let refuse = InputColumns {
        missing: MissingValues::Refuse,
        ..inferred()
    };
    let file = File::new("a.csv", numbers);
    assert_eq!(
        file.message(file.source.load_columns(&roles("y", refuse))),
        r#"a.csv: column 1 ("a") has no value in 1 row (in line 3); correct the file, or use --missing indicator"#
    );
}

#[test]
fn new_rows_have_the_inputs_of_training() {
    let data = load(TABLE, &roles("price", inferred()));
    let found = new_rows(
        "joined,city,smoker,age,price\n2020-01-01,Bern,yes,20,\n2020-01-08,Paris,no,NA,2\n,Bern,yes,1,\n2020-01-08,Bern,maybe,1,\n",
        &data.schema,
    );
    assert_eq!(found.inputs.row(0), data.inputs.row(0));
    // A new level has its own input.
    assert_eq!(found.inputs.row(1)[3..8], [0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(found.unseen, [("city".to_owned(), 1)]);
    let targets = found.targets.unwrap();
    assert!(targets[0].is_nan() && targets[1] == 2.0);
    let unfit: Vec<usize> = found.unfit.iter().map(|row| row.row).collect();
    assert_eq!(unfit, [2, 3]);
    let reason = &found.unfit[1].reason;
    assert!(
        reason.ends_with(
            r#"new.csv:5: column 3 ("smoker") holds "maybe", but held "no" and "yes" in training; correct it"#
        ),
        "{reason}"
    );
}

#[test]
fn columns_can_be_chosen() {
    let table = "id,zip,size,y\n5,8001,1,1\n9,8002,2,2\n7,8001,3,3\n";
    let names = |inputs: InputColumns| load(table, &roles("y", inputs)).schema.input_names;
    assert_eq!(names(inferred()), ["zip", "size"]);
    let without = vec!["zip".to_owned()];
    assert_eq!(
        names(InputColumns {
            without,
            ..inferred()
        }),
        ["size"]
    );
    let only = Some(vec!["zip".to_owned()]);
    assert_eq!(names(InputColumns { only, ..inferred() }), ["zip"]);
    let kinds = vec!["zip=category".parse().unwrap()];
    assert_eq!(
        names(InputColumns {
            kinds,
            ..inferred()
        }),
        ["zip=8001", "zip=8002", "zip=(other)", "size"]
    );
    let file = File::new("a.csv", table);
    let without = vec!["zipp".to_owned()];
    let inputs = InputColumns {
        without,
        ..inferred()
    };
    assert_eq!(
        file.message(file.source.load_columns(&roles("y", inputs))),
        r#"a.csv: --drop names the column "zipp", which does not exist (did you mean "zip"?); the columns are "id", "zip", "size", "y""#
    );
}

/// All problems are reported together.
#[test]
fn all_problems_are_in_one_message() {
    let rows: String = (0..100)
        .map(|row| match row {
            7 => "oops,about 3,1\n".to_owned(),
            row => format!("{row}.5,{},{row}\n", row * 2),
        })
        .collect();
    let file = File::new("a.csv", format!("a,b,y\n{rows}"));
    assert_eq!(
        file.message(file.source.load_columns(&roles("y", inferred()))),
        r#"a.csv: column 1 ("a") holds numbers except in 1 row, the first "oops" (in line 9), and column 2 ("b") holds numbers except in 1 row, the first "about 3" (in line 9); correct the file, or use --kind a=number --kind b=number"#
    );
    let kinds = ["a=number", "b=number"].map(|kind| kind.parse().unwrap());
    let inputs = InputColumns {
        kinds: kinds.to_vec(),
        ..inferred()
    };
    let data = file.source.load_columns(&roles("y", inputs)).unwrap();
    assert_eq!(data.columns[0].missing, 1);
    assert_eq!(data.columns[0].purpose, Purpose::Inputs(2));
}

#[test]
fn a_row_number_is_an_input_if_there_is_no_other() {
    let data = load("n,y\n1,5\n2,7\n3,6\n", &roles("y", inferred()));
    assert_eq!(data.input_names(), ["n"]);
    let file = File::new("a.csv", "a,y\nx1,5\nx1,7\nx1,6\n");
    assert_eq!(
        file.message(file.source.load_columns(&roles("y", inferred()))),
        r#"a.csv: no column is left as an input: "a" is left out: the same in every row; keep one with --kind COLUMN=KIND"#
    );
}

#[test]
fn dates_have_cycles_if_asked() {
    let table: String = (0..800)
        .map(|day| format!("{}T{:02}:00,{day}\n", date(day), day % 24))
        .collect();
    let inputs = InputColumns {
        time: Time::Cyclic,
        ..inferred()
    };
    let data = load(&format!("time,y\n{table}"), &roles("y", inputs));
    assert_eq!(data.columns(), 7);
    assert_eq!(data.input_names()[3], "time (sine of week)");
}

/// A day of 2020 and later as text.
fn date(day: u32) -> String {
    let (mut year, mut day) = (2020, day);
    loop {
        let days = if year % 4 == 0 { 366 } else { 365 };
        if day < days {
            break;
        }
        (year, day) = (year + 1, day - days);
    }
    let february = if year % 4 == 0 { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= months[month] {
        day -= months[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, day + 1)
}

#[test]
fn the_target_tells_the_task() {
    for (targets, task) in [
        (["1.5", "2", "3", "4"], Task::Regression),
        (["0", "1", "1", "NA"], Task::BinaryClassification),
        (["yes", "no", "", "no"], Task::BinaryClassification),
        (["a", "b", "c", "a"], Task::Classification),
    ] {
        let rows: Vec<String> = targets.iter().map(|target| format!("1,{target}")).collect();
        let file = File::new("a.csv", format!("x,y\n{}\n", rows.join("\n")));
        let found = file.source.task_of(&roles("y", inferred())).unwrap();
        assert_eq!(found, task, "{targets:?}");
    }
}

#[test]
fn rows_without_a_label_are_left_out() {
    let labeled = ColumnRoles {
        labels: Some(Labels::Unordered),
        ..roles("y", inferred())
    };
    let data = load("x,y\n1,a\n2,NA\n3,none\n4,b\n", &labeled);
    assert_eq!((data.rows(), data.left_out), (3, 1));
    assert_eq!(
        data.schema.classes.as_ref().unwrap().names(),
        ["a", "b", "none"]
    );
    let targets = new_rows("x,y\n1,NA\n2,none\n", &data.schema)
        .targets
        .unwrap();
    assert!(targets[0].is_nan() && targets[1] == 2.0);
}

/// The same table in every format gives the same inputs.
#[test]
fn every_text_format_gives_the_same_data() {
    let expected = load(TABLE, &roles("price", inferred()));
    let lines: Vec<Vec<&str>> = TABLE
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    let record = |row: &Vec<&str>| {
        let field = |(name, value): (&&str, &&str)| match value.parse::<f64>() {
            Ok(number) => format!("{name:?}: {number}"),
            Err(_) if value.is_empty() => format!("{name:?}: null"),
            Err(_) => format!("{name:?}: {value:?}"),
        };
        let fields: Vec<String> = lines[0].iter().zip(row).map(field).collect();
        format!("{{{}}}", fields.join(", "))
    };
    let records: Vec<String> = lines[1..].iter().map(record).collect();
    for (name, contents) in [
        ("a.tsv", TABLE.replace(',', "\t")),
        ("a.jsonl", records.join("\n")),
        ("a.json", format!("[{}]", records.join(",\n"))),
    ] {
        let file = File::new(name, contents);
        let data = file
            .source
            .load_columns(&roles("price", inferred()))
            .unwrap();
        assert_eq!(data.schema, expected.schema, "{name}");
        assert_eq!(data.targets, expected.targets, "{name}");
        let text = |data: &Dataset| format!("{:?}", data.inputs);
        assert_eq!(text(&data), text(&expected), "{name}");
    }
    let file = File::new("a.json", "[{\"x\": 1}, 3]");
    let message = file.message(file.source.load_columns(&roles("x", inferred())));
    assert!(
        message.starts_with("a.json does not hold JSON records (invalid type: integer `3`"),
        "{message}"
    );
}

/// Names in single quotes, as some statistics programs write them.
#[test]
fn single_quotes_around_names_are_not_part_of_them() {
    let data = load("'a'\t'b'\n1\t2\n3\t4\n", &roles("b", inferred()));
    assert_eq!(
        (data.input_names(), data.target_name()),
        (&["a".to_owned()][..], "b")
    );
}

/// A column given to `--keep` must exist.
#[test]
fn columns_to_keep_are_checked() {
    let data = load("a,y\n1,5\n4,7\n", &roles("y", inferred()));
    let rows = NewRows {
        keep: KeptColumns::Named(vec!["b".to_owned()]),
        ..NewRows::default()
    };
    let file = File::new("new.csv", "a,y\n1,5\n");
    assert_eq!(
        file.message(file.source.load_new_rows(&data.schema, &rows)),
        r#"new.csv: --keep names the column "b", which does not exist; the columns are "a", "y""#
    );
}

/// The kind that the user gives for the target decides, not its values.
#[test]
fn the_kind_of_the_target_can_be_given() {
    let file = File::new("a.csv", "x,y\n1,1\n2,2\n3,3\n");
    let task = |kind: &str| {
        let inputs = InputColumns {
            kinds: vec![kind.parse().unwrap()],
            ..inferred()
        };
        file.source.task_of(&roles("y", inputs)).unwrap()
    };
    assert_eq!(task("y=category"), Task::Classification);
    assert_eq!(task("x=category"), Task::Regression);
    let two = File::new("a.csv", "x,y\n1,1\n2,2\n");
    let inputs = InputColumns {
        kinds: vec!["y=number".parse().unwrap()],
        ..inferred()
    };
    assert_eq!(
        two.source.task_of(&roles("y", inputs)).unwrap(),
        Task::Regression
    );
}

/// Numbers with currencies, percent signs, thousands separators and decimal commas, as inputs and as the
/// target, in training and in new rows.
#[test]
fn written_numbers_are_read() {
    let text = "price;share;size;y\n$1,200;10 %;1,5;€ 5\n$800;20 %;2,25;€ 7,5\n$95.5;7.5 %;-3;\n$1;5 %;0,5;€ 9\n";
    let data = load(text, &roles("y", inferred()));
    assert_eq!(data.input_names(), ["price", "share", "size"]);
    assert_eq!(
        data.inputs.values()[..6],
        [1200.0, 10.0, 1.5, 800.0, 20.0, 2.25]
    );
    assert_eq!(data.targets, [5.0, 7.5, 9.0]);
    assert_eq!(data.columns[0].values, "1 to 1200");
    assert!(
        data.columns
            .iter()
            .all(|column| column.kind == ColumnKind::Number)
    );
    let new = File::new(
        "new.csv",
        "price;share;size;y\n$2,500;3 %;7;€ 1,5\n100;four;1,5;\n",
    );
    let rows = NewRows {
        lenient: true,
        ..NewRows::default()
    };
    let features = new.source.load_new_rows(&data.schema, &rows).unwrap();
    assert_eq!(features.inputs.values()[..3], [2500.0, 3.0, 7.0]);
    assert_eq!(features.unfit.len(), 1);
    let saved = serde_json::to_string(&data.schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&saved).unwrap(), data.schema);
}

/// A column that the user calls a number keeps numbers written with separators.
#[test]
fn written_numbers_among_other_texts_are_kept_if_asked_for() {
    let inputs = InputColumns {
        kinds: vec!["price=number".parse().unwrap()],
        ..inferred()
    };
    let text = "price,x,y\n\"$1,200\",1,1\nunknown,3,2\n$5,4,4\n$7,6,3\n";
    let data = load(text, &roles("y", inputs));
    assert_eq!(data.input_names(), ["price", "price is missing", "x"]);
    let column: Vec<f64> = data.inputs.values().chunks(3).map(|row| row[0]).collect();
    assert_eq!((column[0], column[2]), (1200.0, 5.0));
    assert!(column[1].is_nan());
}

/// Two distinct numbers are labels only if they are used as such.
#[test]
fn two_measurements_are_numbers() {
    use burn_gp_datasets::{ColumnRoles, DataSource, Task};
    let folder = temp_dir::TempDir::new().expect("a folder");
    let task = |targets: &[&str]| {
        let path = folder.path().join("table.csv");
        let rows = targets.iter().enumerate();
        let rows: String = rows
            .map(|(row, target)| format!("{row}.5,{target}\n"))
            .collect();
        std::fs::write(&path, format!("x,y\n{rows}")).expect("a table");
        let source = DataSource::resolve(&path.display().to_string(), None).expect("a source");
        source.task_of(&ColumnRoles::default()).expect("a task")
    };
    for numbers in [
        &["10.5", "11.7"][..],
        &["10.5", "11.7", "10.5", "11.7"],
        &["3", "7"],
        &["3", "7", "3"],
        &["-2", "5", "5", "5"],
        &["1e3", "2e3"],
    ] {
        assert_eq!(task(numbers), Task::Regression, "{numbers:?}");
    }
    for labels in [
        &["0", "1"][..],
        &["1", "0", "0"],
        &["1", "2", "1", "2"],
        &["-1", "1", "-1", "1", "1"],
        &["yes", "no"],
        &["10", "20", "10", "20"],
    ] {
        assert_eq!(task(labels), Task::BinaryClassification, "{labels:?}");
    }
}
