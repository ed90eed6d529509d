//! Places on the Earth as points in space.

/// The mean radius of the Earth, `(2a + b)/3` of the ellipsoid WGS 84, in kilometers.
const EARTH_RADIUS_KM: f64 = 6371.0088;

/// A longitude λ and a latitude φ, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The longitude, with any number of turns.
    pub longitude: f64,
    /// The latitude, between −90 and 90.
    pub latitude: f64,
}

impl Place {
    /// The point in space, in kilometers, whose distance from another is that through the Earth:
    ///
    /// ```text
    /// R·(cos φ cos λ, cos φ sin λ, sin φ),   R = 6371.0088 km
    /// ```
    ///
    /// Every kernel of three inputs is a covariance function of such points; with distances along the surface,
    /// most are not (Gneiting, *Strictly and Non-Strictly Positive Definite Functions on Spheres*, 2013,
    /// arXiv:1111.7077). Longitudes of −180 and 180 degrees give the same point, to the last bit, and so do all
    /// longitudes at a pole.
    ///
    /// ```
    /// use burn_gp_datasets::Place;
    ///
    /// let quito = Place { longitude: -78.51, latitude: -0.22 }.point();
    /// let singapore = Place { longitude: 103.85, latitude: 1.29 }.point();
    /// let squares = quito.iter().zip(singapore).map(|(a, b)| (a - b).powi(2));
    /// assert!((squares.sum::<f64>().sqrt() - 12_739.0).abs() < 0.5);
    /// ```
    pub fn point(self) -> [f64; 3] {
        let (sin, cos) = turned(self.longitude).to_radians().sin_cos();
        // cos φ = sin(90° − |φ|), which is exactly zero at a pole.
        let from_axis = EARTH_RADIUS_KM * (90.0 - self.latitude.abs()).to_radians().sin();
        let above_equator = EARTH_RADIUS_KM * self.latitude.to_radians().sin();
        // Adding zero turns −0 into +0, so that equal points have equal bits.
        [
            from_axis * cos + 0.0,
            from_axis * sin + 0.0,
            above_equator + 0.0,
        ]
    }

    /// The place below or above a point, with a longitude between −180 and 180.
    pub fn of_point([x, y, z]: [f64; 3]) -> Self {
        Self {
            longitude: y.atan2(x).to_degrees(),
            latitude: z.atan2(x.hypot(y)).to_degrees(),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn point(longitude: f64, latitude: f64) -> [f64; 3] {
        Place {
            longitude,
            latitude,
        }
        .point()
    }

    #[test]
    fn turns_and_poles_change_no_bit() {
        let bits = |longitude, latitude| point(longitude, latitude).map(f64::to_bits);
        for latitude in [-41.3, 0.0, 68.25] {
            assert_eq!(bits(-180.0, latitude), bits(180.0, latitude));
            assert_eq!(bits(-90.5, latitude), bits(269.5, latitude));
            assert_eq!(bits(0.0, latitude), bits(360.0, latitude));
        }
        for longitude in [-180.0, -77.0, 0.0, 13.4, 300.0] {
            assert_eq!(bits(longitude, 90.0), bits(0.0, 90.0));
            assert_eq!(bits(longitude, -90.0), bits(0.0, -90.0));
        }
        assert_ne!(bits(10.0, 90.0), bits(10.0, -90.0));
    }

    #[test]
    fn a_point_tells_its_place() {
        for (longitude, latitude) in [(13.4, 52.5), (-179.0, -33.0), (90.0, 0.0)] {
            let found = Place::of_point(point(longitude, latitude));
            // A few roundings of numbers below 180.
            assert!((found.longitude - longitude).abs() < 1e-12, "{found:?}");
            assert!((found.latitude - latitude).abs() < 1e-12, "{found:?}");
        }
    }
}
