//! Splits are disjoint, complete and reproducible. Standardization uses only the training rows.

use burn_gp_datasets::{
    DataSource, EqualInputs, Matrix, Split, SplitError, Standardizer, TargetColumn, load_file,
};

fn assert_partition(split: &Split, rows: usize) {
    let mut all: Vec<usize> = [&split.train, &split.validation, &split.test]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    all.sort_unstable();
    assert_eq!(all, (0..rows).collect::<Vec<_>>());
    for part in [&split.train, &split.validation, &split.test] {
        assert!(part.is_sorted());
    }
}

#[test]
fn a_random_split_covers_all_rows_once() {
    for (rows, fraction, test) in [
        (1599, 0.1, 160),
        (10, 0.5, 5),
        (2, 0.5, 1),
        (1030, 0.25, 258),
    ] {
        let split = Split::random(rows, fraction, 3).unwrap();
        assert_partition(&split, rows);
        assert_eq!(split.test.len(), test);
        assert!(split.validation.is_empty());
    }
}

#[test]
fn validation_rows_come_from_the_training_rows() {
    let plain = Split::random(100, 0.2, 1).unwrap();
    let split = plain.clone().hold_out_validation(100, 0.25, 2).unwrap();
    assert_partition(&split, 100);
    assert_eq!(split.test, plain.test);
    assert_eq!((split.train.len(), split.validation.len()), (60, 20));
}

#[test]
fn a_seed_means_the_same_split_for_ever() {
    let split = Split::random(20, 0.3, 7).unwrap();
    assert_eq!(split, Split::random(20, 0.3, 7).unwrap());
    assert_ne!(split, Split::random(20, 0.3, 8).unwrap());
    assert_eq!(split.test, [2, 9, 11, 12, 13, 18]);
}

/// 90 rows, a third of which are duplicates: rows 60 to 89 repeat rows 0 to 29.
fn with_repeats() -> EqualInputs {
    let inputs = (0..90).map(|row| f64::from(row % 60)).collect();
    EqualInputs::among(&Matrix::new(90, 1, inputs))
}

/// Asserts that rows with equal inputs are always in the same part.
fn assert_together(equal: &EqualInputs, split: &Split) {
    let parts = [&split.train, &split.validation, &split.test];
    for (number, part) in parts.iter().enumerate() {
        for other in &parts[number + 1..] {
            assert_eq!(equal.shared(part, other), 0);
        }
    }
}

#[test]
fn rows_with_equal_inputs_are_on_one_side_of_every_split() {
    let equal = with_repeats();
    assert_eq!((equal.rows(), equal.repeats()), (90, 30));
    for seed in 0..20 {
        let two = Split::random(&equal, 0.2, seed).unwrap();
        let validated = two.clone().hold_out_validation(&equal, 0.25, seed).unwrap();
        for split in [&two, &validated] {
            assert_partition(split, 90);
            assert_together(&equal, split);
            assert_eq!(split.test.len(), 18);
        }
        assert_eq!(
            (validated.train.len(), validated.validation.len()),
            (54, 18)
        );
        // A split by row numbers alone separates some duplicates.
        let torn = Split::random(90, 0.2, seed).unwrap();
        assert!(equal.shared(&torn.test, &torn.train) > 0);
    }
}

/// Duplicate rows are drawn as often as others: every row is in some test parts, but not in all.
#[test]
fn repeated_rows_are_tested_on_as_often_as_others() {
    let equal = with_repeats();
    let mut tested = [0; 90];
    let seeds = 400;
    for seed in 0..seeds {
        for row in Split::random(&equal, 0.2, seed).unwrap().test {
            tested[row] += 1;
        }
    }
    let share = |rows: std::ops::Range<usize>| {
        let count = rows.len();
        tested[rows].iter().sum::<i32>() as f64 / (count as f64 * seeds as f64)
    };
    // A pair that no longer fits at the end of a draw is skipped, which affects at most one of
    // about 12 pairs. The standard error of the fraction for 30 independent pairs is
    // √(0.2·0.8/(30·400)) = 0.004.
    assert!((share(0..30) - 0.2).abs() < 0.02, "{}", share(0..30));
    assert!((share(30..60) - 0.2).abs() < 0.02, "{}", share(30..60));
    assert_eq!(share(0..30), share(60..90));
}

#[test]
fn targets_do_not_count_and_the_zeros_are_one() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "a,b,y\n0,1,5\n-0,1,6\n0,2,5\n0,1,5\n").unwrap();
    let data = load_file(&path, &TargetColumn::Last).unwrap();
    let equal = EqualInputs::from(&data);
    assert_eq!(equal.repeats(), 2);
    for seed in 0..10 {
        let split = Split::random(&data, 0.5, seed).unwrap();
        assert_together(&equal, &split);
    }
}

/// A data set without duplicates is split as before the rule for duplicates.
#[test]
fn rows_that_differ_are_divided_by_their_numbers_alone() {
    let inputs = Matrix::new(20, 1, (0..20).map(f64::from).collect());
    let split = Split::random(EqualInputs::among(&inputs), 0.3, 7).unwrap();
    assert_eq!(split, Split::random(20, 0.3, 7).unwrap());
}

