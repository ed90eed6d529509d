//! Simple predictions of the test rows, which a model should beat.

use std::collections::BTreeMap;

use burn_gp_core::neighbors::{Coordinates, NeighborTree, Scale};
use burn_gp_datasets::{Matrix, counted};
use faer::{Mat, Side, linalg::solvers::Solve};

use crate::diagnostics::FEWEST_TEST_ROWS;
use crate::evaluation::InOriginalUnits;
use crate::preparation::{Part, PreparedData};
use crate::scores::{ERROR, RMSE, four_decimals};

/// The scores of baselines in `metrics.json`: by the name of the baseline, then by the name of the score.
pub type Baselines = BTreeMap<String, BTreeMap<String, f64>>;

/// The number of neighbors of a prediction.
const NEIGHBORS: usize = 30;
/// Up to this many dimensions, few of the training rows are compared with a test row.
const FEW_DIMENSIONS: usize = 8;
/// The most work of a baseline, in multiplications: a second or two. A baseline that would take more is left out.
const MOST_WORK: f64 = 3e9;
/// The ridge penalty of linear regression, relative to the mean square of the inputs.
const RIDGE: f64 = 1e-8;
/// A baseline is better than a model if its mean loss is smaller by more than this share, …
const SHARE: f64 = 0.02;
/// … and by more than this many standard errors of the difference.
const STANDARD_ERRORS: f64 = 2.0;

/// A simple predictor with its loss on every test row.
struct Baseline {
    name: &'static str,
    /// Squared errors in the units of the data, or one for a wrong label and zero for a right one.
    losses: Vec<f64>,
}

/// Baselines of the test rows, and warnings about those that predict them better than the model.
///
/// | targets | baselines | score |
/// |---|---|---|
/// | numbers | the mean of the training targets; linear regression; the mean of the 30 nearest neighbors, weighted by inverse distance in standardized inputs | RMSE |
/// | labels | the most frequent class; the class with the largest weight among the 30 nearest neighbors | share of wrong labels |
///
/// Few test rows have no warnings. There are no baselines without test rows, if the training rows are not all in memory or
/// if targets are intervals.
pub fn baselines(data: &PreparedData, predicted: &InOriginalUnits) -> (Baselines, Vec<String>) {
    let (train, test) = (&data.train, &data.test);
    let are_in_memory = !train.is_empty() && train.len() == data.training_rows();
    if test.is_empty() || !are_in_memory || train.intervals.is_some() {
        return (Baselines::new(), Vec::new());
    }
    let classes = data.schema.classes.as_ref().map(|classes| classes.count());
    let (found, own) = match classes {
        None => (of_numbers(train, test), squares(&predicted.mean, test)),
        Some(classes) => {
            let labels = most_probable(&predicted.probabilities, classes);
            (of_labels(train, test, classes), wrong(&labels, test))
        }
    };
    let score = match classes {
        None => RMSE,
        Some(_) => ERROR,
    };
    let scale = data.standardizer.data_scale();
    let scored = |baseline: &Baseline| {
        let loss = mean(&baseline.losses);
        let scores: BTreeMap<String, f64> = match classes {
            None => [
                (RMSE.to_owned(), loss.sqrt() / scale),
                (format!("{RMSE}_original"), loss.sqrt()),
            ]
            .into(),
            Some(_) => [(ERROR.to_owned(), loss)].into(),
        };
        (baseline.name.to_owned(), scores)
    };
    let warnings = found
        .iter()
        .filter(|baseline| baseline.name != MEAN && baseline.name != MOST_FREQUENT)
        .filter(|baseline| own.len() >= FEWEST_TEST_ROWS && is_better(&baseline.losses, &own))
        .map(|baseline| warning(baseline, &own, score, NEIGHBORS.min(train.len())));
    (found.iter().map(scored).collect(), warnings.collect())
}

const MEAN: &str = "mean";
const LINEAR: &str = "linear_regression";
const NEAREST: &str = "nearest_neighbors";
const MOST_FREQUENT: &str = "most_frequent_class";

/// The scores of all baselines as text, in the units of the target. `None` if there are none.
pub fn baselines_text(baselines: &Baselines, target: &str) -> Option<String> {
    let of_each = |score: &str, text: fn(f64) -> String| -> Vec<String> {
        let scored = (baselines.iter()).filter_map(|(name, scores)| {
            let value = scores.get(score)?;
            Some(format!("{} {}", name.replace('_', " "), text(*value)))
        });
        scored.collect()
    };
    let errors = of_each(ERROR, |error| format!("{:.2} %", 100.0 * error));
    let rmse = of_each(&format!("{RMSE}_original"), four_decimals);
    match (errors.is_empty(), rmse.is_empty()) {
        (false, _) => Some(format!("error of {}", errors.join(", "))),
        (true, false) => Some(format!(
            "RMSE of {}   (in the units of {target})",
            rmse.join(", ")
        )),
        (true, true) => None,
    }
}

