//! Draws of whole functions from a posterior, evaluated anywhere. They give the distribution of the
//! maximum's location, which means and variances do not:
//! `cargo run --release -p burn-gp --example function_draws`

use burn_gp::{
    AnySvgp,
    prelude::*,
    sampling::{PathOptions, SamplePaths},
};

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two hills, at −1 and at 1. The one at 1 is slightly higher, and there are no data at its top.
    let hills = |x: f64| (-8.0 * (x + 1.0).powi(2)).exp() + 1.05 * (-8.0 * (x - 1.0).powi(2)).exp();
    let x: Vec<f64> = (0..40).map(|i| -2.0 + 0.1 * f64::from(i)).collect();
    let x: Vec<f64> = x.into_iter().filter(|x| (x - 1.0).abs() > 0.25).collect();
    let y: Vec<f64> = x.iter().copied().map(hills).collect();

    let fit = Fit::l_bfgs().scale_inputs(false).scale_targets(false);
    let gp = SgprConfig::new(StationaryConfig::rbf())
        .with_inducing(24)
        .fit(&x, &y, &fit)?;
    let Some(model) = gp.model().downcast_ref::<AnySvgp>() else {
        return Err("SGPR is a sparse model after training".into());
    };
    let functions = model
        .condition()?
        .paths(PathOptions::new(200).with_seed(7))?;

    // The same 200 functions on a grid: [200, 1, 401].
    let (device, dtype) = gp.place();
    let grid: Vec<f64> = (0..=400).map(|i| -2.0 + 0.01 * f64::from(i)).collect();
    let points = Tensor::<1>::from_data(grid.as_slice(), (&device, dtype)).reshape([401, 1]);
    let values = functions.evaluate(points.clone());
    assert_eq!(values.dims(), [200, 1, 401]);
    // The locations of the maxima; that of the true function is at 1.
    let places = values.clone().argmax(2).into_data();
    let places: Vec<f64> = places.iter::<i64>().map(|i| grid[i as usize]).collect();
    let mean = places.iter().sum::<f64>() / 200.0;
    let squares = places.iter().map(|place| (place - mean).powi(2));
    let deviation = (squares.sum::<f64>() / 200.0).sqrt();
    println!("the maximum is at {mean:.3} ± {deviation:.3}");
    assert!((mean - 1.0).abs() < 0.1, "{mean}");

    // Draws agree with the posterior's moments.
    let mean = gp.predict(grid)?.function_mean();
    let gap = values.mean_dim(0).reshape([401, 1]) - mean;
    assert!(gap.abs().max().into_scalar::<f64>() < 0.1);
    Ok(())
}
