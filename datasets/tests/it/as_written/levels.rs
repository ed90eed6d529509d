//! Splits keep every level in training, or warn that they do not.

use burn_gp_datasets::{EqualInputs, Split, warnings};

use super::{inferred, labels, load, numbers};

/// `levels` in `rows` rows each, all with equal inputs if they are `equal`.
fn table(levels: usize, rows: usize, equal: bool) -> String {
    let row = |row: usize| {
        let size = if equal { 0 } else { row };
        format!("treatment {},{size}.5,{}\n", row % levels, row % 17)
    };
    "x,size,y\n".to_owned() + &(0..levels * rows).map(row).collect::<String>()
}

#[test]
fn every_level_is_in_training_whatever_the_seed() {
    for (levels, rows, equal) in [
        (6, 10, true),
        (4, 25, true),
        (3, 7, true),
        (30, 6, false),
        (8, 2, false),
        (9, 1, false),
    ] {
        let data = load("a.csv", &table(levels, rows, equal), &numbers(inferred())).unwrap();
        let together = EqualInputs::from(&data);
        for seed in 0..20 {
            let split = Split::random(&together, 0.2, seed).unwrap();
            let split = split.keeping_levels(&data, &together, true);
            let seen = |level: usize| {
                let at = data
                    .input_names()
                    .iter()
                    .position(|name| name.ends_with(&format!(" {level}")));
                at.is_none_or(|at| {
                    split
                        .train
                        .iter()
                        .any(|&row| data.inputs.get(row, at) == 1.0)
                })
            };
            let is_small = rows == 1;
            assert!(is_small || (0..levels).all(seen), "{levels} {rows} {seed}");
            assert_eq!(split.train.len() + split.test.len(), data.rows());
            assert!(!split.test.is_empty());
            // A level that cannot be kept is reported.
            let told = warnings(&data, &together, &split)
                .iter()
                .any(|warning| warning.to_string().contains("no training row has"));
            assert_eq!(told, !(0..levels).all(seen), "{levels} {rows} {seed}");
        }
    }
}

#[test]
fn every_class_is_in_training() {
    for classes in [2, 3, 5, 7, 12] {
        let rows: String = (0..60)
            .map(|row| format!("{row}.5,class {}\n", if row < classes { row } else { 0 }))
            .collect();
        let data = load("a.csv", &format!("x,y\n{rows}"), &labels(inferred())).unwrap();
        let together = EqualInputs::from(&data);
        for seed in 0..10 {
            let split = Split::random(&together, 0.3, seed).unwrap();
            let split = split.keeping_levels(&data, &together, true);
            let has = |class: usize| {
                split
                    .train
                    .iter()
                    .any(|&row| data.targets[row] == class as f64)
            };
            assert!((0..classes).all(has), "{classes} {seed}");
        }
    }
}

/// Rows of one group are not divided.
#[test]
fn groups_stay_together() {
    let data = load("a.csv", &table(5, 8, true), &numbers(inferred())).unwrap();
    let together = EqualInputs::from(&data);
    for seed in 0..5 {
        let split = Split::random(&together, 0.2, seed).unwrap();
        assert_eq!(split.clone().keeping_levels(&data, &together, false), split);
        let told = warnings(&data, &together, &split);
        assert!(
            told.iter()
                .any(|warning| warning.to_string().contains("no training row has"))
        );
    }
}
