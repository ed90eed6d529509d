//! Rows to predict with gaps in a column that had none in training.

use std::fs;

use temp_dir::TempDir;

use crate::support::{columns, run, succeed};

/// Draws that look normal, from sums of uniform ones.
fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    (0..count)
        .map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0)
        .collect()
}

/// Two inputs of equal weight, of which new rows lack one.
#[test]
fn intervals_of_rows_with_gaps_hold_what_they_promise() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let (a, b, noise) = (normals(260, 1), normals(260, 2), normals(260, 3));
    let target = |row: usize| 5.0 + 2.0 * a[row] + 2.0 * (b[row] * 0.8).sin() + 0.2 * noise[row];
    let mut train = "a,b,y\n".to_owned();
    (0..120).for_each(|row| train += &format!("{},{},{}\n", a[row], b[row], target(row)));
    let (mut gaps, mut complete) = ("a,b,y\n".to_owned(), "a,b,y\n".to_owned());
    for row in 120..260 {
        gaps += &format!("{},,{}\n", a[row], target(row));
        complete += &format!("{},{},{}\n", a[row], b[row], target(row));
    }
    for (name, text) in [
        ("train.csv", &train),
        ("gaps.csv", &gaps),
        ("complete.csv", &complete),
    ] {
        fs::write(path.join(name), text).unwrap();
    }
    let train = [
        "train",
        "--data",
        "train.csv",
        "--model",
        "exact",
        "--test-fraction",
        "0",
        "--out",
        "m",
    ];
    succeed(path, &train);
    let predict = |data: &str, out: &str| {
        let output = run(
            path,
            &["predict", "--model-dir", "m", "--data", data, "--out", out],
        );
        assert!(output.status.success());
        let rows = columns(&path.join(out), &["y", "lower", "upper", "std"]);
        let number = |row: &[String], place: usize| row[place].parse::<f64>().unwrap();
        let inside = rows
            .iter()
            .filter(|row| number(row, 1) <= number(row, 0) && number(row, 0) <= number(row, 2));
        let share = inside.count() as f64 / rows.len() as f64;
        let width = rows.iter().map(|row| number(row, 3)).sum::<f64>() / rows.len() as f64;
        (share, width, String::from_utf8(output.stderr).unwrap())
    };
    let (share, width, said) = predict("gaps.csv", "p.csv");
    // 140 rows: two standard errors of a share of .95 are .037. With the mean in place of the gap it was below .4.
    assert!(share > 0.9, "{share}");
    assert!(
        said.contains("140 of 140 rows have no value in \"b\"") && said.contains("averages"),
        "{said}"
    );
    let (all, narrow, _) = predict("complete.csv", "c.csv");
    assert!(
        all > 0.9 && narrow < 0.3 * width,
        "{all}, {narrow} and {width}"
    );
}
