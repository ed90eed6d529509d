//! Orthogonally decoupled posteriors (H. Salimbeni, C. Cheng, B. Boots and M. Deisenroth,
//! *Orthogonally Decoupled Variational Gaussian Processes*, arXiv:1809.08820) compared with dense
//! formulas, and their estimate from a subset of the columns of `K_vv`.

use crate::support::{
    Dense, Platform, Random, assert_close, double_precision_platforms,
    module_gradients::parameter_gradients,
    numbers,
    orthogonal_case::OrthogonalCase,
    platforms,
    posterior_case::{DIMENSIONS, POINTS, VARIANCE, covariances, kernel},
};
use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inducing::{Inducing, InducingPoints},
    kernels::{KernelConfig, KernelModule, Kernels, WhiteConfig},
    process::Process,
    variational::{Evaluation, OrthogonallyDecoupled, Parameterization, Posterior},
};

const SIZES: [usize; 2] = [8, 13];

/// `μ = K_fu·K_uu⁻¹(m_u − K_uv·a) + K_fv·a`, `Σ = K_ff − K_fu·K_uu⁻¹(K_uu − S_u)K_uu⁻¹·K_uf` and
/// `KL = KL[q(u) ‖ p(u)] + ½Σ_p a_pᵀ(K_vv − K_vu·K_uu⁻¹·K_uv)a_p`, everything dense.
fn check_against_dense(
    what: &str,
    platform: &Platform,
    case: &OrthogonalCase,
    parameterization: Parameterization,
) {
    let [first, second] = [&case.sets[0], &case.sets[1]];
    let (z, o, a) = (&first.points, &second.points, second.mean.transposed());
    let jitter = Dense::identity(z.rows).scaled(1e-6 * VARIANCE);
    let kuu = covariances(z, z).plus(&jitter);
    let factor = kuu.cholesky();
    let (kuf, kuv) = (covariances(z, &case.x), covariances(z, o));
    let psi = kuu.solve(&kuf); // [M, N]
    let moved = (factor.times(&first.mean.transposed())).minus(&kuv.times(&a));
    let mean = (psi.transposed().times(&moved)).plus(&covariances(&case.x, o).times(&a));
    let residual = covariances(o, o).minus(&kuv.transposed().times(&kuu.solve(&kuv)));
    let squares = |m: &Dense| m.values.iter().map(|m| m * m).sum::<f64>();
    let mut kl = 0.5 * (squares(&first.mean) + a.transposed().times(&residual).times(&a).trace());
    let mut joint = Vec::new();
    for w in &first.scale {
        let logarithms: f64 = w.diagonal().iter().map(|w| w.abs().ln()).sum();
        kl += 0.5 * (squares(w) - z.rows as f64) - logarithms;
        let s = factor
            .times(&w.times(&w.transposed()))
            .times(&factor.transposed());
        let reduction = psi.transposed().times(&kuu.minus(&s)).times(&psi);
        joint.push(covariances(&case.x, &case.x).minus(&reduction));
    }
    let variances = Dense::from_function(POINTS, joint.len(), |n, p| joint[p][(n, n)]);

    let posterior = case.decoupled(platform, parameterization);
    let (kernel, x) = (kernel(platform), || case.x(platform));
    let evaluation = posterior.evaluate(&kernel, x()).expect("factor");
    let process = posterior.condition(&kernel).expect("factor");
    let (predicted, drawn) = (process.marginals(x()), process.joint(x()));
    let tolerance = platform.tolerance(1e-9, 1e-3);
    let same = |what: &str, actual: Vec<f64>, expected: &[f64]| {
        assert_close(what, &actual, expected, tolerance);
    };
    for (part, marginals) in [
        ("evaluated", evaluation.marginals),
        ("predicted", predicted),
    ] {
        same(
            &format!("{what}: {part} mean"),
            numbers(marginals.mean),
            &mean.values,
        );
        let variance = numbers(marginals.variance);
        same(
            &format!("{what}: {part} variance"),
            variance,
            &variances.values,
        );
    }
    same(
        &format!("{what}: joint mean"),
        numbers(drawn.mean),
        &mean.values,
    );
    let covariance = crate::support::dense::flatten(&joint);
    same(
        &format!("{what}: joint covariance"),
        numbers(drawn.covariance),
        &covariance,
    );
    same(
        &format!("{what}: divergence"),
        numbers(evaluation.kl),
        &[kl],
    );
}

#[test]
fn moments_and_divergence_are_those_of_the_dense_formulas() {
    for platform in platforms() {
        for outputs in [1, 3] {
            let case = OrthogonalCase::new(&SIZES, outputs);
            for parameterization in [Parameterization::Whitened, Parameterization::Unwhitened] {
                let what = format!("{platform}, {outputs} outputs, {parameterization:?}");
                check_against_dense(&what, &platform, &case, parameterization);
            }
        }
    }
}

