//! The choice of a structure and a transformation for a series.

use super::{
    Baseline, Companion, FittedSeries, Forecast, ForecastError, ForecastScores, Season, Series,
    Structure, Transform, Trend,
    exponential_smoothing::LONGEST_SEASON,
    fitted::FEWEST_VALUES,
    scores::error_scale,
    season::{repeats_after, usable},
};

/// This many structures with the best criterion are compared by their forecasts.
const FINALISTS: usize = 4;
/// The number of forecasts of the past that are compared.
const WINDOWS: usize = 3;
/// A structure with more parameters must be better by this share.
const TIE: f64 = 0.02;
/// An average with a companion must be better by this share.
const COMPANION_MARGIN: f64 = 0.1;
/// The most entries of covariances of states, over all times: about a gigabyte in both passes.
const MOST_ENTRIES: f64 = 1.5e7;
/// Scores of the past need this share of the series before them.
const LEAST_PAST: f64 = 0.5;

/// How series are forecast: the horizon, possible seasons, and what is given rather than chosen.
///
/// ```
/// use burn_gp_models::forecasting::{Forecasting, Season, Series};
///
/// # fn main() -> Result<(), burn_gp_models::forecasting::ForecastError> {
/// let value = |month: u32| 50.0 + f64::from(month) + 10.0 * f64::from(month % 4);
/// let series = Series::regular(&(0..48).map(value).collect::<Vec<f64>>())?;
/// let forecasting = Forecasting::new(8).with_seasons(vec![Season::of_steps(4.0)]);
/// let choice = forecasting.choose(&series)?;
/// let forecast = choice.fitted.forecast(&series.next_times(8))?;
/// assert!((forecast.medians()[7] - value(55)).abs() < 2.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, derive_setters::Setters)]
#[setters(prefix = "with_")]
pub struct Forecasting {
    /// The number of steps ahead.
    pub horizon: usize,
    /// The seasons that the series may have.
    pub seasons: Vec<Season>,
    /// The transformation of the values; chosen if `None`.
    pub transform: Option<Transform>,
    /// The structure; chosen if `None`.
    pub structure: Option<Structure>,
}

/// A structure that was considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The structure.
    pub structure: Structure,
    /// The Bayesian information criterion on the past before the compared forecasts; smaller is better.
    pub criterion: f64,
    /// The scaled continuous ranked probability score of the compared forecasts, if it was among the best.
    pub score: Option<f64>,
}

/// The chosen structure, fitted to the whole series.
#[derive(Debug)]
pub struct Choice {
    /// The fitted structure.
    pub fitted: FittedSeries,
    /// All structures considered, in their order.
    pub candidates: Vec<Candidate>,
}

/// A forecast of the past, what was known for it and what came, and the scale of its errors.
struct PastForecast {
    known: Series,
    future: Series,
    scale: f64,
    forecast: Forecast,
}

impl PastForecast {
    /// The scaled continuous ranked probability score.
    fn score(&self, forecast: &Forecast) -> f64 {
        ForecastScores::new(forecast, self.future.values(), self.scale, &[]).crps
    }
}

/// The mean score of forecasts of the past; `None` if there are none.
fn mean_score(past: &[PastForecast]) -> Option<f64> {
    let sum: f64 = past.iter().map(|own| own.score(&own.forecast)).sum();
    (!past.is_empty()).then(|| sum / past.len() as f64)
}

impl Forecasting {
    /// Forecasts of this many steps of series without a season.
    pub fn new(horizon: usize) -> Self {
        Self {
            horizon,
            seasons: Vec::new(),
            transform: None,
            structure: None,
        }
    }

    /// The season of baselines and of the scale of errors, in steps.
    pub fn repeats_after(&self, series: &Series) -> usize {
        repeats_after(&self.seasons, series.span())
    }

