//! Chooses a model for a series of months, forecasts two years, and compares with simple forecasts:
//! `cargo run --release -p burn-gp --example forecasting`

use burn_gp::{
    forecasting::{Baseline, Forecasting, Season, Series},
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// Monthly sales that grow by 8 % a year, with a peak in December.
fn sales(months: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let sale = |month: usize| {
        let growth = 0.08 * month as f64 / 12.0;
        let peak = if month % 12 == 11 { 0.4 } else { 0.0 };
        let spring = 0.1 * (std::f64::consts::TAU * month as f64 / 12.0).sin();
        100.0 * (growth + peak + spring + random.random_range(-0.05..0.05)).exp()
    };
    (0..months).map(sale).collect()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let all = sales(120);
    let (known, future) = all.split_at(96);
    let series = Series::regular(known)?;
    let forecasting = Forecasting::new(24).with_seasons(vec![Season::named(12.0, "yearly")]);

    // Trend, season and memory are chosen by forecasts of the last values from those before them.
    let choice = forecasting.choose(&series)?;
    println!(
        "{}, transformation: {}",
        choice.fitted.structure(),
        choice.fitted.transform()
    );
    for candidate in &choice.candidates {
        println!(
            "  {}: {:.1} {:?}",
            candidate.structure, candidate.criterion, candidate.score
        );
    }

    let forecast = choice.fitted.forecast(&series.next_times(24))?;
    let [lower, upper] = forecast.interval(0.8);
    let rows = forecast
        .medians()
        .into_iter()
        .zip(lower.iter().zip(&upper))
        .zip(future);
    let mut inside = 0;
    for (month, ((median, (lower, upper)), value)) in rows.enumerate() {
        inside += usize::from((lower..=upper).contains(&value));
        if month % 6 == 5 {
            println!(
                "in {:2} months: {median:.0}, {lower:.0} to {upper:.0}; it was {value:.0}",
                month + 1
            );
        }
    }
    println!("{inside} of 24 values are within the intervals of 80 %");

    // Forecasts of the last three years, each from the values before it.
    let backtest = Forecasting::new(12).with_seasons(forecasting.seasons.clone());
    let backtest = backtest
        .backtest(&series, 3, &[0.8])?
        .ok_or("the series is too short")?;
    let model = backtest.scores().ok_or("no forecasts")?;
    println!("model: MASE {:.2}, CRPS {:.2}", model.mase, model.crps);
    for (name, scores) in backtest.baselines() {
        println!("{name}: MASE {:.2}, CRPS {:.2}", scores.mase, scores.crps);
        if name == Baseline::SeasonalNaive {
            assert!(model.crps < scores.crps);
        }
    }
    assert!(inside >= 14);
    Ok(())
}
