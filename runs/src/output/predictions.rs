//! Predictions as text.

use burn_gp_core::{likelihoods::Interval, metrics::likeliest_classes};
use burn_gp_datasets::Classes;

use crate::evaluation::InOriginalUnits;

/// A CSV field, with quotes if necessary.
fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Formats class predictions: `row,[y,]label,` and the probability of each class. `rows` are the
/// row numbers, and the label is the most likely one.
pub fn class_table(
    rows: impl Iterator<Item = usize>,
    predictions: &InOriginalUnits,
    classes: &Classes,
) -> String {
    let known = !predictions.observed.is_empty();
    let mut text = String::from(if known { "row,y,label" } else { "row,label" });
    for name in classes.names() {
        text += &format!(",{}", field(&format!("probability of {name}")));
    }
    text.push('\n');
    let name = |class: usize| field(&classes.names()[class]);
    let count = classes.count();
    let likeliest = likeliest_classes(&predictions.probabilities, count);
    let each = likeliest
        .iter()
        .zip(predictions.probabilities.chunks_exact(count));
    for (index, (row, (&(label, _), probabilities))) in rows.zip(each).enumerate() {
        text += &row.to_string();
        if known {
            text += &format!(",{}", name(predictions.observed[index] as usize));
        }
        text += &format!(",{}", name(label));
        for probability in probabilities {
            text += &format!(",{probability}");
        }
        text.push('\n');
    }
    text
}

/// Formats predictions: `row,[y,]mean,std,lower,upper[,level]`. `rows` are the row numbers, `lower`
/// and `upper` the ends of the central interval, and `level`, for known targets, the smallest level
/// of an interval that contains the target.
pub fn prediction_table(
    rows: impl Iterator<Item = usize>,
    predictions: &InOriginalUnits,
) -> String {
    let known = !predictions.observed.is_empty();
    let mut text = String::from(if known {
        "row,y,mean,std,lower,upper,level\n"
    } else {
        "row,mean,std,lower,upper\n"
    });
    let Interval { lower, upper } = &predictions.interval;
    let moments = predictions.mean.iter().zip(&predictions.standard_deviation);
    let each = moments.zip(lower.iter().zip(upper));
    for (index, (row, ((mean, deviation), (lower, upper)))) in rows.zip(each).enumerate() {
        text += &row.to_string();
        if known {
            text += &format!(",{}", predictions.observed[index]);
        }
        text += &format!(",{mean},{deviation},{lower},{upper}");
        if known {
            text += &format!(",{}", predictions.central_level[index]);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_are_quoted() {
        let classes = Classes::new(["a, b".to_owned(), "c".to_owned()]);
        let predictions = InOriginalUnits {
            observed: vec![1.0, 0.0],
            probabilities: vec![0.25, 0.75, 0.5, 0.5],
            ..InOriginalUnits::default()
        };
        assert_eq!(
            class_table([3, 7].into_iter(), &predictions, &classes),
            "row,y,label,\"probability of a, b\",probability of c\n3,c,c,0.25,0.75\n7,\"a, b\",\"a, b\",0.5,0.5\n"
        );
    }
    #[test]
    fn levels_are_of_known_targets() {
        let predictions = InOriginalUnits {
            mean: vec![1.5],
            standard_deviation: vec![0.5],
            interval: Interval {
                lower: vec![1.0],
                upper: vec![3.0],
            },
            ..InOriginalUnits::default()
        };
        assert_eq!(
            prediction_table(0.., &predictions),
            "row,mean,std,lower,upper\n0,1.5,0.5,1,3\n"
        );
        let known = InOriginalUnits {
            observed: vec![2.0],
            central_level: vec![0.25],
            ..predictions
        };
        assert_eq!(
            prediction_table([7].into_iter(), &known),
            "row,y,mean,std,lower,upper,level\n7,2,1.5,0.5,1,3,0.25\n"
        );
    }
}
