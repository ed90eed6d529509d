//! Places on the Earth as points in space.

use burn_gp_core::neighbors::{
    Coordinates, EARTH_RADIUS_KM, LatitudeError, NeighborTree, Scale, chordal,
};

use super::cases::coordinates;
use crate::support::{Random, panics::assert_names};

/// Kilometers. The coordinates and their differences have relative errors of a few 1e-16.
const TOLERANCE: f64 = 1e-12 * EARTH_RADIUS_KM;

fn points(degrees: &[[f64; 2]]) -> Coordinates {
    chordal(&coordinates(degrees.as_flattened().to_vec(), 2)).expect("latitudes")
}

fn distance(points: &Coordinates, a: usize, b: usize) -> f64 {
    let differences = points.row(a).iter().zip(points.row(b));
    differences
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// A program in Python gives these.
#[test]
fn points_and_chords_of_an_independent_program() {
    let points = points(&[
        [-95.91153, 37.068111],
        [-91.28, 34.29519],
        [13.4, 52.5],
        [-70.65, -33.45],
    ]);
    let expected = [
        [-523.5688092068945, -5056.5185920147715, 3840.214650291317],
        [-117.57527702107502, -5262.0675032459585, 3589.78756686154],
        [3772.8377225136005, 898.8167285003228, 5054.461112504853],
        [1761.3128666472894, -5015.484712756628, -3511.757852068492],
    ];
    for (row, expected) in expected.iter().enumerate() {
        for (value, expected) in points.row(row).iter().zip(expected) {
            assert!(
                (value - expected).abs() < TOLERANCE,
                "{value} and {expected}"
            );
        }
    }
    for (a, b, chord) in [
        (0, 1, 519.4177771314617),
        (0, 2, 7443.085538711968),
        (0, 3, 7698.952378561382),
        (1, 2, 7432.164988698496),
        (1, 3, 7350.032045243694),
        (2, 3, 10602.136630549432),
    ] {
        assert!((distance(&points, a, b) - chord).abs() < TOLERANCE);
    }
}

#[test]
fn whole_turns_and_the_longitude_of_a_pole_do_not_matter() {
    let same = |a: [f64; 2], b: [f64; 2]| {
        let points = points(&[a, b]);
        assert_eq!(points.row(0), points.row(1), "{a:?} and {b:?}");
    };
    same([-180.0, 10.0], [180.0, 10.0]);
    for longitude in [-179.5, -90.0, -0.25, 0.0, 13.5, 90.0, 179.75] {
        same([longitude, 52.5], [longitude + 360.0, 52.5]);
        same([longitude, 52.5], [longitude - 360.0, 52.5]);
        same([longitude, 90.0], [0.0, 90.0]);
        same([longitude, -90.0], [0.0, -90.0]);
    }
    assert_eq!(points(&[[77.0, 90.0]]).row(0), [0.0, 0.0, EARTH_RADIUS_KM]);
}

fn places(count: usize) -> Vec<[f64; 2]> {
    let mut random = Random::new(17);
    let place = |_| [random.uniform(-180.0, 180.0), random.uniform(-90.0, 90.0)];
    (0..count).map(place).collect()
}

/// The haversine formula: chord² = 4R²·(sin²(Δφ/2) + cos φ·cos φ′·sin²(Δλ/2)).
#[test]
fn chords_are_those_of_the_haversine_formula() {
    let places = places(60);
    let points = points(&places);
    for a in 0..60 {
        for b in 0..60 {
            let half = |axis: usize| {
                (0.5 * (places[a][axis] - places[b][axis]))
                    .to_radians()
                    .sin()
            };
            let cosines = places[a][1].to_radians().cos() * places[b][1].to_radians().cos();
            let haversine = half(1).powi(2) + cosines * half(0).powi(2);
            let expected = 2.0 * EARTH_RADIUS_KM * haversine.sqrt();
            assert!((distance(&points, a, b) - expected).abs() < TOLERANCE);
        }
    }
}

/// Turns the sphere about the axis through the equator at longitude 0, by an angle in radians.
fn rotated([longitude, latitude]: [f64; 2], angle: f64) -> [f64; 2] {
    let (longitude, latitude) = (longitude.to_radians(), latitude.to_radians());
    let (x, y, z) = (
        latitude.cos() * longitude.cos(),
        latitude.cos() * longitude.sin(),
        latitude.sin(),
    );
    let (y, z) = (
        angle.cos() * y - angle.sin() * z,
        angle.sin() * y + angle.cos() * z,
    );
    [y.atan2(x).to_degrees(), z.atan2(x.hypot(y)).to_degrees()]
}

#[test]
fn rotations_of_the_sphere_change_no_distance() {
    let places = places(60);
    let rotated: Vec<[f64; 2]> = places.iter().map(|&place| rotated(place, 0.7)).collect();
    let (before, after) = (points(&places), points(&rotated));
    for a in 0..60 {
        for b in 0..60 {
            assert!((distance(&before, a, b) - distance(&after, a, b)).abs() < TOLERANCE);
        }
    }
}

#[test]
fn neighbors_are_found_across_the_date_line_and_the_pole() {
    let tree = NeighborTree::new(&points(&[
        [179.5, 0.0],
        [170.0, 0.0],
        [-100.0, 89.0],
        [80.0, 80.0],
    ]));
    let sets = tree.nearest(
        &points(&[[-179.5, 0.0], [80.0, 89.0]]),
        &[Scale::nearest(2)],
    );
    assert_eq!(sets.iter().collect::<Vec<&[u32]>>(), [[0, 1], [2, 3]]);
}

#[test]
fn latitudes_beyond_the_poles_are_refused() {
    let degrees = coordinates(vec![0.0, 90.0, 1.0, 90.5], 2);
    let error = LatitudeError {
        row: 1,
        latitude: 90.5,
    };
    assert_eq!(chordal(&degrees), Err(error));
    assert!(chordal(&coordinates(vec![0.0, -91.0], 2)).is_err());
}

#[test]
fn other_columns_are_a_mistake() {
    let degrees = coordinates(vec![0.0; 9], 3);
    assert_names("three columns", &["[N, 2]", "[3, 3]"], || chordal(&degrees));
}

/// The same place has the same bits, the sign of zero included.
#[test]
fn poles_have_equal_bits() {
    for latitude in [90.0, -90.0] {
        let longitudes = (-36..=36).flat_map(|step| [f64::from(10 * step), latitude]);
        let degrees = Coordinates::new(longitudes.collect(), 2).unwrap();
        let points = chordal(&degrees).unwrap();
        let bits = |row: usize| {
            points
                .row(row)
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<u64>>()
        };
        assert!(
            (0..points.rows()).all(|row| bits(row) == bits(0)),
            "at latitude {latitude}"
        );
    }
}
