//! The parts of a function whose kernel is a sum, each over its input.

use burn::tensor::{Tensor, TensorData};
use burn_gp_datasets::{Matrix, Standardizer};
use burn_gp_models::FunctionPart;

use super::RunPlots;
use crate::output;
use crate::plots::{self, CurveName, CurvePanel, PlotError, Quantity, Span};

/// The number of points of a curve.
const POINTS: usize = 200;
/// The most inputs whose parts are drawn.
const MOST_INPUTS: usize = 12;
/// Half of the width of a central interval of 95 %, in standard deviations.
const HALF_WIDTH: f64 = 1.96;

/// A part over the input that it depends on.
struct Curve {
    name: String,
    input: usize,
    points: Vec<[f64; 3]>,
}

impl RunPlots<'_> {
    /// Draws each part that depends on one input. `None` if the kernel is no sum, or no part does.
    pub(super) fn parts(&self) -> Option<Result<(), PlotError>> {
        let target = self.data.likelihood.target();
        let dimensions = self.data.dimensions();
        let is_number = target.is_any_number();
        if !is_number || dimensions > MOST_INPUTS || self.data.classes() > 0 {
            return None;
        }
        let curves = self.curves(self.grids(dimensions)?)?;
        if curves.is_empty() {
            return None;
        }
        Some(self.draw_parts(&curves))
    }

    /// Places along each input, in the units of the data.
    fn grids(&self, dimensions: usize) -> Option<Vec<Vec<f64>>> {
        let train = self.inputs(&self.data.train);
        let of_input = |input: usize| {
            let own = train.iter().skip(input).step_by(dimensions).copied();
            let mut grid = plots::evaluation_grid(own, POINTS).ok()?;
            grid.retain(|&place| self.data.standardizer.takes_input(input, place));
            Some(grid)
        };
        (0..dimensions).map(of_input).collect()
    }

    /// The parts over these places; all other inputs have the mean of the training rows, which does not matter to parts
    /// of one input.
    fn curves(&self, grids: Vec<Vec<f64>>) -> Option<Vec<Curve>> {
        let dimensions = grids.len();
        let train = self.inputs(&self.data.train);
        let rows = (train.len() / dimensions).max(1) as f64;
        let mean = |input: usize| train.iter().skip(input).step_by(dimensions).sum::<f64>() / rows;
        let means: Vec<f64> = (0..dimensions).map(mean).collect();
        let mut places = Vec::new();
        for (input, grid) in grids.iter().enumerate() {
            for &value in grid {
                let mut place = means.clone();
                place[input] = value;
                places.extend(place);
            }
        }
        let count = places.len() / dimensions;
        let standardizer = &self.data.standardizer;
        let places = standardizer.transform_inputs(&Matrix::new(count, dimensions, places));
        let (device, dtype) = self.model.options();
        let values = TensorData::new(places.into_values(), [count, dimensions]);
        let x = Tensor::<2>::from_data(values, (&device, dtype));
        let parts = self.model.parts(x)?.ok()?;
        // Parts add up before the transformation of the target is inverted.
        let scale = standardizer.target_scale;
        let names = self.names(parts.len());
        let curve = |(name, part): (String, FunctionPart)| {
            let &[input] = &part.inputs[..] else {
                return None;
            };
            let first: usize = grids[..input].iter().map(Vec::len).sum();
            let moments = part.means.iter().zip(&part.variances).skip(first);
            let points = grids[input].iter().zip(moments);
            let points =
                points.map(|(&x, (mean, variance))| [x, scale * mean, scale * variance.sqrt()]);
            Some(Curve {
                name,
                input,
                points: points.collect(),
            })
        };
        Some(names.into_iter().zip(parts).filter_map(curve).collect())
    }

    /// The terms of the kernel as text.
    fn names(&self, count: usize) -> Vec<String> {
        let text = self.options.kernel.as_ref().map(ToString::to_string);
        let terms = terms_of(&text.unwrap_or_default());
        match terms.len() == count {
            true => terms,
            false => (1..=count).map(|number| format!("part {number}")).collect(),
        }
    }

    fn draw_parts(&self, curves: &[Curve]) -> Result<(), PlotError> {
        let panel = |curve: &Curve| {
            let at = |width: f64| -> Vec<(f64, f64)> {
                let points = curve.points.iter();
                points
                    .map(|[x, mean, deviation]| (*x, mean + width * deviation))
                    .collect()
            };
            vec![at(0.0), at(-HALF_WIDTH), at(HALF_WIDTH)]
        };
        let value = transformed_name(&self.data.schema.target_name, &self.data.standardizer);
        let panels: Vec<CurvePanel<'_>> = (curves.iter())
            .map(|curve| CurvePanel {
                along: Some(self.input(curve.input)),
                value: Quantity::of(&value),
                ..CurvePanel::new(&curve.name, Span::Values, panel(curve))
            })
            .collect();
        let names = [
            CurveName::from("mean"),
            CurveName::dashed("lower end, 95 %"),
            CurveName::dashed("upper end, 95 %"),
        ];
        let path = self.path(output::PARTS);
        plots::curves(
            &path,
            "Parts",
            self.caption,
            &names,
            Quantity::of(""),
            &panels,
        )
    }
}

/// The name of the target with its transformation.
fn transformed_name(target: &str, standardizer: &Standardizer) -> String {
    match &standardizer.target_transform {
        Some(own) => format!("{target} after {}", own.transform),
        None => target.to_owned(),
    }
}

/// The terms of a sum of kernels in text: what stands between plus signs that are not in parentheses or brackets.
fn terms_of(text: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut depth = 0;
    for character in text.chars() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        match (character, depth, terms.last_mut()) {
            ('+', 0, _) => terms.push(String::new()),
            (_, _, Some(term)) => term.push(character),
            _ => {}
        }
    }
    terms.iter().map(|term| term.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_between_outer_plus_signs() {
        assert_eq!(
            terms_of("linear[1] + (rbf + cosine)*matern12[2]"),
            ["linear[1]", "(rbf + cosine)*matern12[2]"]
        );
        assert_eq!(terms_of("rbf"), ["rbf"]);
    }
}
