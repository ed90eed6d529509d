//! Exact regression in ten lines, with intervals that widen away from the data:
//! `cargo run --release -p burn-gp --example exact`

use burn_gp::prelude::*;

pub fn main() -> Result<(), burn_gp::Error> {
    let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 10.0).collect();
    let y: Vec<f64> = x.iter().map(|x| 20.0 + 3.0 * x.sin()).collect();

    let gp = ExactConfig::new(StationaryConfig::matern52()).fit(&x, &y, &Fit::new())?;
    let predicted = gp.predict([2.55, 30.0])?;
    let (lower, upper) = predicted.interval(0.95)?;
    println!("means {}\nfrom {lower}\nto {upper}", predicted.mean());

    let at = predicted.predictions();
    assert!((at.mean[0] - (20.0 + 3.0 * 2.55_f64.sin())).abs() < 0.05);
    assert!(at.variance[1] > 100.0 * at.variance[0]);
    Ok(())
}