    /// Chooses a structure and fits it to the series.
    ///
    /// Structures are fitted to the past before the last three horizons. The seasons are those with the best Bayesian
    /// information criterion, and then trends with and without short memory are compared, and a level alone. The four
    /// best forecast each of the three horizons from the values before it, with the parameters of the past, and the
    /// smallest continuous ranked probability score wins; within 2 %, the fewest parameters. If these forecasts are more
    /// than 10 % better when averaged with exponential smoothing or replaced by it, the fit gets this
    /// [companion](Companion); the seasonal naive forecast stands in its place if the season has more than 24 steps. A
    /// logarithm is taken if it gives positive values a higher density. Only the latest values count if the passes over
    /// all would take more than a gigabyte.
    ///
    /// # Errors
    ///
    /// When the series is constant or has fewer than five values, or no structure can be fitted.
    pub fn choose(&self, series: &Series) -> Result<Choice, ForecastError> {
        let series = self.recent(series);
        if let Some(structure) = &self.structure {
            let fitted = better_fit(structure, &series, self.given_transform(&series))?;
            return Ok(Choice {
                fitted,
                candidates: Vec::new(),
            });
        }
        let mut fits = self.fits(&self.past_of(&series), self.given_transform(&series))?;
        fits.sort_by(|a, b| a.criterion().total_cmp(&b.criterion()));
        let finalists = fits.iter().take(FINALISTS);
        let past: Vec<_> = (finalists.map(|fit| self.past_forecasts(fit, &series))).collect();
        let score = |place: usize| mean_score(past.get(place)?);
        let scores: Vec<Option<f64>> = (0..fits.len()).map(score).collect();
        let best = best_of(&fits, &scores);
        let companion = self.companion(
            &series,
            past.get(best).map(Vec::as_slice).unwrap_or_default(),
        );
        let fitted = FittedSeries::new(
            fits[best].structure(),
            &series,
            fits[best].transform(),
            Some(&fits[best]),
        )?;
        let fitted = fitted.with_companion(companion);
        let candidates = fits.iter().zip(scores).map(|(fit, score)| Candidate {
            structure: fit.structure().clone(),
            criterion: fit.criterion(),
            score,
        });
        Ok(Choice {
            fitted,
            candidates: candidates.collect(),
        })
    }

    /// The seasons that are considered for a series: those that the values before the compared forecasts have twice.
    pub fn seasons_of(&self, series: &Series) -> Vec<Season> {
        let past = self.past_of(&self.recent(series));
        usable(&self.seasons, past.span())
    }

    /// The latest values, as many as fit into memory.
    pub(super) fn recent(&self, series: &Series) -> Series {
        let largest = Structure {
            trend: Trend::Slope,
            seasons: usable(&self.seasons, series.span()),
            has_memory: true,
        };
        let states = self.structure.as_ref().unwrap_or(&largest).states();
        let states = states + series.covariates().len() as f64;
        series.latest((MOST_ENTRIES / (states * states)) as usize)
    }

    /// The values before the compared forecasts, or all if too few would be left.
    fn past_of(&self, series: &Series) -> Series {
        let origins = self.origins(series);
        let past = origins.first().and_then(|&origin| series.until(origin));
        past.unwrap_or_else(|| series.clone())
    }

    /// The last times before the compared forecasts, in increasing order.
    fn origins(&self, series: &Series) -> Vec<f64> {
        let span = series.span();
        let longest = repeats_after(&self.seasons, span) as f64;
        let is_long_enough = |&origin: &f64| {
            let past = origin - series.times()[0] + 1.0;
            let is_known = series
                .until(origin)
                .is_some_and(|past| past.len() >= 2 * FEWEST_VALUES && !past.is_constant());
            is_known && past >= LEAST_PAST * span && past >= 2.0 * longest
        };
        let origins =
            (1..=WINDOWS).map(|window| series.last_time() - (window * self.horizon) as f64);
        let mut origins: Vec<f64> = origins.take_while(is_long_enough).collect();
        origins.reverse();
        origins
    }

    /// The transformation, unless the values decide it: a value that is not positive has no logarithm.
    fn given_transform(&self, series: &Series) -> Option<Transform> {
        let has_none = series.values().iter().any(|value| *value <= 0.0);
        self.transform.or(has_none.then_some(Transform::None))
    }