/// With zero weights, the distribution of v is the prior, and only the posterior on Z remains.
#[test]
fn without_weights_the_divergence_is_that_of_the_first_set() {
    for platform in platforms() {
        let case = OrthogonalCase::new(&SIZES, 2);
        let kernel = kernel(&platform);
        let mut none = OrthogonalCase::new(&SIZES, 2);
        none.sets[1].mean = none.sets[1].mean.scaled(0.0);
        let alone = OrthogonalCase {
            x: case.x.clone(),
            y: case.y.clone(),
            sets: vec![case.sets[0].clone()],
        };
        let kl = |evaluation: Evaluation| numbers(evaluation.kl);
        let ours = none.decoupled(&platform, Parameterization::Whitened);
        let ours = kl(ours.evaluate(&kernel, case.x(&platform)).expect("factor"));
        let expected = alone.whitened(&platform);
        let expected = kl(expected
            .evaluate(&kernel, case.x(&platform))
            .expect("factor"));
        let tolerance = platform.tolerance(1e-9, 1e-6);
        assert_close(&format!("{platform}"), &ours, &expected, tolerance);
    }
}

/// The KL divergence and the gradients of all parameters at consecutive steps.
fn steps(
    posterior: OrthogonallyDecoupled,
    kernel: &Kernels,
    (x, count): (Tensor<2>, usize),
) -> (Vec<Vec<Vec<f64>>>, OrthogonallyDecoupled) {
    let mut posterior = posterior;
    let mut all = Vec::new();
    for _ in 0..count {
        let kl = posterior.evaluate(kernel, x.clone()).expect("factor").kl;
        let gradients = kl.backward();
        let mut values = parameter_gradients(&posterior, &gradients);
        values.push(numbers(kl));
        all.push(values);
        posterior.after_step(kernel);
    }
    (all, posterior)
}

/// The average over a cycle is exact, for the value and every gradient, also if the columns do not
/// divide evenly. Single steps are not exact.
#[test]
fn columns_average_to_all_of_them_over_a_cycle() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let kernel = kernel(&tracked);
        let case = OrthogonalCase::new(&SIZES, 2);
        let x = || case.x(&tracked);
        let posterior = || case.decoupled(&tracked, Parameterization::Unwhitened);
        let (exact, _) = steps(posterior(), &kernel, (x(), 1));
        for (columns, parts) in [(1, 13), (4, 4), (5, 3), (13, 1), (100, 1)] {
            let (estimates, _) = steps(
                posterior().with_columns(columns, 3),
                &kernel,
                (x(), 2 * parts),
            );
            for cycle in estimates.chunks(parts) {
                for (index, exact) in exact[0].iter().enumerate() {
                    let mean: Vec<f64> = (0..exact.len())
                        .map(|i| {
                            cycle.iter().map(|step| step[index][i]).sum::<f64>() / parts as f64
                        })
                        .collect();
                    let what = format!("{platform}, {columns} columns, value {index}");
                    assert_close(&what, &mean, exact, 1e-10);
                }
            }
            if parts > 1 {
                assert_ne!(estimates[0], estimates[1], "{columns} columns");
                assert_ne!(
                    estimates[..parts],
                    estimates[parts..],
                    "another order a cycle"
                );
            }
        }
    }
}

/// The position in the cycle is part of the record.
#[test]
fn a_restored_posterior_goes_on_with_the_next_columns() {
    let folder = std::env::temp_dir().join(format!("burn-gp-columns-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable folder for temporary files");
    for platform in platforms() {
        let tracked = platform.autodiff();
        let kernel = kernel(&tracked);
        let case = OrthogonalCase::new(&SIZES, 1);
        let x = || case.x(&tracked);
        let new = || {
            case.decoupled(&tracked, Parameterization::Whitened)
                .with_columns(4, 5)
        };
        let (undisturbed, _) = steps(new(), &kernel, (x(), 9));
        let (_, stopped) = steps(new(), &kernel, (x(), 3));
        let path = folder.join("posterior.bpk");
        stopped.save_file(&path).expect("the folder is writable");
        let restored = new().try_load_file(&path).expect("its own record");
        let (rest, _) = steps(restored, &kernel, (x(), 6));
        assert_eq!(rest, undisturbed[3..], "{platform}");
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

/// A subset of the columns of a covariance matrix equals columns of the whole matrix, also for
/// kernels that depend on whether both points are the same.
#[test]
fn columns_of_inducing_covariances_are_columns() {
    let smooth = KernelConfig::from(burn_gp_core::ops::Stationary::Matern52);
    let white = KernelConfig::from(WhiteConfig { variance: 0.3 });
    for platform in platforms() {
        for config in [
            smooth.clone(),
            white.clone(),
            smooth.clone().plus(white.clone()).scaled(2.0),
        ] {
            let kernel = config.init(DIMENSIONS, platform.options());
            let points = Random::new(829).points(9, DIMENSIONS);
            let inducing = InducingPoints::new(platform.matrix(&points));
            let chosen = [7, 0, 3];
            let columns = Tensor::from_data(chosen.as_slice(), &platform.device);
            let ours = inducing.kuu_columns(&Kernels::from(kernel.clone()), columns);
            let all = numbers(kernel.matrix_at(platform.matrix(&points)));
            let expected = Dense::from_function(9, 3, |i, j| all[i * 9 + chosen[j] as usize]);
            let what = format!("{config:?} on {platform}");
            assert_close(&what, &numbers(ours), &expected.values, 1e-6);
        }
    }
}
