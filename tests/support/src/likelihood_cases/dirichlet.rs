//! The case of classes that are trained by regression.

use burn_gp_core::likelihoods::DirichletConfig;

use super::{Case, indicators, log_normal, softmax};

const CONCENTRATION: f64 = 0.02;

/// `Σ_c log N(ỹ_c; f_c, s_c²)`, as GPyTorch's `DirichletClassificationLikelihood` makes pseudo-targets.
fn pseudo_density(y: &[f64], f: &[f64]) -> f64 {
    let densities = f.iter().enumerate().map(|(class, f)| {
        let is_own = f64::from(u8::from(y[0] == class as f64));
        let alpha = CONCENTRATION + is_own;
        let noise = (1.0 / alpha + 1.0).ln();
        log_normal(alpha.ln() - 0.5 * noise - f, noise)
    });
    densities.sum()
}

pub fn dirichlet() -> Case {
    Case {
        name: "dirichlet",
        config: DirichletConfig {
            classes: 3,
            concentration: CONCENTRATION,
        }
        .into(),
        targets: vec![0.0, 2.0, 1.0, 1.0, 2.0],
        impossible: vec![(0, -1.0), (0, 0.5), (0, 3.0)],
        latents: 3,
        log_density: |y, f| softmax(f)[y[0] as usize].ln(),
        moments: |f| indicators(&softmax(f)),
        quadrature_error: 1e-4,
    }
}

impl Case {
    /// The log density of a row whose expectation is part of the bound: that of the targets, or of pseudo-targets.
    pub fn trained_density(&self, y: &[f64], f: &[f64]) -> f64 {
        match self.name {
            "dirichlet" => pseudo_density(y, f),
            _ => (self.log_density)(y, f),
        }
    }
}