    /// The fits of all structures considered.
    fn fits(
        &self,
        past: &Series,
        transform: Option<Transform>,
    ) -> Result<Vec<FittedSeries>, ForecastError> {
        let seasons = usable(&self.seasons, past.span());
        let structure = |trend, seasons: &[Season], has_memory| Structure {
            trend,
            seasons: seasons.to_vec(),
            has_memory,
        };
        let first = structure(Trend::Slope, &seasons, false);
        let first = better_fit(&first, past, transform)?;
        let transform = first.transform();
        let fitted = |structure: &Structure| FittedSeries::new(structure, past, transform, None);
        let mut fits = vec![first];
        for subset in smaller_sets(&seasons) {
            fits.extend(fitted(&structure(Trend::Slope, &subset, false)).ok());
        }
        let best = fits
            .iter()
            .min_by(|a, b| a.criterion().total_cmp(&b.criterion()));
        let chosen = best.map_or_else(Vec::new, |best| best.structure().seasons.clone());
        for trend in Trend::ALL {
            for has_memory in [false, true] {
                if trend != Trend::Slope || has_memory {
                    // A structure that cannot be fitted is no candidate.
                    fits.extend(fitted(&structure(trend, &chosen, has_memory)).ok());
                }
            }
        }
        if !chosen.is_empty() {
            // With a smooth trend, a season that changes fast stands in for a random walk.
            fits.extend(fitted(&structure(Trend::Level, &[], false)).ok());
        }
        Ok(fits)
    }

    /// The compared forecasts, with the parameters of a fit to the past.
    fn past_forecasts(&self, fit: &FittedSeries, series: &Series) -> Vec<PastForecast> {
        let season = self.repeats_after(series);
        let of_origin = |&origin: &f64| {
            let known = series.until(origin)?;
            let future = series.between(origin, origin + self.horizon as f64)?;
            let forecast = fit
                .given(&known)
                .and_then(|fit| fit.forecast(future.times()));
            Some(PastForecast {
                scale: error_scale(&known, season),
                forecast: forecast.ok()?,
                known,
                future,
            })
        };
        self.origins(series).iter().filter_map(of_origin).collect()
    }

    /// The average that would have been clearly better in the compared forecasts: with exponential smoothing, or with
    /// the seasonal naive forecast if the season is too long for that. Few repetitions of such a season are known; of
    /// shorter ones, the seasonal naive forecast is worse by chance alone: among eleven series of months, quarters and
    /// days, it was taken for two and made both worse.
    fn companion(&self, series: &Series, past: &[PastForecast]) -> Option<Companion> {
        let season = self.repeats_after(series);
        let baseline = match season > LONGEST_SEASON {
            true => Baseline::SeasonalNaive,
            false => Baseline::Ets,
        };
        let mut least = mean_score(past)?;
        if !past.iter().all(|own| baseline.is_possible(&own.known)) {
            return None;
        }
        let simple = past.iter().map(|own| {
            let Forecast {
                times, transform, ..
            } = &own.forecast;
            baseline.forecast_transformed(&own.known, season, times, *transform)
        });
        let simple: Vec<Forecast> = simple.collect();
        let score = |companion: Companion| {
            let pairs = past.iter().zip(&simple).map(|(own, simple)| {
                let mut forecast = own.forecast.clone();
                companion.average_with(&mut forecast, simple);
                own.score(&forecast)
            });
            pairs.sum::<f64>() / past.len() as f64
        };
        let mut best = None;
        for share in Companion::SHARES {
            let companion = Companion {
                baseline,
                season,
                share,
            };
            let score = score(companion) * (1.0 + COMPANION_MARGIN);
            if score < least {
                (least, best) = (score, Some(companion));
            }
        }
        best
    }

    /// The forecasts of the baselines at times after a series.
    pub fn baselines(&self, series: &Series, times: &[f64]) -> Vec<(Baseline, Forecast)> {
        let season = self.repeats_after(series);
        let all = Baseline::all(series, season).into_iter();
        all.map(|baseline| (baseline, baseline.forecast(series, season, times)))
            .collect()
    }
}

/// The fit with the given transformation, or with the one that gives the values of a series the higher density.
fn better_fit(
    structure: &Structure,
    series: &Series,
    transform: Option<Transform>,
) -> Result<FittedSeries, ForecastError> {
    let fitted = |transform| FittedSeries::new(structure, series, transform, None);
    if let Some(transform) = transform {
        return fitted(transform);
    }
    let (plain, logarithmic) = (fitted(Transform::None)?, fitted(Transform::Log)?);
    Ok(match logarithmic.log_density() > plain.log_density() {
        true => logarithmic,
        false => plain,
    })
}

