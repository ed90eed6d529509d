//! The choice of a structure and a transformation for a series.

use super::{
    Baseline, Companion, FittedSeries, Forecast, ForecastError, ForecastScores, Season, Series,
    Structure, Transform, Trend,
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
/// An average with the seasonal naive forecast must be better by this share.
const COMPANION_MARGIN: f64 = 0.1;
/// It is considered for seasons of more steps than this, of which few repetitions are known. Shorter ones are learned
/// better than that: among eleven other series of months, quarters and days, it was taken for two and made both worse.
const SHORT_SEASON: usize = 24;
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
    fn score(&self, companion: Option<Companion>) -> f64 {
        let mut forecast = self.forecast.clone();
        if let Some(companion) = companion {
            companion.average(&mut forecast, &self.known);
        }
        ForecastScores::new(&forecast, self.future.values(), self.scale, &[]).crps
    }
}

/// The mean score of forecasts of the past; `None` if there are none.
fn mean_score(past: &[PastForecast], companion: Option<Companion>) -> Option<f64> {
    let sum: f64 = past.iter().map(|own| own.score(companion)).sum();
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
    /// smallest continuous ranked probability score wins; within 2 %, the fewest parameters. If the season has more than 24
    /// steps, and these forecasts are more than 10 % better when averaged with the seasonal naive forecast or replaced by
    /// it, the fit gets this [companion](Companion). A logarithm is taken if it gives positive values a higher density.
    /// Only the latest values count if the passes over all would take more than a gigabyte.
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
        let score = |place: usize| mean_score(past.get(place)?, None);
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

    /// The average with the seasonal naive forecast that would have been clearly better in the compared forecasts.
    fn companion(&self, series: &Series, past: &[PastForecast]) -> Option<Companion> {
        let season = self.repeats_after(series);
        let mut least = mean_score(past, None).filter(|_| season > SHORT_SEASON)?;
        let mut best = None;
        for share in Companion::SHARES {
            let companion = Some(Companion { season, share });
            let score = mean_score(past, companion)? * (1.0 + COMPANION_MARGIN);
            if score < least {
                (least, best) = (score, companion);
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
