//! The plots of image models.

use burn_gp_core::{layers::AnyLayer, parameter::numbers, patches::ImageShape};
use burn_gp_models::DeepGp;

use super::RunPlots;
use crate::output;
use crate::plots::{self, ImageRows, PatchSet, PlotError};

/// The approximate number of rows of maps on a sheet, which is images times layers.
const ROWS_OF_MAPS: usize = 8;

impl RunPlots<'_> {
    /// Draws the plots that apply to the model.
    pub(super) fn of_images(&self) -> Vec<Result<(), PlotError>> {
        let mut attempts = Vec::new();
        if let Some(model) = self.model.downcast_ref::<DeepGp>() {
            let layers = model.layers();
            let first = layers.hidden().first().unwrap_or(layers.output());
            attempts.extend(self.patches(first));
            attempts.extend(self.maps(layers.hidden()));
        }
        attempts
    }

    /// Draws the feature maps; `None` if the layers have none.
    fn maps(&self, hidden: &[AnyLayer]) -> Option<Result<(), PlotError>> {
        let process = self.predictor.process();
        let shape = hidden.first()?.grid()?.image();
        let (rows, names) = self.examples((ROWS_OF_MAPS / hidden.len()).max(1));
        let images = self.data.test.inputs.select(&rows);
        let inputs = self.predictor.inputs(images.values(), images.columns());
        let means: Vec<Vec<f64>> = (process.layer_means(inputs).into_iter().take(hidden.len()))
            .map(numbers)
            .collect();
        let maps: Option<Vec<ImageRows<'_>>> = (hidden.iter().zip(&means))
            .map(|(layer, means)| {
                let grid = layer.grid()?;
                Some(of_shape(
                    grid.map(means.len() / rows.len() / grid.count()),
                    means,
                ))
            })
            .collect();
        let path = self.path(output::MAPS);
        let images = of_shape(shape, images.values());
        Some(plots::feature_maps(
            &path,
            &names,
            images,
            &maps?,
            self.caption,
        ))
    }

    /// Draws the inducing patches; `None` if the layer has no patches.
    fn patches(&self, layer: &AnyLayer) -> Option<Result<(), PlotError>> {
        let grid = layer.grid()?;
        let sets: Vec<Vec<f64>> = layer.inducing_inputs().into_iter().map(numbers).collect();
        let names = ["inducing patches", "orthogonal inducing patches"];
        let sets: Vec<PatchSet<'_>> = (names.iter().zip(&sets))
            .map(|(name, values)| PatchSet { name, values })
            .collect();
        let path = self.path(output::PATCHES);
        let shape = (grid.size(), grid.image().channels);
        Some(plots::inducing_patches(&path, &sets, shape, self.caption))
    }

    /// At most `count` test rows with their names; with classes, the first row of each class.
    fn examples(&self, count: usize) -> (Vec<usize>, Vec<String>) {
        let test = &self.data.test;
        let numbered = |row: usize| (row, format!("row {}", test.rows[row]));
        match &self.data.schema.classes {
            None => (0..test.len().min(count)).map(numbered).unzip(),
            Some(classes) => {
                let first = |class: usize| {
                    let row = (test.observed.iter()).position(|&label| label == class as f64)?;
                    Some((row, classes.names()[class].clone()))
                };
                (0..classes.count()).filter_map(first).take(count).unzip()
            }
        }
    }
}

fn of_shape(shape: ImageShape, values: &[f64]) -> ImageRows<'_> {
    ImageRows {
        height: shape.height,
        width: shape.width,
        channels: shape.channels,
        values,
    }
}
