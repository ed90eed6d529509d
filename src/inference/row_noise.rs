//! Known noise variances of rows, besides the trained one.

use burn::tensor::Tensor;

/// Targets, `[N, P]`, with the known noise variances of their rows.
pub(super) struct NoisyRows {
    /// `[N, P]`
    pub targets: Tensor<2>,
    /// v, `[N]`; `None` if rows have no noise of their own.
    pub variances: Option<Tensor<1>>,
}

impl NoisyRows {
    /// Splits off the last column of the targets, `[N, P + 1]`, as noise variances if rows have their own.
    ///
    /// # Panics
    ///
    /// If there is no other column.
    #[track_caller]
    pub fn of(targets: Tensor<2>, has_row_noise: bool) -> Self {
        if !has_row_noise {
            return Self {
                targets,
                variances: None,
            };
        }
        let [rows, columns] = targets.dims();
        assert!(
            columns > 1,
            "row noise: targets of shape [{rows}, {columns}]; expected a column of noise variances after the targets"
        );
        let variances = targets.clone().narrow(1, columns - 1, 1);
        Self {
            targets: targets.narrow(1, 0, columns - 1),
            variances: Some(variances.squeeze_dim(1)),
        }
    }

    /// `σ² + v`, `[N]`; `None` if rows have no noise of their own.
    pub fn total(&self, noise: Tensor<1>) -> Option<Tensor<1>> {
        (self.variances.clone()).map(|variances| variances + noise)
    }
}

/// Rows of a low-rank regression with equal noise: rows with noise of their own are divided by its standard deviation,
/// `√(σ² + v_n)`, so that all have the noise one. Other rows stay as they are, with the noise σ².
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
            Some(total) => Self {
                scale: Some(total.sqrt().recip()),
                noise: noise.ones_like(),
            },
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

    /// The log density of P outputs from that of the divided rows, `[1]`: with `P·Σ_n log|∂r′_n/∂r_n|`.
    pub fn log_density(&self, divided: Tensor<1>, outputs: usize) -> Tensor<1> {
        match &self.scale {
            Some(scale) => divided + scale.clone().log().sum() * outputs as f64,
            None => divided,
        }
    }
}
