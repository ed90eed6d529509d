//! Takes a series with gaps apart into a trend, a week and what is left:
//! `cargo run --release -p burn-gp --example decomposition`

use burn_gp::{
    forecasting::{FittedSeries, Season, Series, Structure, Transform, Trend},
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// What a day of the week adds.
const WEEK: [f64; 7] = [4.0, 3.0, 1.0, 0.0, 2.0, -4.0, -6.0];

/// The level of a day: it rises, and then falls.
fn level(day: f64) -> f64 {
    50.0 + 20.0 * (day / 60.0).sin()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut value = |day: usize| {
        let noise = random.random_range(-2.0..2.0);
        let is_missing = (60..75).contains(&day) || random.random_bool(0.05);
        match is_missing {
            true => f64::NAN,
            false => level(day as f64) + WEEK[day % 7] + noise,
        }
    };
    let series = Series::regular(&(0..200).map(&mut value).collect::<Vec<f64>>())?;
    let structure = Structure {
        trend: Trend::Damped,
        seasons: vec![Season::named(7.0, "weekly")],
        has_memory: false,
    };
    let fitted = FittedSeries::new(&structure, &series, Transform::None, None)?;

    // Every day, those without a value included, and a week ahead.
    let days: Vec<f64> = (0..207).map(f64::from).collect();
    let parts = fitted.components(&days)?;
    let [trend, week] = &parts[..] else {
        return Err("a trend and a season were expected".into());
    };
    for day in [10, 67, 150, 205] {
        println!(
            "day {day:3}: {} {:5.1} ± {:.1} (it is {:.1}), {} {:5.1} ± {:.1} (it is {:.1})",
            trend.name,
            trend.means[day],
            2.0 * trend.deviations[day],
            level(day as f64),
            week.name,
            week.means[day],
            2.0 * week.deviations[day],
            WEEK[day % 7],
        );
    }
    // The gap is wider than the days around it.
    assert!(trend.deviations[67] > trend.deviations[40]);
    // Differences between days of the week do not depend on the level.
    let found = week.means[154] - week.means[160];
    println!(
        "Monday minus Sunday: {found:.1} (it is {:.1})",
        WEEK[0] - WEEK[6]
    );
    assert!((found - (WEEK[0] - WEEK[6])).abs() < 1.5);
    assert!((trend.means[150] - level(150.0)).abs() < 3.0);
    Ok(())
}
