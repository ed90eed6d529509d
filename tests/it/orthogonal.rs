//! SOLVE-GP (J. Shi, M. Titsias and A. Mnih, *Sparse Orthogonal Variational Inference for Gaussian
//! Processes*, arXiv:1910.10596): orthogonal sets of inducing points, compared with one posterior
//! on their union and with consequences of the formulas.

use crate::support::{
    Dense, Platform, Random, assert_close, assert_finite,
    dense_posterior::check_against_reference,
    double_precision_platforms, numbers,
    orthogonal_case::OrthogonalCase,
    platforms,
    posterior_case::{
        INDUCING, POINTS, VARIANCE, assert_same_marginals, covariances, elbo, kernel, likelihood,
    },
};
use burn::tensor::Tensor;
use burn_gp_core::{
    ops::Jitter,
    process::{CovarianceShape, Marginals, VariationalGaussian},
    variational::{
        InducingGaussians, InducingSet, Parameterization, Posterior, PosteriorConfig, SolveGp,
        SolveGpConfig, Whitened,
    },
};

/// Any number of orthogonal sets equals a whitened posterior on their union with a block-diagonal
/// covariance, in all moments, including the joint covariances of the conditioned process. The same
/// holds in the coordinates of the variables themselves.
#[test]
fn orthogonal_sets_are_one_posterior_on_their_union() {
    for platform in platforms() {
        for sizes in [&[8][..], &[8, 5], &[5, 4, 6]] {
            for outputs in [1, 3] {
                let case = OrthogonalCase::new(sizes, outputs);
                let what = format!("{platform}, {sizes:?}, {outputs} outputs");
                let union = case.union();
                let posterior = case.whitened(&platform);
                check_against_reference(&what, &platform, &union, &posterior);
                let posterior = case.unwhitened(&platform);
                let what = format!("{what}, unwhitened");
                check_against_reference(&what, &platform, &union, &posterior);
            }
        }
    }
}

/// If the second set has the Gaussian of the prior, it changes nothing: the bound is that of the
/// first set, bit for bit with a single set.
#[test]
fn a_second_set_at_its_prior_is_not_there() {
    for platform in platforms() {
        for outputs in [1, 3] {
            let case = OrthogonalCase::new(&[INDUCING, 6], outputs);
            let kernel = kernel(&platform);
            let [first, second] = [&case.sets[0], &case.sets[1]];
            let whitened = Whitened::new(
                first.inducing(&platform),
                first.distribution(&platform),
                Jitter::INDUCING,
            );
            let alone = whitened
                .evaluate(&kernel, case.x(&platform))
                .expect("factor");
            let set = || InducingSet::new(first.inducing(&platform), first.distribution(&platform));
            let prior = VariationalGaussian::standard(
                second.points.rows,
                outputs,
                CovarianceShape::Full,
                platform.options(),
            );
            let second = InducingSet::new(second.inducing(&platform), prior);
            for (sets, tolerance) in [
                (vec![set()], 0.0),
                (vec![set(), second], platform.tolerance(1e-9, 1e-4)),
            ] {
                let what = format!("{platform}, {} sets", sets.len());
                let posterior = SolveGp::new(sets, Parameterization::Whitened, Jitter::INDUCING);
                let ours = posterior
                    .evaluate(&kernel, case.x(&platform))
                    .expect("factor");
                assert_same_marginals(&what, &ours.marginals, &alone.marginals, tolerance);
                let kl = numbers(alone.kl.clone());
                assert_close(&what, &numbers(ours.kl), &kl, tolerance);
            }
        }
    }
}

#[test]
fn at_the_prior_the_divergence_is_zero() {
    for platform in platforms() {
        let (kernel, case) = (kernel(&platform), OrthogonalCase::new(&[8, 5, 4], 1));
        let inducing = case.sets.iter().map(|set| set.inducing(&platform));
        let posterior = SolveGp::at_prior(inducing.collect(), &kernel, 2, Jitter::INDUCING);
        assert_eq!(
            posterior.parameterization(),
            SolveGpConfig::default().parameterization
        );
        let evaluation = posterior
            .evaluate(&kernel, case.x(&platform))
            .expect("factor");
        let kl = numbers(evaluation.kl)[0];
        // Rounding errors of a sum of 2·17 squares of about one and as many logarithms.
        let tolerance = platform.tolerance(1e-10, 1e-3);
        assert!(kl.abs() < tolerance, "{platform}: {kl}");
        let expected = Marginals {
            mean: Tensor::zeros([POINTS, 2], platform.options()),
            variance: Tensor::full([POINTS, 2], VARIANCE, platform.options()),
        };
        let what = format!("{platform}");
        let tolerance = platform.tolerance(1e-9, 1e-4);
        assert_same_marginals(&what, &evaluation.marginals, &expected, tolerance);
        assert_eq!(posterior.sets().len(), 3);
    }
}

