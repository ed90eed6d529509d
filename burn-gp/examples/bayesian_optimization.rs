//! Bayesian optimization: finds the next point by gradient ascent on an upper confidence bound of
//! the posterior: `cargo run --release -p burn-gp --example bayesian_optimization`

use burn_gp::{
    prelude::*,
    process::AnyProcess,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// A function of two inputs with several hills. Its maximum is 1, at (0.3, −0.4).
fn objective([a, b]: [f64; 2]) -> f64 {
    let (u, v) = (a - 0.3, b + 0.4);
    (-2.0 * (u * u + v * v)).exp() - 0.1 * (2.0 - (6.0 * u).cos() - (6.0 * v).cos())
}

/// Maximizes `mean + 2·deviation` by gradient ascent from several starts, within the square
/// `[−1, 1]²`.
fn next_point(process: &dyn AnyProcess, starts: Vec<[f64; 2]>) -> Result<[f64; 2], String> {
    let device = Device::default().autodiff();
    let count = starts.len();
    let flat: Vec<f64> = starts.into_iter().flatten().collect();
    let x = Tensor::<1>::from_data(flat.as_slice(), (&device, DType::F64));
    let mut x = x.reshape([count, 2]).require_grad();
    let bound = |x: Tensor<2>| {
        let functions = process.components(x).remove(0);
        functions.mean + functions.variance.sqrt() * 2.0
    };
    for _ in 0..60 {
        // The bound at one start does not depend on the others, so one backward pass gives all
        // gradients.
        let gradients = bound(x.clone()).sum().backward();
        let slope = x.grad(&gradients).ok_or("the inputs are not tracked")?;
        let moved = (x.clone().inner() + slope * 0.02).clamp(-1.0, 1.0);
        x = Tensor::from_inner(moved).require_grad();
    }
    let best = bound(x.clone()).argmax(0).into_scalar::<i64>() as usize;
    let points: Vec<f64> = x.into_data().iter().collect();
    Ok([points[2 * best], points[2 * best + 1]])
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut anywhere = || {
        [
            random.random_range(-1.0..1.0),
            random.random_range(-1.0..1.0),
        ]
    };
    let mut points: Vec<[f64; 2]> = (0..6).map(|_| anywhere()).collect();
    let mut values: Vec<f64> = points.iter().copied().map(objective).collect();
    for _ in 0..14 {
        // The inputs are not scaled, so gradients are with respect to the inputs themselves.
        let gp = ExactConfig::new(StationaryConfig::matern52().with_lengthscale(0.5))
            .with_likelihood(GaussianConfig::new(1e-4))
            .fit(&points, &values, &Fit::new().steps(30).scale_inputs(false))?;
        let starts = (0..12).map(|_| anywhere()).collect();
        let next = next_point(gp.predictor().process(), starts)?;
        values.push(objective(next));
        points.push(next);
    }
    let best = values.iter().copied().fold(f64::MIN, f64::max);
    println!("best value after {} evaluations: {best:.3}", values.len());
    assert!(best > 0.95, "{best}");
    Ok(())
}