/// Thirty rows in three groups of ten. No group fits into a tenth of the rows, so one group is the
/// test part.
#[test]
fn groups_larger_than_the_test_part_are_still_tested_on() {
    let inputs = (0..30).map(|row| f64::from(row % 3)).collect();
    let equal = EqualInputs::among(&Matrix::new(30, 1, inputs));
    let split = Split::random(&equal, 0.1, 0).unwrap();
    assert_together(&equal, &split);
    assert_eq!((split.train.len(), split.test.len()), (20, 10));
    let same = EqualInputs::among(&Matrix::new(30, 1, vec![1.0; 30]));
    assert_eq!(
        Split::random(&same, 0.1, 0).unwrap_err().to_string(),
        "all 30 rows have the same inputs, so they cannot be divided into training and test rows; give data whose inputs differ"
    );
    assert_eq!(
        split
            .hold_out_validation(&same, 0.1, 0)
            .unwrap_err()
            .to_string(),
        "all 20 rows have the same inputs, so they cannot be divided into training and validation rows; give data whose inputs differ"
    );
}

#[cfg(feature = "embedded")]
#[test]
fn the_embedded_demo_tests_on_no_inputs_that_it_trained_on() {
    let data = DataSource::resolve("winequality", None)
        .unwrap()
        .load(None)
        .unwrap();
    let equal = EqualInputs::from(&data);
    assert_eq!(equal.repeats(), 240);
    for seed in 0..5 {
        let split = Split::random(&data, 0.1, seed).unwrap();
        assert_eq!((split.train.len(), split.test.len()), (1439, 160));
        assert_eq!(equal.shared(&split.test, &split.train), 0);
    }
}

#[test]
fn fractions_that_cannot_be() {
    let message = |rows, fraction| Split::random(rows, fraction, 0).unwrap_err().to_string();
    for value in ["0", "1", "1.5", "-0.1", "NaN"] {
        assert_eq!(
            message(10, value.parse().unwrap()),
            format!(
                "the test fraction is {value} but must lie between 0 and 1, both excluded; try 0.1"
            )
        );
    }
    assert_eq!(
        message(4, 0.1),
        "4 rows are too few: a test fraction of 0.1 leaves no test rows; choose another fraction or give more rows"
    );
    assert_eq!(
        message(2, 0.9),
        "2 rows are too few: a test fraction of 0.9 leaves no training rows; choose another fraction or give more rows"
    );
}

#[test]
fn standardized_training_rows_have_mean_zero_and_variance_one() {
    let data = DataSource::resolve("synthetic:friedman?n=400", None)
        .unwrap()
        .load(None)
        .unwrap();
    let split = Split::random(400, 0.25, 0).unwrap();
    let standardizer = Standardizer::fit(&data, &split.train);
    let train = data.select(&split.train);
    let inputs = standardizer.transform_inputs(&train.inputs);
    let targets = standardizer.transform_targets(&train.targets);
    let moments = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / 300.0;
        (mean, values.iter().map(|v| v * v).sum::<f64>() / 300.0)
    };
    let columns = (0..10).map(|column| inputs.column(column).collect::<Vec<_>>());
    for values in columns.chain([targets.clone()]) {
        let (mean, square) = moments(&values);
        // Rounding errors of sums of 300 numbers of magnitude 1.
        assert!(mean.abs() < 1e-13 && (square - 1.0).abs() < 1e-12);
    }
    let restored = standardizer.inverse_inputs(&inputs);
    for (a, b) in restored.values().iter().zip(train.inputs.values()) {
        assert!((a - b).abs() < 1e-14);
    }
    for (a, b) in standardizer
        .inverse_targets(&targets)
        .iter()
        .zip(&train.targets)
    {
        assert!((a - b).abs() < 1e-12);
    }
    let variance = standardizer.inverse_variances(&[1.0])[0];
    assert_eq!(variance, standardizer.target_scale.powi(2));
    assert!((standardizer.transform_variances(&[variance])[0] - 1.0).abs() < 1e-15);
}

#[test]
fn constant_columns_are_centered_and_not_scaled() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    // The columns: constant; constant up to rounding; tiny numbers that differ; huge numbers; and a
    // target whose last row is not a training row and must not count.
    let rows = "0.1,1000000.0000000001,1e-200,1e200,1\n\
                0.1,1000000,3e-200,3e200,3\n\
                0.1,1000000,1e-200,1e200,3\n\
                0.1,1000000.0000000002,3e-200,3e200,1\n\
                9.9,5,5,5,1000\n";
    std::fs::write(&path, rows).unwrap();
    let data = load_file(&path, &TargetColumn::Last).unwrap();
    let fitted = Standardizer::fit(&data, &[0, 1, 2, 3]);
    assert_eq!(fitted.input_scale[..2], [1.0, 1.0]);
    for (found, expected) in fitted.input_scale[2..].iter().zip([1e-200, 1e200]) {
        assert!((found / expected - 1.0).abs() < 1e-14);
    }
    assert_eq!(fitted.input_mean[0], 0.1);
    assert_eq!((fitted.target_mean, fitted.target_scale), (2.0, 1.0));
    let standard = fitted.transform_inputs(&data.inputs);
    assert!(standard.values().iter().all(|value| value.is_finite()));
    assert_eq!(standard.get(0, 0), 0.0);
    let labels = Standardizer::fit_inputs(&data, &[0, 1, 2, 3]);
    assert_eq!(labels.transform_targets(&data.targets), data.targets);
    assert_eq!(labels.input_mean, fitted.input_mean);
}

