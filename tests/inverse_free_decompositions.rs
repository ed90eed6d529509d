//! T15: a training step of an inverse-free posterior makes no matrix decomposition. This test is
//! alone in its process because the counter counts all decompositions of the process.

use burn_gp_core::{
    ops::decompositions,
    variational::{AuxiliaryUpdate, Posterior, TraceProbes},
};
use burn_gp_test_support::{
    Platform,
    inverse_free_case::{FORMS, InverseFreeCase, ROWS},
    numbers, platforms,
    posterior_case::{elbo, kernel, likelihood},
};

/// The numbers of decompositions in a training step (the loss, its gradient and the update after
/// the step) and in a prediction.
fn counted<P: Posterior>(
    platform: &Platform,
    case: &InverseFreeCase,
    mut posterior: P,
) -> [u64; 2] {
    let tracked = platform.autodiff();
    let (kernel, likelihood) = (kernel(&tracked), likelihood(&tracked));
    let x = case.x(&tracked);
    let before = decompositions();
    let evaluation = posterior.evaluate(&kernel, x).expect("a factor");
    let loss = elbo(evaluation, &likelihood, case.y(&tracked), ROWS);
    assert!(numbers(loss.clone())[0].is_finite());
    let gradients = loss.backward();
    posterior.after_step(&kernel);
    posterior.synchronize(&kernel);
    drop(gradients);
    let trained = decompositions();
    let process = posterior.condition(&kernel).expect("a factor");
    let marginals = burn_gp_core::process::Process::marginals(&process, case.x(platform));
    assert!(
        numbers(marginals.variance)
            .iter()
            .all(|variance| *variance > 0.0)
    );
    [trained - before, decompositions() - trained]
}

#[test]
fn nothing_is_decomposed() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        for outputs in [1, 2] {
            let case = InverseFreeCase::new(outputs);
            let lower = case.noisy().inverse().cholesky();
            for form in FORMS {
                for update in [AuxiliaryUpdate::default(), AuxiliaryUpdate::TRAINED] {
                    let exact = case.inverse_free(&tracked, form, &lower, update);
                    let probes = TraceProbes { count: 3, seed: 0 };
                    let estimated = exact.clone().with_probes(probes);
                    for posterior in [exact, estimated] {
                        let count = counted(&platform, &case, posterior);
                        assert_eq!(count, [0, 0], "{platform}, {form:?}, {update:?}");
                    }
                }
                // L-SVGP checks that the counter works.
                let [step, prediction] = counted(&platform, &case, case.l_svgp(&tracked, form));
                assert!(
                    step >= 5 && prediction >= 2,
                    "{platform}: {step}, {prediction}"
                );
            }
        }
    }
}
