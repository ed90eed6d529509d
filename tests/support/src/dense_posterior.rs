//! The moments and the KL divergence of sparse posteriors by dense formulas.

use burn_gp_core::{
    process::Process,
    variational::{Evaluation, Posterior},
};

use super::{
    Dense, Platform, assert_close,
    dense::flatten,
    numbers,
    posterior_case::{self, Case, POINTS, covariances, kernel},
};

/// The moments of q(f) by `μ = Ψᵀb`, `Σ = K − Ψᵀ(K_uu − S)Ψ`, `Ψ = K_uu⁻¹K_uf`, and the KL
/// divergence by `½(tr(K_uu⁻¹S) + bᵀK_uu⁻¹b − M + log|K_uu| − log|S|)`, with dense matrices.
struct Reference {
    mean: Dense,
    covariances: Vec<Dense>,
    kl: f64,
}

fn reference(case: &Case) -> Reference {
    let kuu = case.kuu();
    let factor = kuu.cholesky();
    let psi = kuu.solve(&covariances(&case.z, &case.x)); // [M, N]
    let b = case.mean.times(&factor.transposed()); // [P, M]
    let inverse = kuu.inverse();
    let mut kl = 0.0;
    let covariances = (case.scale.iter().enumerate())
        .map(|(p, scale)| {
            let w = factor.times(scale);
            let s = w.times(&w.transposed());
            let b = Dense::new(1, case.z.rows, b.row(p).to_vec());
            let mahalanobis = b.times(&inverse).times(&b.transposed())[(0, 0)];
            kl += 0.5
                * (inverse.times(&s).trace() + mahalanobis - case.z.rows as f64
                    + kuu.log_determinant()
                    - s.log_determinant());
            let reduction = psi.transposed().times(&kuu.minus(&s)).times(&psi);
            posterior_case::covariances(&case.x, &case.x).minus(&reduction)
        })
        .collect();
    Reference {
        mean: psi.transposed().times(&b.transposed()),
        covariances,
        kl,
    }
}

#[track_caller]
pub fn check_against_reference<P: Posterior>(
    what: &str,
    platform: &Platform,
    case: &Case,
    posterior: &P,
) {
    let kernel = kernel(platform);
    let expected = reference(case);
    let tolerance = platform.tolerance(1e-9, 1e-3);
    let Evaluation { marginals, kl } = posterior
        .evaluate(&kernel, case.x(platform))
        .expect("factor");
    assert_close(
        what,
        &numbers(marginals.mean),
        &expected.mean.values,
        tolerance,
    );
    let outputs = expected.covariances.len();
    let variances = Dense::from_function(POINTS, outputs, |n, p| expected.covariances[p][(n, n)]);
    assert_close(
        what,
        &numbers(marginals.variance),
        &variances.values,
        tolerance,
    );
    let tight = platform.tolerance(1e-10, 1e-3);
    assert_close(what, &numbers(kl), &[expected.kl], tight);
    let joint = posterior
        .condition(&kernel)
        .expect("factor")
        .joint(case.x(platform));
    assert_close(what, &numbers(joint.mean), &expected.mean.values, tolerance);
    let covariances = flatten(&expected.covariances);
    assert_close(what, &numbers(joint.covariance), &covariances, tolerance);
}