#[test]
fn a_standardizer_survives_json_bit_for_bit() {
    let data = DataSource::resolve("synthetic:friedman", None)
        .unwrap()
        .load(None)
        .unwrap();
    let fitted = Standardizer::fit(&data, &(0..200).collect::<Vec<_>>());
    let text = serde_json::to_string(&fitted).unwrap();
    assert_eq!(serde_json::from_str::<Standardizer>(&text).unwrap(), fitted);
}

/// The training rows span [−1, 1]. Other rows may lie outside, and constant columns are centered.
#[test]
fn inputs_are_mapped_by_the_range_of_the_training_rows() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path().join("range.csv");
    std::fs::write(&path, "a,b,y\n2,5,1\n4,5,3\n10,5,2\n14,5,9\n").unwrap();
    let data = load_file(&path, &TargetColumn::Last).unwrap();
    let train = [0, 1, 2];
    let fitted = Standardizer::fit(&data, &train).with_input_ranges(&data, &train);
    let mapped = fitted.transform_inputs(&data.inputs);
    assert_eq!(mapped.values(), [-1.0, 0.0, -0.5, 0.0, 1.0, 0.0, 2.0, 0.0]);
    let standard = Standardizer::fit(&data, &train);
    assert_eq!(fitted.target_mean, standard.target_mean);
    assert_eq!(fitted.target_scale, standard.target_scale);
}

#[test]
fn the_latest_rows_are_for_testing() {
    let times = [5.0, 1.0, 4.0, 2.0, 3.0, 6.0, 7.0, 8.0, 9.0, 10.0];
    let split = Split::by_time(&times, 0.3).unwrap();
    assert_eq!(split.test, [7, 8, 9]);
    assert_eq!(split.train, [0, 1, 2, 3, 4, 5, 6]);
    // Rows of the same time are on one side.
    let split = Split::by_time(&[1.0, 2.0, 3.0, 3.0, 3.0, 4.0], 0.5).unwrap();
    assert_eq!(split.test, [5]);
    let split = Split::by_time(&[1.0, 2.0, 2.0, 2.0], 0.5).unwrap();
    assert_eq!(split.test, [1, 2, 3]);
    let error = Split::by_time(&[1.0, 1.0], 0.5).unwrap_err().to_string();
    assert_eq!(
        error,
        "all 2 rows have the same time, so they cannot be split by time; choose another column"
    );
}

#[test]
fn groups_stay_on_one_side() {
    let groups: Vec<String> = (0..60).map(|row| (row % 12).to_string()).collect();
    let split = Split::random(EqualInputs::of_groups(&groups), 0.25, 3).unwrap();
    assert_eq!(split.test.len(), 15);
    let is_of = |rows: &[usize], group: &String| rows.iter().any(|&row| groups[row] == *group);
    for group in &groups {
        assert_ne!(is_of(&split.test, group), is_of(&split.train, group));
    }
}

/// The folds are disjoint, cover all rows, keep rows with equal inputs together, and have sizes that
/// differ by at most one row if inputs are different.
#[test]
fn folds_cover_all_rows_once() {
    let folds = |rows: EqualInputs, count: usize, seed: u64| -> Vec<Split> {
        (0..count)
            .map(|fold| Split::fold(&rows, fold, count, seed).unwrap())
            .collect()
    };
    for count in [2, 3, 7, 20] {
        let splits = folds(EqualInputs::from(20), count, 1);
        let mut tested: Vec<usize> = splits.iter().flat_map(|split| split.test.clone()).collect();
        tested.sort_unstable();
        assert_eq!(tested, (0..20).collect::<Vec<_>>());
        for split in &splits {
            assert_eq!(split.train.len() + split.test.len(), 20);
            assert!(split.test.len() == 20 / count || split.test.len() == 20usize.div_ceil(count));
        }
    }
    let groups: Vec<String> = (0..60).map(|row| format!("patient {}", row % 7)).collect();
    for split in folds(EqualInputs::of_groups(&groups), 3, 5) {
        let is_tested = |row: usize| split.test.contains(&row);
        assert!((0..60).all(|row| is_tested(row) == is_tested(row % 7)));
    }
    assert_ne!(folds(20.into(), 2, 1)[0], folds(20.into(), 2, 2)[0]);
    let few = Split::fold(EqualInputs::of_groups(&groups), 0, 8, 0);
    assert!(matches!(
        few,
        Err(SplitError::TooManyFolds { folds: 8, found: 7 })
    ));
}
