//! Observed rows, with weights and with known noise variances besides the trained one.

use std::f64::consts::PI;

use burn::tensor::{Int, Tensor};

use super::{
    LeaveOneOut,
    replicates::Replicates,
    row_values::{RowColumns, RowValues},
};

/// Observed rows of regression. Rows with equal inputs may be [merged](Self::merged) into one, unless they have weights.
pub(super) struct NoisyRows {
    /// `[N, D]`
    pub inputs: Tensor<2>,
    /// `[N, P]`; means of merged rows.
    pub targets: Tensor<2>,
    /// v, `[N]`; `None` if rows have no noise of their own.
    variances: Option<Tensor<1>>,
    /// w, `[N]`; `None` if all are one.
    weights: Option<Tensor<1>>,
    replicates: Option<Replicates>,
}

impl NoisyRows {
    /// Splits off the last columns of the targets.
    ///
    /// # Panics
    ///
    /// If there is no other column.
    #[track_caller]
    pub fn of(inputs: Tensor<2>, targets: Tensor<2>, columns: RowColumns) -> Self {
        let RowValues {
            targets,
            weights,
            noise,
        } = columns.split(targets);
        Self {
            inputs,
            targets,
            variances: noise,
            weights,
            replicates: None,
        }
    }

    /// What the [noise variances](Self::total) of the rows have besides σ², `[N]`; `None` if all have σ².
    pub fn besides(&self, noise: Tensor<1>) -> Option<Tensor<1>> {
        match &self.weights {
            Some(_) => self.total(noise.clone()).map(|total| total - noise),
            None => self.variances.clone(),
        }
    }

    /// One row for all that have equal inputs and equal noise, if that saves time.
    pub fn merged(self) -> Self {
        if self.weights.is_some() {
            return self;
        }
        let keys = match &self.variances {
            Some(own) => Tensor::cat(vec![self.inputs.clone(), own.clone().unsqueeze_dim(1)], 1),
            None => self.inputs.clone(),
        };
        let Some(replicates) = Replicates::among(&keys, &self.targets) else {
            return self;
        };
        Self {
            inputs: replicates.distinct(self.inputs),
            targets: replicates.means(),
            weights: None,
            variances: self.variances.map(|own| replicates.distinct(own)),
            replicates: Some(replicates),
        }
    }

    /// Whether some rows are merged.
    pub fn are_merged(&self) -> bool {
        self.replicates.is_some()
    }

    /// `σ² + v` of a row before it was weighted or merged with others, `[N]`, or `[1]` for all rows.
    pub fn of_one(&self, noise: Tensor<1>) -> Tensor<1> {
        match &self.variances {
            Some(variances) => variances.clone() + noise,
            None => noise,
        }
    }

    /// The noise variances of the rows, `σ² + v`, `[N]`, over their weights or the count of merged rows. `None` if all have
    /// σ².
    pub fn total(&self, noise: Tensor<1>) -> Option<Tensor<1>> {
        match (&self.replicates, &self.weights) {
            (Some(own), _) => Some(self.of_one(noise) / own.counts()),
            (None, Some(weights)) => Some(self.of_one(noise) / weights.clone()),
            (None, None) => (self.variances.as_ref()).map(|variances| variances.clone() + noise),
        }
    }

    /// Variances that each row has by itself, `[N]`, over its weight.
    pub fn over_weights(&self, variances: Tensor<1>) -> Tensor<1> {
        self.over_weights_from(0, variances)
    }

    /// The same for some rows from `first` on.
    pub fn over_weights_from(&self, first: usize, variances: Tensor<1>) -> Tensor<1> {
        let [count] = variances.dims();
        match &self.weights {
            Some(weights) => variances / weights.clone().narrow(0, first, count),
            None => variances,
        }
    }

    /// The log density of all rows from that of these, `[1]`.
    pub fn log_density(&self, density: Tensor<1>, noise: Tensor<1>) -> Tensor<1> {
        match &self.replicates {
            Some(own) => density + own.log_density(self.of_one(noise)),
            None => match self.weighting(self.of_one(noise)) {
                Some(own) => density + own.sum(),
                None => density,
            },
        }
    }

    /// `P·½[(1 − w)·log 2πd − log w]`, `[N]`: what the log density of rows with these weights and the variances d, `[N]` or
    /// `[1]`, has besides that of rows with the variances d/w. `None` without weights.
    pub fn weighting(&self, variances: Tensor<1>) -> Option<Tensor<1>> {
        let weights = self.weights.clone()?;
        let [_, outputs] = self.targets.dims();
        let log_noise = (variances * (2.0 * PI)).log();
        let each = (weights.clone().neg() + 1.0) * log_noise - weights.log();
        Some(each * (0.5 * outputs as f64))
    }

    /// `L⁻¹` of all rows, `[n, N]`, from that of these, `[n, n]`: with these columns, covariances with new points are those
    /// of all rows.
    pub fn columns(&self, inverse: Tensor<2>) -> Tensor<2> {
        match &self.replicates {
            Some(own) => {
                let shares = inverse.transpose() / own.counts().unsqueeze_dim(1);
                own.repeated(shares).transpose()
            }
            None => inverse,
        }
    }

