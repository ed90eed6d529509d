//! A sparse variational Gaussian process on a CSV file, scored on held-out rows:
//! `cargo run --release -p burn-gp --example csv -- FILE`. The target is the last column. Without
//! `FILE`, it uses the diabetes data of this repository.

use std::{error::Error, fs, path::PathBuf};

use burn_gp::prelude::*;

/// Ten measurements of 442 patients, and the progression of their diabetes after a year.
const DIABETES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/data/diabetes.csv");

/// The inputs and the target of a line.
type Row = (Vec<f64>, f64);

/// The rows of a file with a header. The target is the last column.
fn read(file: PathBuf) -> Result<Vec<Row>, Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    let row = |line: &str| {
        let mut values: Vec<f64> = line.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let target = values.pop().ok_or("an empty line")?;
        Ok((values, target))
    };
    text.lines().skip(1).map(row).collect()
}

fn root_mean_square(errors: impl Iterator<Item = f64>, count: usize) -> f64 {
    (errors.map(|error| error * error).sum::<f64>() / count as f64).sqrt()
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args()
        .nth(1)
        .filter(|name| name.ends_with(".csv"));
    let rows = read(file.map_or(DIABETES.into(), PathBuf::from))?;
    // Every fourth row is a test row.
    let part = |test: bool| -> (Vec<Vec<f64>>, Vec<f64>) {
        let rows = rows.iter().enumerate();
        let of_part = rows.filter(|(index, _)| (index % 4 == 3) == test);
        of_part.map(|(_, row)| row.clone()).unzip()
    };
    let ((x, y), (new_x, new_y)) = (part(false), part(true));

    let gp = SvgpConfig::new(StationaryConfig::rbf(), GaussianConfig::default())
        .with_inducing(32)
        .fit(&x, &y, &Fit::adam(0.05).steps(500).batch_size(128))?;
    let predicted = gp.predict(&new_x)?;

    let count = new_y.len();
    let means = &predicted.predictions().mean;
    let rmse = root_mean_square(means.iter().zip(&new_y).map(|(m, y)| m - y), count);
    let center = y.iter().sum::<f64>() / y.len() as f64;
    let constant = root_mean_square(new_y.iter().map(|y| y - center), count);
    let interval = predicted.predictions().interval(0.9).ok_or("quantiles")?;
    let ends = interval.lower.iter().zip(&interval.upper);
    let inside = ends
        .zip(&new_y)
        .filter(|((a, b), y)| (**a..=**b).contains(*y));
    let coverage = inside.count() as f64 / count as f64;
    println!("RMSE {rmse:.1} (a constant: {constant:.1}); {coverage:.2} in 90 % intervals");
    assert!(rmse < 0.85 * constant);
    assert!((0.8..=0.98).contains(&coverage));
    Ok(())
}