/// The bounds of equal batches average to the full bound.
#[test]
fn mini_batches_average_to_the_full_bound() {
    for platform in double_precision_platforms() {
        let case = OrthogonalCase::new(&[8, 5], 1);
        let (kernel, likelihood) = (kernel(&platform), likelihood(&platform));
        let (x, y) = (case.x(&platform), platform.matrix(&case.y));
        for (name, posterior) in case.posteriors(&platform) {
            let bound = |x: Tensor<2>, y: Tensor<2>| {
                let evaluation = posterior.evaluate(&kernel, x).expect("factor");
                numbers(elbo(evaluation, &likelihood, y, POINTS))[0]
            };
            let rows = |tensor: &Tensor<2>, batch: usize| tensor.clone().narrow(0, 10 * batch, 10);
            let mean: f64 = (0..5).map(|b| bound(rows(&x, b), rows(&y, b)) / 5.0).sum();
            let full = bound(x.clone(), y.clone());
            assert_close(&format!("{name} on {platform}"), &[mean], &[full], 1e-10);
        }
    }
}

/// Dense matrices of the regression problem with two sets, including jitter.
struct Regression {
    kuu: Dense,
    kuf: Dense,
    /// `Q_ff = K_fu·K_uu⁻¹·K_uf`
    nystrom: Dense,
    /// `C_vv`
    cvv: Dense,
    /// `C_vf`
    cvf: Dense,
}

impl Regression {
    fn new(case: &OrthogonalCase) -> Self {
        let [z, o] = [&case.sets[0].points, &case.sets[1].points];
        let jitter = |size| Dense::identity(size).scaled(1e-6 * VARIANCE);
        let kuu = covariances(z, z).plus(&jitter(z.rows));
        let (kuf, kuv) = (covariances(z, &case.x), covariances(z, o));
        let explained = |a: &Dense, b: &Dense| a.transposed().times(&kuu.solve(b));
        Self {
            nystrom: explained(&kuf, &kuf),
            cvv: covariances(o, o)
                .plus(&jitter(o.rows))
                .minus(&explained(&kuv, &kuv)),
            cvf: covariances(o, &case.x).minus(&explained(&kuv, &kuf)),
            kuu,
            kuf,
        }
    }

    /// `log N(y | C_fv·C_vv⁻¹·m_v, Q_ff + σ²I) − tr(S_f⊥)/(2σ²) − KL[q(v) ‖ p(v)]` for whitened m_v
    /// and S_v (arXiv:1910.10596, eq. 9), and the residual `y − C_fv·C_vv⁻¹·m_v`.
    fn collapsed(&self, case: &OrthogonalCase, noise: f64) -> (f64, Dense) {
        let set = &case.sets[1];
        let factor = self.cvv.cholesky();
        let features = factor.solve_lower(&self.cvf); // [M2, N]
        let residual = case
            .y
            .minus(&features.transposed().times(&set.mean.transposed()));
        let covariance = self.nystrom.plus(&Dense::identity(POINTS).scaled(noise));
        let mahalanobis = residual.transposed().times(&covariance.solve(&residual))[(0, 0)];
        let count = POINTS as f64;
        let density = -0.5
            * (count * (2.0 * std::f64::consts::PI).ln()
                + covariance.log_determinant()
                + mahalanobis);
        let scaled = set.scale[0].transposed().times(&features);
        let squares = |a: &Dense| a.values.iter().map(|a| a * a).sum::<f64>();
        let left = count * VARIANCE - self.nystrom.trace() - squares(&features) + squares(&scaled);
        let logarithms: f64 = set.scale[0].diagonal().iter().map(|w| w.abs().ln()).sum();
        let kl = 0.5 * (squares(&set.scale[0]) + squares(&set.mean) - set.mean.columns as f64)
            - logarithms;
        (density - left / (2.0 * noise) - kl, residual)
    }
}

