//! Places on the Earth as points in space.

use super::Coordinates;

/// The mean radius of the Earth, `(2a + b)/3` of the ellipsoid WGS 84, in kilometers.
pub const EARTH_RADIUS_KM: f64 = 6371.0088;

/// A latitude that is not between the poles.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("latitude {latitude} in row {row} is not between -90 and 90 degrees")]
pub struct LatitudeError {
    /// The zero-based row.
    pub row: usize,
    /// The latitude found, in degrees.
    pub latitude: f64,
}

/// Converts longitude λ and latitude φ to points in space, whose distance is that through the Earth (chordal).
///
/// ```text
/// R·(cos φ cos λ, cos φ sin λ, sin φ),   R = 6371.0088 km
/// ```
///
/// Every kernel of three inputs is a covariance function of such points. With distances along the surface, smooth
/// Matérn kernels and the squared exponential are not: *Strictly and Non-Strictly Positive Definite Functions on
/// Spheres* (Gneiting, 2013, arXiv:1111.7077). Lengthscales are in kilometers.
///
/// Longitudes may have any number of turns. −180 and 180 degrees give the same point, to the last bit, and so do
/// all longitudes at a pole.
///
/// # Shapes
///
/// - `degrees`: `[N, 2]`, longitude and latitude
/// - result: `[N, 3]`, in kilometers
///
/// # Errors
///
/// [`LatitudeError`] for the first latitude that is not between −90 and 90.
///
/// # Panics
///
/// If there are not two columns.
///
/// ```
/// use burn_gp_core::neighbors::{Coordinates, chordal};
///
/// // Quito and Singapore are almost on opposite sides of the Earth.
/// let places = Coordinates::new(vec![-78.51, -0.22, 103.85, 1.29], 2)?;
/// let points = chordal(&places)?;
/// let distance = |axis: usize| points.row(0)[axis] - points.row(1)[axis];
/// let chord = (0..3).map(|axis| distance(axis).powi(2)).sum::<f64>().sqrt();
/// assert!((chord - 12_739.0).abs() < 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn chordal(degrees: &Coordinates) -> Result<Coordinates, LatitudeError> {
    assert_eq!(
        degrees.dimensions(),
        2,
        "longitude and latitude are [N, 2], not [{}, {}]",
        degrees.rows(),
        degrees.dimensions()
    );
    let mut points = Vec::with_capacity(3 * degrees.rows());
    for row in 0..degrees.rows() {
        let (longitude, latitude) = (degrees.row(row)[0], degrees.row(row)[1]);
        if latitude.abs() > 90.0 {
            return Err(LatitudeError { row, latitude });
        }
        points.extend(point(longitude, latitude));
    }
    Ok(Coordinates::of_finite(points, 3))
}

fn point(longitude: f64, latitude: f64) -> [f64; 3] {
    let (sin, cos) = turned(longitude).to_radians().sin_cos();
    // cos φ = sin(90° − |φ|), which is exactly zero at a pole.
    let from_axis = EARTH_RADIUS_KM * (90.0 - latitude.abs()).to_radians().sin();
    let above_equator = EARTH_RADIUS_KM * latitude.to_radians().sin();
    // Adding zero turns −0 into +0, so that equal points have equal bits.
    [from_axis * cos, from_axis * sin, above_equator].map(|value| value + 0.0)
}

/// The longitude between −180, included, and 180. No step rounds.
fn turned(longitude: f64) -> f64 {
    let turned = longitude % 360.0;
    if turned >= 180.0 {
        turned - 360.0
    } else if turned < -180.0 {
        turned + 360.0
    } else {
        turned
    }
}