fn warning(baseline: &Baseline, own: &[f64], score: &str, neighbors: usize) -> String {
    let (theirs, ours) = (mean(&baseline.losses), mean(own));
    let scores = match score {
        RMSE => {
            let [theirs, ours] = [theirs, ours].map(|loss| four_decimals(loss.sqrt()));
            format!("RMSE {theirs} versus {ours}")
        }
        _ => format!("error {:.2} % versus {:.2} %", 100.0 * theirs, 100.0 * ours),
    };
    let what = match baseline.name {
        LINEAR => "linear regression predicts".to_owned(),
        _ if neighbors == 1 => "the nearest neighbor predicts".to_owned(),
        _ => format!("the {neighbors} nearest neighbors predict"),
    };
    format!(
        "{what} the {} better than the model: {scores}",
        counted(own.len(), "test row")
    )
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Whether losses are smaller than those of the model on the same rows, by more than chance.
fn is_better(losses: &[f64], own: &[f64]) -> bool {
    let gains: Vec<f64> = (own.iter().zip(losses))
        .map(|(own, loss)| own - loss)
        .collect();
    let gain = mean(&gains);
    let variance: f64 = gains.iter().map(|each| (each - gain).powi(2)).sum::<f64>();
    let standard_error = variance.sqrt() / gains.len() as f64;
    gain > SHARE * mean(own) && gain > STANDARD_ERRORS * standard_error
}

fn squares(predicted: &[f64], test: &Part) -> Vec<f64> {
    (predicted.iter().zip(&test.observed))
        .map(|(mean, target)| (mean - target).powi(2))
        .collect()
}

fn wrong(labels: &[f64], test: &Part) -> Vec<f64> {
    (labels.iter().zip(&test.observed))
        .map(|(label, target)| f64::from(u8::from(label != target)))
        .collect()
}

/// The number of the largest of each `classes` values.
fn most_probable(probabilities: &[f64], classes: usize) -> Vec<f64> {
    let largest = |row: &[f64]| {
        let numbered = row.iter().enumerate();
        let best = numbered.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
        best.map_or(0.0, |(class, _)| class as f64)
    };
    probabilities.chunks_exact(classes).map(largest).collect()
}

fn of_numbers(train: &Part, test: &Part) -> Vec<Baseline> {
    let constant = vec![mean(&train.observed); test.len()];
    let linear = linear_regression(&train.inputs, &train.observed, &test.inputs);
    let nearest = neighbors(&train.inputs, &test.inputs).map(|all| {
        let average = |near: &Vec<(usize, f64)>| {
            let total: f64 = near.iter().map(|(_, weight)| weight).sum();
            let sum: f64 = (near.iter())
                .map(|(row, weight)| weight * train.observed[*row])
                .sum();
            sum / total
        };
        all.iter().map(average).collect::<Vec<f64>>()
    });
    let found = [(MEAN, Some(constant)), (LINEAR, linear), (NEAREST, nearest)];
    let each = found.into_iter().filter_map(|(name, predicted)| {
        let losses = squares(&predicted?, test);
        Some(Baseline { name, losses })
    });
    each.collect()
}

fn of_labels(train: &Part, test: &Part, classes: usize) -> Vec<Baseline> {
    let mut counts = vec![0.0; classes];
    for &label in &train.observed {
        counts[label as usize] += 1.0;
    }
    let constant = most_probable(&counts, classes).repeat(test.len());
    let nearest = neighbors(&train.inputs, &test.inputs).map(|all| {
        let votes = all.iter().flat_map(|near| {
            let mut votes = vec![0.0; classes];
            for &(row, weight) in near {
                votes[train.observed[row] as usize] += weight;
            }
            votes
        });
        most_probable(&votes.collect::<Vec<f64>>(), classes)
    });
    let found = [(MOST_FREQUENT, Some(constant)), (NEAREST, nearest)];
    let each = found.into_iter().filter_map(|(name, predicted)| {
        let losses = wrong(&predicted?, test);
        Some(Baseline { name, losses })
    });
    each.collect()
}

/// `x*ᵀβ` with `β = (XᵀX + λI)⁻¹Xᵀy`, where the inputs X have a column of ones. The penalty λ only makes the
/// solution unique.
fn linear_regression(train: &Matrix, targets: &[f64], test: &Matrix) -> Option<Vec<f64>> {
    let columns = train.columns() + 1;
    if (train.rows() * columns * columns) as f64 > MOST_WORK {
        return None;
    }
    let with_one = |inputs: &Matrix| {
        Mat::from_fn(inputs.rows(), columns, |row, column| {
            match column < inputs.columns() {
                true => inputs.values()[row * inputs.columns() + column],
                false => 1.0,
            }
        })
    };
    let center = mean(targets);
    let x = with_one(train);
    let y = Mat::from_fn(targets.len(), 1, |row, _| targets[row] - center);
    let mut normal = x.transpose() * &x; // XᵀX
    let trace: f64 = (0..columns).map(|column| normal[(column, column)]).sum();
    for column in 0..columns {
        normal[(column, column)] += RIDGE * trace / columns as f64;
    }
    let coefficients = normal.llt(Side::Lower).ok()?.solve(x.transpose() * y);
    let predicted = with_one(test) * coefficients;
    Some(
        (0..test.rows())
            .map(|row| predicted[(row, 0)] + center)
            .collect(),
    )
}

/// For each test row the nearest training rows with their weights, the inverse distances. Rows at the same place
/// share all of the weight.
fn neighbors(train: &Matrix, test: &Matrix) -> Option<Vec<Vec<(usize, f64)>>> {
    let dimensions = train.columns();
    let work = train.rows() as f64 * test.rows() as f64 * dimensions as f64;
    if dimensions > FEW_DIMENSIONS && work > MOST_WORK {
        return None;
    }
    let coordinates = |inputs: &Matrix| Coordinates::new(inputs.values().to_vec(), dimensions).ok();
    let (train, test) = (coordinates(train)?, coordinates(test)?);
    let sets = NeighborTree::new(&train).nearest(&test, &[Scale::nearest(NEIGHBORS)]);
    let weighted = |(place, near): (usize, &[u32])| -> Vec<(usize, f64)> {
        let distance = |row: usize| {
            let pairs = train.row(row).iter().zip(test.row(place));
            pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let near: Vec<(usize, f64)> = (near.iter())
            .map(|&row| (row as usize, distance(row as usize)))
            .collect();
        let is_same = near.iter().any(|(_, distance)| *distance == 0.0);
        let weight = |distance: f64| match (is_same, distance == 0.0) {
            (true, same) => f64::from(u8::from(same)),
            (false, _) => distance.recip(),
        };
        near.into_iter()
            .map(|(row, distance)| (row, weight(distance)))
            .collect()
    };
    Some(sets.iter().enumerate().map(weighted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of inputs that no small whole-number pattern repeats.
    fn inputs(rows: usize, columns: usize) -> Matrix {
        let value = |place: usize| ((place * place + 3 * place) % 101) as f64 / 50.0 - 1.0;
        Matrix::new(rows, columns, (0..rows * columns).map(value).collect())
    }

    fn linear(inputs: &Matrix) -> Vec<f64> {
        let rows = inputs.values().chunks_exact(inputs.columns());
        rows.map(|row| 3.0 * row[0] - 2.0 * row[1] + 5.0).collect()
    }

    #[test]
    fn linear_functions_are_found() {
        let (train, test) = (inputs(50, 2), inputs(7, 2));
        let predicted = linear_regression(&train, &linear(&train), &test).expect("little work");
        for (found, expected) in predicted.iter().zip(linear(&test)) {
            // The relative penalty of 1e-8 moves coefficients by about as much.
            assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
        }
    }

    #[test]
    fn more_columns_than_rows_have_finite_predictions() {
        let (train, test) = (inputs(5, 9), inputs(4, 9));
        let predicted = linear_regression(&train, &[1.0, 2.0, 0.0, 1.0, 5.0], &test);
        let predicted = predicted.expect("little work");
        assert!(
            predicted.iter().all(|value| value.is_finite()),
            "{predicted:?}"
        );
    }

    #[test]
    fn warnings_count_the_neighbors_that_there_are() {
        let baseline = Baseline {
            name: NEAREST,
            losses: vec![1.0; 4],
        };
        let text = |neighbors| warning(&baseline, &[4.0; 4], RMSE, neighbors);
        let scores = "predict the 4 test rows better than the model: RMSE 1.0000 versus 2.0000";
        assert_eq!(text(12), format!("the 12 nearest neighbors {scores}"));
        assert_eq!(
            text(1),
            format!(
                "the nearest neighbor {}",
                scores.replace("predict", "predicts")
            )
        );
    }

    #[test]
    fn too_much_work_is_left_out() {
        let wide = inputs(1, 60_000);
        assert_eq!(linear_regression(&wide, &[1.0], &wide), None);
    }

    #[test]
    fn rows_at_the_same_place_have_all_of_the_weight() {
        let train = Matrix::new(4, 1, vec![0.0, 1.0, 1.0, 4.0]);
        let test = Matrix::new(2, 1, vec![1.0, 2.0]);
        let all = neighbors(&train, &test).expect("little work");
        let weights = |near: &[(usize, f64)]| {
            let mut weights = vec![0.0; 4];
            near.iter().for_each(|&(row, weight)| weights[row] = weight);
            weights
        };
        assert_eq!(weights(&all[0]), [0.0, 1.0, 1.0, 0.0]);
        assert_eq!(weights(&all[1]), [0.5, 1.0, 1.0, 0.5]);
    }

    #[test]
    fn chance_is_not_better() {
        let own: Vec<f64> = (0..40).map(|row| f64::from(row % 7)).collect();
        let halved: Vec<f64> = own.iter().map(|loss| 0.5 * loss).collect();
        assert!(is_better(&halved, &own));
        assert!(!is_better(&own, &halved));
        // One row of 40 decides: the gain is one standard error.
        let mut lucky = own.clone();
        lucky[6] = -40.0;
        assert!(!is_better(&lucky, &own));
        // A gain on every row, but by one percent.
        let similar: Vec<f64> = own.iter().map(|loss| 0.99 * loss).collect();
        assert!(!is_better(&similar, &own));
    }
}
