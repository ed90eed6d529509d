//! Targets whose sizes do not match those of the functions.

use burn::tensor::Tensor;
use burn_gp_core::process::Marginals;

use crate::support::{
    likelihood_cases::{ROWS, registry},
    panics::assert_names,
    platforms,
};

/// Too few rows, a single row (which would broadcast), too many rows, too many columns, and means
/// and variances with different sizes.
#[test]
fn targets_of_other_sizes_are_refused() {
    let platform = &platforms()[0];
    for case in registry() {
        let (likelihood, columns) = (case.init(platform), case.columns());
        let marginals = || case.marginals(platform);
        let size = format!("[{ROWS}, {}]", case.latents);
        let rows = [1, ROWS - 1, ROWS + 1].map(|rows| [rows, columns]);
        for wrong in rows
            .into_iter()
            .chain([[ROWS, columns + 1], [ROWS, 2 * columns]])
        {
            let what = format!("{}: {wrong:?}", case.name);
            let targets = || Tensor::full(wrong, case.targets[0], platform.options());
            let own = format!("{wrong:?}");
            let sizes = [own.as_str(), size.as_str()];
            assert_names(&what, &sizes, || {
                likelihood.expected_log_density(targets(), marginals())
            });
            assert_names(&what, &sizes, || {
                likelihood.log_predictive_density(targets(), marginals())
            });
            let values = || marginals().mean.unsqueeze::<3>();
            assert_names(&what, &[&own], || {
                likelihood.log_density(targets(), values())
            });
        }
        let targets = || platform.tensor(&case.targets, [ROWS, columns]);
        let torn = || Marginals {
            variance: marginals().variance.narrow(0, 0, 1),
            ..marginals()
        };
        let sizes = [size, format!("[1, {}]", case.latents)];
        let sizes = [sizes[0].as_str(), sizes[1].as_str()];
        assert_names(case.name, &sizes, || {
            likelihood.expected_log_density(targets(), torn())
        });
        assert_names(case.name, &sizes, || {
            likelihood.log_predictive_density(targets(), torn())
        });
    }
}