/// With the optimal Gaussian over the first set, `S_u = K_uu·B⁻¹·K_uu`, `m_u = σ⁻²K_uu·B⁻¹·K_uf·r`,
/// `B = K_uu + σ⁻²K_uf·K_fu`, the bound is the collapsed one for any second Gaussian. With any
/// other first Gaussian it is lower.
#[test]
fn the_bound_at_the_best_first_gaussian_is_the_collapsed_one() {
    let noise = 0.2;
    for platform in double_precision_platforms() {
        let case = OrthogonalCase::new(&[8, 5], 1);
        let dense = Regression::new(&case);
        let (expected, residual) = dense.collapsed(&case, noise);
        let gram = dense.kuf.times(&dense.kuf.transposed()).scaled(1.0 / noise);
        let precision = dense.kuu.plus(&gram);
        let covariance = dense.kuu.times(&precision.solve(&dense.kuu));
        let projected = dense.kuf.times(&residual).scaled(1.0 / noise);
        let mean = dense.kuu.times(&precision.solve(&projected)).transposed();
        // Both Gaussians in the coordinates of the variables themselves.
        let second = case.unwhitened(&platform).inducing_sets()[1].clone();
        let bound = |mean: &Dense, scale: &Dense| {
            let gaussian = VariationalGaussian::full(
                platform.matrix(mean),
                platform.batch(std::slice::from_ref(scale)),
            );
            let first = InducingSet::new(case.sets[0].inducing(&platform), gaussian);
            let sets = vec![first, second.clone()];
            let posterior = SolveGp::new(sets, Parameterization::Unwhitened, Jitter::INDUCING);
            let evaluation = posterior.evaluate(&kernel(&platform), case.x(&platform));
            let y = platform.matrix(&case.y);
            numbers(elbo(
                evaluation.expect("factor"),
                &likelihood(&platform),
                y,
                POINTS,
            ))[0]
        };
        let best = bound(&mean, &covariance.cholesky());
        assert_close(&format!("{platform}"), &[best], &[expected], 1e-8);
        let mut random = Random::new(827);
        for distance in [1e-3, 0.1, 1.0] {
            let shift = random.matrix(1, 8).scaled(distance);
            let stretch = Dense::identity(8).plus(&random.lower_triangle(8).scaled(0.3 * distance));
            let other = bound(&mean.plus(&shift), &covariance.cholesky().times(&stretch));
            assert!(
                other < best,
                "{platform}, {distance}: {other} against {best}"
            );
        }
    }
}

/// If the orthogonal points coincide with points of the first set and with each other, the jitter
/// keeps the bound and its gradients finite.
#[test]
fn orthogonal_points_may_be_points_of_the_first_set() {
    for platform in platforms() {
        let mut case = OrthogonalCase::new(&[8, 5], 1);
        let z = case.sets[0].points.clone();
        case.sets[1].points = Dense::from_function(5, z.columns, |i, d| z[(i % 3, d)]);
        let check = |tracked: &Platform, posterior: SolveGp| {
            let what = format!("{tracked}, {:?}", posterior.parameterization());
            let evaluation = posterior
                .evaluate(&kernel(tracked), case.x(tracked))
                .expect("factor");
            let y = tracked.matrix(&case.y);
            let bound = elbo(evaluation, &likelihood(tracked), y, POINTS);
            let gradients = bound.backward();
            assert_finite(&what, &numbers(bound));
            let points = posterior.inducing_sets()[1]
                .inducing()
                .inputs()
                .expect("points");
            assert_finite(&what, &numbers(points.grad(&gradients).expect("gradient")));
        };
        let tracked = platform.autodiff();
        check(&tracked, case.whitened(&tracked));
        let inducing = case.sets.iter().map(|set| set.inducing(&tracked));
        let inducing = inducing.collect::<Vec<_>>();
        let config = SolveGpConfig::default().with_parameterization(Parameterization::Unwhitened);
        let prior = PosteriorConfig::from(config)
            .init(
                inducing,
                &kernel(&tracked),
                1,
                Jitter::INDUCING,
                tracked.options(),
            )
            .expect("factor");
        let prior = prior.downcast_ref::<SolveGp>().expect("orthogonal sets");
        check(&tracked, prior.clone());
    }
}

#[test]
#[should_panic(expected = "no set of inducing variables")]
fn no_sets_are_a_mistake() {
    let sets: Vec<InducingSet> = Vec::new();
    SolveGp::new(sets, Parameterization::Whitened, Jitter::INDUCING);
}
