//! A map of measurements around the globe, by nearest-neighbor (Vecchia) regression on points in space:
//! `cargo run --release -p burn-gp --example map`. Places on both sides of the date line are neighbors.

use std::error::Error;

use burn_gp::{
    neighbors::{Coordinates, EARTH_RADIUS_KM, chordal},
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// The standard deviation of the measurements, in degrees Celsius.
const NOISE: f64 = 0.5;

/// The temperature at a point of the unit sphere: cold poles, and waves a thousand kilometers long.
fn temperature([x, y, z]: [f64; 3]) -> f64 {
    25.0 - 40.0 * z * z + 3.0 * (6.0 * x).sin() * (5.0 * y).cos() + 2.0 * (7.0 * z + 4.0 * x).sin()
}

/// Longitude and latitude as points in space, in thousands of kilometers.
fn points(degrees: &[[f64; 2]]) -> Result<Vec<[f64; 3]>, Box<dyn Error>> {
    let degrees = Coordinates::new(degrees.as_flattened().to_vec(), 2)?;
    let points = chordal(&degrees)?;
    let point = |row: usize| [0, 1, 2].map(|axis| points.row(row)[axis] / 1000.0);
    Ok((0..points.rows()).map(point).collect())
}

/// Places in space, and what is measured there.
type Stations = (Vec<[f64; 3]>, Vec<f64>);

/// Stations anywhere on the sphere, and what they measure.
fn stations(count: usize, seed: u64) -> Result<Stations, Box<dyn Error>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let place = |random: &mut ChaCha8Rng| {
        let height: f64 = random.random_range(-1.0..1.0);
        [
            random.random_range(-180.0..180.0),
            height.asin().to_degrees(),
        ]
    };
    let places: Vec<[f64; 2]> = (0..count).map(|_| place(&mut random)).collect();
    let x = points(&places)?;
    let measured = x.iter().map(|point| {
        // The sum of twelve uniform numbers is almost normal.
        let normal = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let unit = point.map(|value| 1000.0 * value / EARTH_RADIUS_KM);
        temperature(unit) + NOISE * normal
    });
    let measured = measured.collect();
    Ok((x, measured))
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let ((x, y), (new_x, new_y)) = (stations(2000, 1)?, stations(500, 2)?);
    // The coordinates already have one scale. One lengthscale for all of them does not depend on the direction.
    let kernel = StationaryConfig::matern52().isotropic();
    let gp = VecchiaConfig::new(kernel).fit(&x, &y, &Fit::new().scale_inputs(false))?;
    let predicted = gp.predict(&new_x)?;

    let means = predicted.predictions().mean.iter();
    let squares = means.zip(&new_y).map(|(mean, y)| (mean - y).powi(2));
    let rmse = (squares.sum::<f64>() / new_y.len() as f64).sqrt();
    let interval = predicted.predictions().interval(0.95).ok_or("quantiles")?;
    let ends = interval.lower.iter().zip(&interval.upper).zip(&new_y);
    let inside = ends
        .filter(|((low, high), y)| (**low..=**high).contains(*y))
        .count();
    let coverage = inside as f64 / new_y.len() as f64;
    let average = y.iter().sum::<f64>() / y.len() as f64;
    let spread = new_y.iter().map(|y| (y - average).powi(2)).sum::<f64>() / new_y.len() as f64;
    println!(
        "RMSE {rmse:.2} °C (noise {NOISE}, the mean of all stations {:.1}); {:.1} % in 95 % intervals",
        spread.sqrt(),
        100.0 * coverage
    );
    assert!(rmse < 1.25 * NOISE, "{rmse}");
    assert!((0.92..=0.98).contains(&coverage), "{coverage}");

    // The date line is no edge, and all longitudes at a pole are one place.
    let twins = [[-180.0, 21.0], [180.0, 21.0], [0.0, 90.0], [120.0, 90.0]];
    let means = &gp.predict(points(&twins)?)?.predictions().mean.clone();
    println!(
        "at the date line {:.3} and {:.3}, at the pole {:.3} and {:.3} °C",
        means[0], means[1], means[2], means[3]
    );
    assert_eq!((means[0], means[2]), (means[1], means[3]));
    Ok(())
}
