//! Functions of numbers and texts: splits, synthetic data, classes, names, scalers and matrices.

use burn_gp_datasets::{
    Classes, DataSource, EqualInputs, ImageShape, Matrix, Split, Standardizer, Synthetic,
    SyntheticFunction, find, warnings,
};
use proptest::prelude::*;

use crate::mutations::{corner, damaged_text};
use crate::search::{no_panic, search};

/// Numbers of every kind, often extreme values.
fn number() -> impl Strategy<Value = f64> {
    const CORNERS: &[f64] = &[
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        0.1,
        1e-320,
        1e-9,
        1e300,
        -1e300,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::EPSILON,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    prop_oneof![
        2 => proptest::sample::select(CORNERS),
        1 => -2.0..2.0f64,
        1 => any::<f64>(),
    ]
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![0usize..6, 0usize..2000]
}

#[test]
fn splits() {
    let inputs = (size(), [number(), number()], any::<u64>());
    search(5000, inputs, |(rows, [a, b], seed)| {
        no_panic(&[], || {
            if let Ok(split) = Split::random(rows, a, seed) {
                let held = split.hold_out_validation(rows, b, seed);
                if let Ok(split) = held {
                    let parts = [&split.train, &split.validation, &split.test];
                    assert!(parts.iter().all(|part| !part.is_empty()));
                    let mut all: Vec<usize> = parts.into_iter().flatten().copied().collect();
                    all.sort_unstable();
                    assert!(all.iter().copied().eq(0..rows));
                }
            }
        })?;
        Ok(())
    });
}

#[test]
fn synthetic_sets() {
    const TEXTS: &[&str] = &[
        "synthetic:sines?n=10&noise=0.1&seed=1",
        "synthetic:friedman?n=7&d=6&noise=0&seed=0",
        "synthetic:step",
        "synthetic:sinc?n=3",
        "levels?seed=9",
    ];
    const NAMES: &[&str] = &["sines", "step", "sinc", "levels", "friedman"];
    let parameter = (
        proptest::sample::select(&["n", "noise", "seed", "d"][..]),
        corner(),
    );
    let written = (
        proptest::sample::select(NAMES),
        proptest::collection::vec(parameter, 0..3),
    )
        .prop_map(|(name, parameters)| {
            let parameters = parameters
                .iter()
                .map(|(key, value)| format!("{key}={value}"));
            format!(
                "synthetic:{name}?{}",
                parameters.collect::<Vec<_>>().join("&")
            )
        });
    let texts = prop_oneof![written, damaged_text(TEXTS, 3)];
    search(3000, texts, |text| {
        no_panic(&[], || {
            let Ok(synthetic) = text.parse::<Synthetic>() else {
                return;
            };
            assert_eq!(
                synthetic.to_string().parse::<Synthetic>().unwrap(),
                synthetic
            );
            // Sets that take little memory are generated. Sets too large for any memory are an
            // error.
            let numbers = (synthetic.rows).saturating_mul(synthetic.columns.saturating_add(1));
            if (1 << 18..1 << 58).contains(&numbers) {
                return;
            }
            if let Ok(source) = DataSource::resolve(&synthetic.to_string(), None)
                && let Ok(data) = source.load(None)
            {
                let equal = EqualInputs::among(&data.inputs);
                if let Ok(split) = Split::random(equal.clone(), 0.2, synthetic.seed) {
                    let _ = source.warnings(&data, &equal, &split);
                }
                let _ = source.load_features(&data.schema);
            }
        })?;
        Ok(())
    });
}

#[test]
fn functions_of_points() {
    const FUNCTIONS: &[SyntheticFunction] = &[
        SyntheticFunction::Sines,
        SyntheticFunction::Step,
        SyntheticFunction::Sinc,
        SyntheticFunction::Levels,
        SyntheticFunction::Friedman,
    ];
    let inputs = (
        proptest::sample::select(FUNCTIONS),
        proptest::collection::vec(number(), 5..8),
    );
    search(2000, inputs, |(function, input)| {
        no_panic(&[], || function.evaluate(&input))?;
        Ok(())
    });
}

#[test]
fn names_and_classes() {
    let inputs = (proptest::collection::vec(corner(), 0..6), "\\PC{0,12}");
    search(3000, inputs, |(names, text)| {
        no_panic(&[], || {
            let classes = Classes::new(names.iter().map(|&name| name.to_owned()));
            assert!(classes.count() <= names.len());
            let _ = find(&text);
            let _ = DataSource::resolve(&text, None);
            names.iter().for_each(|name| drop(find(name)));
        })?;
        Ok(())
    });
}

/// Tables of arbitrary numbers, finite as from loaders or not.
#[test]
fn scales_of_any_numbers() {
    let table = (1usize..5, 1usize..4).prop_flat_map(|(rows, columns)| {
        let values = proptest::collection::vec(number(), rows * (columns + 1));
        (Just(rows), Just(columns), values)
    });
    search(3000, table, |(rows, columns, values)| {
        no_panic(&[], || {
            let source = DataSource::resolve("synthetic:friedman?n=4&d=5", None).unwrap();
            let mut data = source.load(None).unwrap();
            let (inputs, targets) = values.split_at(rows * columns);
            data.inputs = Matrix::new(rows, columns, inputs.to_vec());
            data.schema.input_names = (0..columns).map(|input| input.to_string()).collect();
            data.targets = targets[..rows].to_vec();
            let all: Vec<usize> = (0..rows).collect();
            let standardizer = Standardizer::fit(&data, &all);
            let scaled = standardizer.transform_inputs(&data.inputs);
            let _ = standardizer.inverse_inputs(&scaled);
            let _ = standardizer.inverse_targets(&standardizer.transform_targets(&data.targets));
            let _ =
                standardizer.inverse_variances(&standardizer.transform_variances(&data.targets));
            let _ = Standardizer::fit_inputs(&data, &all).with_input_ranges(&data, &all[..1]);
            let equal = EqualInputs::among(&data.inputs);
            for fraction in [0.2, 0.5, 0.9] {
                if let Ok(split) = Split::random(equal.clone(), fraction, 0) {
                    let _ = equal.shared(&split.train, &split.test);
                    let _ = warnings(&data, &equal, &split);
                    let _ = split.hold_out_validation(equal.clone(), fraction, 1);
                }
            }
        })?;
        Ok(())
    });
}

/// Mismatched shapes are programming errors with these panic messages and no others.
#[test]
fn matrices_of_any_shape() {
    let size = || prop_oneof![0usize..5, Just(usize::MAX), Just(1 << 20)];
    let inputs = (size(), size(), 0usize..20, size(), size());
    search(3000, inputs, |(rows, columns, count, row, column)| {
        let sizes = ["matrix cannot be made from", "of a"];
        no_panic(&sizes, || {
            let matrix = Matrix::new(rows, columns, vec![0.0; count]);
            let _ = matrix.select(&[row, column]);
            let _ = matrix.get(row, column);
        })?;
        no_panic(&sizes, || {
            let matrix = Matrix::new(
                rows,
                columns,
                vec![0.0; rows.saturating_mul(columns).min(20)],
            );
            let _ = matrix.column(column).count();
            if columns < 5 {
                let _ = Standardizer::identity(columns).transform_inputs(&matrix);
            }
        })?;
        no_panic(&[], || ImageShape::new(rows, columns, count).to_string())?;
        Ok(())
    });
}
