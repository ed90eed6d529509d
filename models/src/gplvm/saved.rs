//! Latent variable models in folders.

use std::{fs, path::Path};

use burn::{
    module::Param,
    tensor::{Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    features::Standardization,
    inducing::InducingPoints,
    latent_inputs::{BayesianGplvm, LatentInputs},
};
use serde::{Deserialize, Serialize};

use super::{FittedGplvm, GplvmConfig, fitted::Kept};
use crate::{
    CheckedFolder, Error, Precision, SavedModelError, WEIGHTS_FILE,
    caught::without_panic,
    record::converted_module,
    saved_model::{read_versioned, write_with_weights},
};

/// The name of the file that describes a saved latent variable model.
pub const GPLVM_FILE: &str = "latent_variables.json";

/// The content of [`GPLVM_FILE`].
#[derive(Serialize, Deserialize)]
struct Described {
    config: GplvmConfig,
    /// N
    rows: usize,
    /// M
    inducing_points: usize,
    /// The floating-point type of the parameters.
    precision: Precision,
    /// The scaling of P outputs.
    scaling: Standardization,
}

impl FittedGplvm {
    /// Saves the model to a folder, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        let folder = folder.as_ref();
        fs::create_dir_all(folder).map_err(|reason| SavedModelError::Write {
            path: folder.to_owned(),
            reason: reason.to_string(),
        })?;
        let [rows, _] = self.kept.model.latent().dims();
        let [inducing_points, _] = self.kept.model.inducing().points().dims();
        let described = Described {
            config: self.config.clone(),
            rows,
            inducing_points,
            precision: Precision::of(self.place().1),
            scaling: self.scaling.clone(),
        };
        Ok(write_with_weights(
            folder,
            GPLVM_FILE,
            &described,
            self.kept.clone(),
        )?)
    }

    /// Loads a model that [`save`](Self::save) wrote onto a device. `(&device, DType::F32)` also converts it to another
    /// floating-point type; by default, it keeps its own.
    ///
    /// # Errors
    ///
    /// When a file is missing, damaged or invalid, or a covariance matrix cannot be factored.
    pub fn load(
        folder: impl AsRef<Path>,
        place: impl Into<TensorCreationOptions>,
    ) -> Result<Self, Error> {
        let (folder, place) = (folder.as_ref(), place.into());
        let checked = CheckedFolder::open(folder).map_err(SavedModelError::from)?;
        let described: Described = read_versioned(&checked, folder, GPLVM_FILE)?;
        let read_error = |name: &str, reason: String| SavedModelError::Read {
            path: folder.join(name),
            reason,
        };
        let written = described.precision.dtype();
        let options = (&place.device.inner(), place.dtype.unwrap_or(written)).into();
        let skeleton = without_panic(|| described.skeleton(options))
            .flatten()
            .map_err(|reason| read_error(GPLVM_FILE, reason))?;
        let weights = checked.read(WEIGHTS_FILE).map_err(SavedModelError::from)?;
        let kept = converted_module(skeleton, weights, written)
            .map_err(|reason| read_error(WEIGHTS_FILE, reason.to_string()))?;
        Ok(Self::of_kept(described.config, kept, described.scaling)?)
    }
}

impl Described {
    /// A model of these shapes, whose values are then read from a record, or the reason why there is none.
    fn skeleton(&self, options: TensorCreationOptions) -> Result<Kept, String> {
        self.config.check().map_err(|reason| reason.to_string())?;
        let Standardization { means, deviations } = &self.scaling;
        let is_unit = |value: &f64| *value > 0.0 && value.is_finite();
        if self.rows == 0
            || self.inducing_points == 0
            || means.is_empty()
            || means.len() != deviations.len()
            || !deviations.iter().all(is_unit)
            || !means.iter().all(|mean| mean.is_finite())
        {
            return Err("its sizes or its scaling are impossible".to_owned());
        }
        let (rows, dimensions) = (self.rows, self.config.dimensions);
        let zeros = |rows, columns| Tensor::<2>::zeros([rows, columns], options.clone());
        let model = BayesianGplvm::new(
            self.config.kernel.init(dimensions, options.clone()),
            self.config.likelihood.init(options.clone()),
            InducingPoints::new(zeros(self.inducing_points, dimensions)),
            LatentInputs::new(zeros(rows, dimensions), &vec![1.0; rows * dimensions]),
            self.config.inducing.jitter_for(self.precision.dtype()),
        );
        Ok(Kept {
            model: model.map_err(|refusal| refusal.to_string())?,
            outputs: Param::from_tensor(zeros(rows, means.len())).set_require_grad(false),
        })
    }
}
