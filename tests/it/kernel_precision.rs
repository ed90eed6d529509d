//! Kernels in one precision at points in another are a mistake that is named.

use burn::tensor::{DType, Int, Tensor};
use burn_gp_core::{
    features::PerceptronConfig,
    kernels::{
        AnyKernel, Basis, FeatureMap, KernelModule, RandomFourier, StationaryConfig,
        covariance_product, matrix_columns,
    },
};

use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::support::{
    double_precision_platforms,
    kernel_registry::{DIMENSIONS, registry},
    panics::assert_names,
};

/// A call with points of another precision.
type Mistake = Box<dyn Fn()>;

/// What is asked of a kernel at points in the other precision.
fn mistakes(kernel: &AnyKernel, x: &Tensor<2>) -> Vec<(&'static str, Mistake)> {
    let ([rows, _], options) = (x.dims(), (&x.device(), x.dtype()));
    let vectors = Tensor::<2>::ones([rows, 2], options);
    let columns = Tensor::<1, Int>::from_data([0, 1], &x.device());
    let owned = || (kernel.clone(), x.clone(), vectors.clone());
    let (covariance, matrix, diagonal) = (owned(), owned(), owned());
    let (some, product) = (owned(), owned());
    vec![
        (
            "covariance",
            Box::new(move || {
                let (kernel, x, _) = covariance.clone();
                kernel.covariance_at(x.clone(), x);
            }),
        ),
        (
            "matrix",
            Box::new(move || {
                let (kernel, x, _) = matrix.clone();
                kernel.matrix_at(x);
            }),
        ),
        (
            "diagonal",
            Box::new(move || {
                let (kernel, x, _) = diagonal.clone();
                kernel.diagonal_at(x);
            }),
        ),
        (
            "matrix_columns",
            Box::new(move || {
                let (kernel, x, _) = some.clone();
                matrix_columns(&kernel, x.unsqueeze(), columns.clone());
            }),
        ),
        (
            "matrix_product",
            Box::new(move || {
                let (kernel, x, vectors) = product.clone();
                covariance_product(&kernel, x, None, vectors);
            }),
        ),
    ]
}

#[test]
fn points_in_another_precision_are_named() {
    for platform in double_precision_platforms() {
        let (device, _) = platform.options();
        for (own, other) in [(DType::F32, DType::F64), (DType::F64, DType::F32)] {
            let x = Tensor::<2>::ones([4, DIMENSIONS], (device, other));
            for (name, config) in registry() {
                let kernel = config.init(DIMENSIONS, (device, own));
                for (method, mistake) in mistakes(&kernel, &x) {
                    let what = format!("{name}, {method} on {platform}");
                    let parameters = format!("parameters in {}; cast one of them", own.name());
                    assert_names(&what, &[" in ", other.name(), &parameters], mistake);
                }
            }
            let network = PerceptronConfig::default().init(DIMENSIONS, 4, (device, own));
            let basis = Basis::new(network);
            let names = [other.name(), own.name(), "cast one of them"];
            assert_names("a basis", &names, || {
                FeatureMap::features(&basis, x.clone())
            });
            let kernel = StationaryConfig::rbf().init(DIMENSIONS, (device, own));
            let mut random = ChaCha8Rng::seed_from_u64(0);
            let fourier = RandomFourier::new(&kernel, DIMENSIONS, 3, &mut random, (device, own))
                .expect("it is stationary");
            assert_names("random features", &names, || fourier.features(x.clone()));
        }
    }
}