/// The sets of seasons that are compared with all of them: none, and each alone.
fn smaller_sets(seasons: &[Season]) -> Vec<Vec<Season>> {
    let mut sets = match seasons.is_empty() {
        true => vec![],
        false => vec![vec![]],
    };
    if seasons.len() > 1 {
        sets.extend(seasons.iter().map(|season| vec![season.clone()]));
    }
    sets
}

/// The fit with the best score; of those that are about as good, the one with the fewest parameters. Without scores, the
/// first.
fn best_of(fits: &[FittedSeries], scores: &[Option<f64>]) -> usize {
    let known: Vec<(usize, f64)> = (scores.iter().enumerate())
        .filter_map(|(place, score)| Some((place, score.filter(|score| score.is_finite())?)))
        .collect();
    let least = known
        .iter()
        .map(|(_, score)| *score)
        .fold(f64::INFINITY, f64::min);
    let close = known
        .into_iter()
        .filter(|(_, score)| *score <= least * (1.0 + TIE));
    let simplest = close.min_by_key(|(place, _)| fits[*place].trained_parameters());
    simplest.map_or(0, |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line with a season of four steps.
    fn value(step: f64) -> f64 {
        step + [5.0, 0.0, -5.0, 2.0][step as usize % 4]
    }

    /// Three forecasts of eight steps whose means are off by `errors`, of values at the given times.
    fn past(time: impl Fn(usize) -> f64, errors: f64) -> (Series, Vec<PastForecast>) {
        let times: Vec<f64> = (0..64).map(time).collect();
        let values: Vec<f64> = times.iter().map(|time| value(*time)).collect();
        let series = Series::new(&times, &values).unwrap();
        let of_origin = |origin: usize| {
            let known = series.until(times[origin]).unwrap();
            let future = (series.between(times[origin], times[origin + 8])).unwrap();
            let means = future.values().iter().map(|value| value + errors);
            PastForecast {
                scale: error_scale(&known, 4),
                forecast: Forecast {
                    times: future.times().to_vec(),
                    means: means.collect(),
                    deviations: vec![0.5; future.len()],
                    transform: Transform::None,
                },
                known,
                future,
            }
        };
        let all = [39, 47, 55].map(of_origin).into_iter().collect();
        (series, all)
    }

    fn companion(season: f64, (series, past): &(Series, Vec<PastForecast>)) -> Option<Companion> {
        let forecasting = Forecasting::new(8).with_seasons(vec![Season::of_steps(season)]);
        forecasting.companion(series, past)
    }

    /// Exponential smoothing, which knows a line with a season, replaces a model that does not, and is not the companion of
    /// one that is as good.
    #[test]
    fn companions_are_clearly_better_forecasts() {
        let regular = |step: usize| step as f64;
        let far = companion(4.0, &past(regular, 3.0));
        let expected = Companion {
            baseline: Baseline::Ets,
            season: 4,
            share: 1.0,
        };
        assert_eq!(far, Some(expected));
        // Nothing is better than no errors.
        let (series, mut exact) = past(regular, 0.0);
        for own in &mut exact {
            own.forecast.deviations.fill(0.0);
        }
        assert_eq!(companion(4.0, &(series, exact)), None);
        // Times between steps have no exponential smoothing.
        let uneven = |step: usize| step as f64 + 0.25 * (step % 2) as f64;
        assert_eq!(companion(4.0, &past(uneven, 3.0)), None);
        // There is no choice without forecasts of the past.
        let (series, _) = past(regular, 3.0);
        assert_eq!(companion(4.0, &(series, vec![])), None);
    }

    /// A season of more than 24 steps, which repeats twice, has the seasonal naive forecast as its companion.
    #[test]
    fn the_companion_of_long_seasons_is_the_value_one_season_before() {
        let found = companion(28.0, &past(|step| step as f64, -60.0));
        let expected = Companion {
            baseline: Baseline::SeasonalNaive,
            season: 28,
            share: 1.0,
        };
        assert_eq!(found, Some(expected));
    }
}