    /// `α = C⁻¹r` of all rows, `[N, P]`, from that of these.
    pub fn weights(&self, weights: Tensor<2>, noise: Tensor<1>) -> Tensor<2> {
        match &self.replicates {
            Some(own) => own.weights(weights, self.of_one(noise)),
            None => weights,
        }
    }

    /// `diag(C⁻¹)` of all rows, `[N]`, from that of these.
    pub fn precision(&self, precision: Tensor<1>, noise: Tensor<1>) -> Tensor<1> {
        match &self.replicates {
            Some(own) => own.precision(precision, self.of_one(noise)),
            None => precision,
        }
    }

    /// What the block of `C⁻¹` of some of all rows, `[m]`, has besides `JᵀJ` with their [columns](Self::columns) J,
    /// `[m, m]`.
    pub fn within(&self, rows: Tensor<1, Int>, noise: Tensor<1>) -> Option<Tensor<2>> {
        let own = self.replicates.as_ref()?;
        Some(own.within(rows, self.of_one(noise)))
    }

    /// The targets of all rows, `[N, P]`.
    pub fn all_targets(&self) -> Tensor<2> {
        match &self.replicates {
            Some(own) => own.targets(),
            None => self.targets.clone(),
        }
    }

    /// The prediction of each target of all rows from the others: from `α = C⁻¹r`, `[N, P]`, `diag(C⁻¹)`, `[N]`, and
    /// variances that the other rows do not reduce, `[N]`, of these rows.
    pub fn leave_one_out(
        &self,
        weights: Tensor<2>,
        precision: Tensor<1>,
        unexplained: Option<Tensor<1>>,
        noise: Tensor<1>,
    ) -> LeaveOneOut {
        let unexplained = match (&self.replicates, &self.weights) {
            (Some(own), _) => unexplained.map(|variances| own.repeated(variances)),
            (None, Some(own)) => {
                // 1/diag(C⁻¹) has the noise d/w of the row, a new target has d.
                let more = self.of_one(noise.clone()) * (own.clone().recip().neg() + 1.0);
                Some(match unexplained {
                    Some(variances) => variances + more,
                    None => more,
                })
            }
            (None, None) => unexplained,
        };
        LeaveOneOut::new(
            self.all_targets(),
            self.weights(weights, noise.clone()),
            self.precision(precision, noise),
            unexplained,
        )
    }
}

/// Rows of a low-rank regression with equal noise: rows with noise of their own are divided by its standard deviation,
/// `√(σ² + v_n)`, so that all have the noise one. Other rows stay as they are, with the noise σ².
#[derive(Clone, Debug)]
pub(super) struct EqualNoise {
    /// `1/√(σ² + v)`, `[N]`, if rows are divided.
    scale: Option<Tensor<1>>,
    /// The noise variance of the rows after that, `[1]`.
    pub noise: Tensor<1>,
}

impl EqualNoise {
    /// From the rows and the trained noise variance σ², `[1]`.
    pub fn new(rows: &NoisyRows, noise: Tensor<1>) -> Self {
        match rows.total(noise.clone()) {
            None => Self { scale: None, noise },
            Some(total) => Self::of_rows(total),
        }
    }

    /// From the noise variance of each row, `[N]`, or that of all, `[1]`.
    pub fn of(noise: Tensor<1>) -> Self {
        match noise.dims() {
            [1] => Self { scale: None, noise },
            _ => Self::of_rows(noise),
        }
    }

    /// From the noise variance of each row, `[N]`.
    fn of_rows(noise: Tensor<1>) -> Self {
        Self {
            noise: noise.ones_like().narrow(0, 0, 1),
            scale: Some(noise.sqrt().recip()),
        }
    }

    /// Those of `length` rows from the row `start` on.
    pub fn block(&self, start: usize, length: usize) -> Self {
        let scale = self.scale.as_ref();
        Self {
            scale: scale.map(|scale| scale.clone().narrow(0, start, length)),
            noise: self.noise.clone(),
        }
    }

    /// The features of the rows, `[M, N]`.
    pub fn features(&self, features: Tensor<2>) -> Tensor<2> {
        match &self.scale {
            Some(scale) => features * scale.clone().unsqueeze_dim(0),
            None => features,
        }
    }

    /// The residuals of the rows, `[N, P]`.
    pub fn residual(&self, residual: Tensor<2>) -> Tensor<2> {
        match &self.scale {
            Some(scale) => residual * scale.clone().unsqueeze_dim(1),
            None => residual,
        }
    }

    /// Variances of the rows, `[N]`.
    pub fn variances(&self, variances: Tensor<1>) -> Tensor<1> {
        match &self.scale {
            Some(scale) => variances * scale.clone().square(),
            None => variances,
        }
    }

    /// Values of the rows from those of the divided rows, `[N, P]`.
    pub fn undivided(&self, values: Tensor<2>) -> Tensor<2> {
        match &self.scale {
            Some(scale) => values / scale.clone().unsqueeze_dim(1),
            None => values,
        }
    }

    /// The log density of P outputs from that of the divided rows, `[1]`: with `P·Σ_n log|∂r′_n/∂r_n|`.
    pub fn log_density(&self, divided: Tensor<1>, outputs: usize) -> Tensor<1> {
        match &self.scale {
            Some(scale) => divided + scale.clone().log().sum() * outputs as f64,
            None => divided,
        }
    }
}
