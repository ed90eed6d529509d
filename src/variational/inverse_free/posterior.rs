//! The bound of an inverse-free posterior, and the process it defines.

use burn::{module::Module, tensor::Tensor};

use super::{
    super::{Evaluation, MeanForm, Posterior},
    AuxiliaryUpdate, InverseFree, InverseFreeProcess, Relaxation,
};
use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::NotPositiveDefinite,
    optim::StoppingRule,
    process::{
        Marginals, SamplePaths, nonnegative, of_each, prior_variances, product_of_each,
        right_hand_sides,
    },
};

impl InverseFree {
    /// Whether the mean is `K_uu·P_R·m̃`.
    fn is_preconditioned(&self) -> bool {
        self.observations.form() == MeanForm::Preconditioned
    }

    /// The random vectors of this step, `[B, M, K]`, with the type and device of `kuu`, if the traces are
    /// estimated.
    fn probes_of_step(&self, kuu: &Tensor<3>) -> Option<Tensor<3>> {
        let [batch, size, _] = kuu.dims();
        let probes = self
            .probes
            .filter(|probes| (1..=size).contains(&probes.count))?;
        let shape = [batch, size, probes.count];
        Some(probes.of_step(self.updates_made(), shape, kuu))
    }
}

impl Posterior for InverseFree {
    fn evaluate(&self, prior: &Kernels, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let (mean, variances) = (self.observations.mean(), self.observations.variances());
        let ([outputs, size], [rows, _]) = (mean.dims(), x.dims());
        let kuu = self.inducing.kuu(prior); // [B, M, M]
        let [batch, _, _] = kuu.dims();
        let probes = self.probes_of_step(&kuu);
        let kuf = self.inducing.kuf(prior, x.clone()); // [B, M, N]
        let relaxation = Relaxation::new(kuu, variances.clone(), self.root());
        let columns = right_hand_sides(mean.unsqueeze_dim(2), batch); // m̃
        let terms = relaxation.terms(kuf.clone(), columns, self.is_preconditioned(), probes);

        // tr(K̃T) − tr(P_R·K_uu) − log|T| − log|S̃| − M
        let [count] = variances.dims();
        let covariance =
            terms.traces - relaxation.log_determinant() - variances.log().sum() - count as f64;
        let shared = (outputs * size) as f64 / count as f64;
        let weights = of_each(terms.weights, outputs).squeeze_dim::<2>(2); // v, [P, M]
        let variance = prior_variances(prior, x) - terms.explained; // k_ff − k_fuᵀP_R·k_fu
        Ok(Evaluation {
            marginals: Marginals {
                mean: product_of_each(kuf.transpose(), weights).transpose(), // K_fu·v
                variance: nonnegative(variance).expand([rows, outputs]),
            },
            kl: (terms.squares + covariance * shared) * 0.5,
        })
    }

    fn condition(&self, prior: &Kernels) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite> {
        let (this, prior) = (self.valid(), prior.valid());
        let (mean, variances) = (this.observations.mean(), this.observations.variances());
        let [outputs, _] = mean.dims();
        let (kuu, root) = (this.inducing.kuu(&prior), this.root());
        let [batch, _, _] = kuu.dims();
        let relaxation = Relaxation::new(kuu, variances, root);
        let weights = match this.is_preconditioned() {
            false => mean, // v = m̃
            // v = P_R·m̃
            true => {
                let columns = right_hand_sides(mean.unsqueeze_dim(2), batch);
                of_each(relaxation.preconditioned(columns), outputs).squeeze_dim(2)
            }
        };
        let process = InverseFreeProcess::new(prior, this.inducing, relaxation, weights);
        Ok(Box::new(process))
    }

    fn after_step(&mut self, prior: &Kernels) {
        self.update_auxiliary(&prior.valid());
        self.steps = self.steps.clone().plus(1);
    }

    fn synchronize(&mut self, prior: &Kernels) {
        if let AuxiliaryUpdate::NaturalGradient(inversion) = self.update {
            self.invert(
                &prior.valid(),
                inversion.from_cold(),
                StoppingRule::Residual,
            );
        }
    }

    fn inducing(&self) -> Vec<&AnyInducing> {
        vec![&self.inducing]
    }
}
