//! Standardizers with transformed columns: round trips, densities, files.

use std::fs;

use burn_gp_datasets::{
    ColumnRoles, ColumnTransforms, DataSource, Dataset, Standardizer, TransformError,
    TransformOfColumn,
};

/// Positive skewed targets and inputs, one of them with gaps.
fn data(folder: &temp_dir::TempDir) -> Dataset {
    let mut text = String::from("area,b,price\n");
    for row in 0..60 {
        let place = f64::from(row) / 10.0;
        let gap = if row % 7 == 3 {
            String::new()
        } else {
            (place - 2.0).to_string()
        };
        text += &format!(
            "{},{gap},{}\n",
            place.exp(),
            (1.0 + (3.0 * place).sin() + 0.3 * place).exp()
        );
    }
    let path = folder.path().join("prices.csv");
    fs::write(&path, text).unwrap();
    let source = DataSource::resolve(path.to_str().unwrap(), None).unwrap();
    let mut roles = ColumnRoles::default();
    roles.inputs.inferred = true;
    source.load_columns(&roles).unwrap()
}

fn transforms(texts: &[&str]) -> Vec<TransformOfColumn> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn standardizer(data: &Dataset, texts: &[&str]) -> Standardizer {
    let train: Vec<usize> = (0..40).collect();
    let own = ColumnTransforms::fit(data, &transforms(texts), &train).unwrap();
    Standardizer::fit(&own.apply(data), &train).with_transforms(own, data, &train)
}

#[test]
fn columns_come_back() {
    let folder = temp_dir::TempDir::new().unwrap();
    let data = data(&folder);
    for target in ["log", "box-cox", "yeo-johnson"] {
        for input in ["log", "box-cox", "yeo-johnson", "quantile"] {
            let texts = [
                format!("price={target}"),
                format!("area={input}"),
                "b=yeo-johnson".to_owned(),
            ];
            let texts = texts.each_ref().map(String::as_str);
            let own = standardizer(&data, &texts);
            let again = serde_json::from_str(&serde_json::to_string(&own).unwrap()).unwrap();
            assert_eq!(own, again);
            let standard = own.transform_inputs(&data.inputs);
            // The training rows have mean zero and variance one after the transformation.
            for column in 0..2 {
                let values: Vec<f64> = (0..40).map(|row| standard.get(row, column)).collect();
                let mean = values.iter().sum::<f64>() / 40.0;
                assert!(mean.abs() < 1e-12, "{mean} of column {column} by {input}");
            }
            let back = own.inverse_inputs(&standard);
            for (found, value) in back.values().iter().zip(data.inputs.values()) {
                // A gap has the mean of the transformed values.
                let is_close = (found - value).abs() <= 1e-9 * (1.0 + value.abs());
                assert!(
                    value.is_nan() && found.is_finite() || is_close,
                    "{found}, {value}"
                );
            }
            let targets = own.transform_targets(&data.targets);
            for (found, value) in own.inverse_targets(&targets).iter().zip(&data.targets) {
                assert!(
                    (found - value).abs() <= 1e-9 * (1.0 + value.abs()),
                    "{found}, {value}"
                );
            }
        }
    }
}

/// A normal density of the transformed and standardized target, with the Jacobian, is a density of the target.
#[test]
fn densities_integrate_to_one() {
    let folder = temp_dir::TempDir::new().unwrap();
    let data = data(&folder);
    for name in ["log", "box-cox", "yeo-johnson"] {
        let own = standardizer(&data, &[&format!("price={name}")]);
        // Quantiles of z from −9 to 9 deviations around 0.3, with a deviation of 0.4.
        let nodes: Vec<f64> = (0..=20_000)
            .map(|node| 0.3 + 0.4 * (f64::from(node) / 20_000.0 * 18.0 - 9.0))
            .collect();
        let places = own.inverse_targets(&nodes);
        let slopes = own.log_slopes(&places);
        let deviations = own.in_deviations(&places);
        let density: Vec<f64> = (own.transform_targets(&places).iter().zip(&slopes))
            .map(|(z, slope)| {
                let square = ((z - 0.3) / 0.4).powi(2);
                let constant = (2.0 * std::f64::consts::PI).sqrt() * 0.4;
                (slope - 0.5 * square).exp() / constant
            })
            .collect();
        // The trapezoidal rule over uneven steps, in deviations of the data.
        let pairs = deviations.windows(2).zip(density.windows(2));
        let terms = pairs.map(|(at, density)| 0.5 * (density[0] + density[1]) * (at[1] - at[0]));
        let total: f64 = terms.filter(|term| term.is_finite()).sum();
        // Errors of second order in steps of a thousandth of a deviation.
        assert!((total - 1.0).abs() < 1e-5, "{name}: {total}");
    }
    let plain = standardizer(&data, &["area=log"]);
    assert_eq!(plain.log_slopes(&data.targets), vec![0.0; 60]);
    assert_eq!(
        plain.in_deviations(&data.targets),
        plain.transform_targets(&data.targets)
    );
    assert_eq!(plain.data_scale(), plain.target_scale);
}

#[test]
fn impossible_transformations() {
    let folder = temp_dir::TempDir::new().unwrap();
    let data = data(&folder);
    let error =
        |texts: &[&str]| ColumnTransforms::fit(&data, &transforms(texts), &[0, 1, 2]).unwrap_err();
    assert!(matches!(error(&["b=log"]), TransformError::Value { value, .. } if value == -2.0));
    assert!(matches!(error(&["c=log"]), TransformError::NoColumn { .. }));
    assert!(matches!(
        error(&["b missing=log"]),
        TransformError::NoColumn { .. }
    ));
    assert!(matches!(
        error(&["price=quantile"]),
        TransformError::QuantilesOfTarget { .. }
    ));
    assert!(matches!(
        error(&["area=log", "area=log"]),
        TransformError::Twice { .. }
    ));

    // Files that no program has written.
    let own =
        serde_json::to_value(standardizer(&data, &["price=box-cox", "area=quantile"])).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut file = own.clone();
        change(&mut file);
        assert_ne!(file, own);
        serde_json::from_value::<Standardizer>(file).is_err()
    };
    assert!(refused(
        &|file| file["target_transform"]["transform"]["power"] = 2.5.into()
    ));
    assert!(refused(
        &|file| file["target_transform"]["data_scale"] = 0.0.into()
    ));
    assert!(refused(&|file| file["input_transforms"][0][0] = 9.into()));
    assert!(refused(
        &|file| file["input_transforms"][0][1]["values"][0] = 1e9.into()
    ));
    assert!(refused(
        &|file| file["input_transforms"][0][1]["shares"] = serde_json::json!([0.5])
    ));
}
