//! The order of the collapsed bounds with orthogonal inducing points, and their limits.

use crate::reference::{
    Matrix, Random, assert_all_close, assert_close, combine, double_precision,
    orthogonal::{Gaussians, OrthogonalProblem},
    product, rows, scalar, tensor, transpose, values,
};
use crate::support::stationary::KINDS;
use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, CollapsedOrthogonal, Exact},
    kernels::{
        AnyKernel, ConstantConfig, KernelConfig, LinearConfig, RationalQuadraticConfig,
        StationaryConfig,
    },
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Jitter, Stationary},
    process::Process,
};

/// Kernels that give well-conditioned covariances for a dozen random points in the plane.
fn kernels() -> Vec<KernelConfig> {
    let stationary = |kind| StationaryConfig::new(kind).with_lengthscale(0.6);
    let simple = KINDS.map(|kind| KernelConfig::from(stationary(kind)));
    let [smooth, _, rough, _] = simple.clone();
    let mut kernels: Vec<KernelConfig> = simple.into();
    kernels.push(KernelConfig::from(RationalQuadraticConfig::default()));
    kernels.push(KernelConfig::from(stationary(Stationary::Matern12)).periodic(3.0));
    kernels.push(
        smooth
            .scaled(0.7)
            .plus(rough.clone().on_dimensions(vec![0])),
    );
    let linear = KernelConfig::from(LinearConfig {
        ard: true,
        variance: 0.5,
        ..LinearConfig::default()
    });
    kernels.push(rough.times(linear.plus(KernelConfig::from(ConstantConfig { variance: 1.0 }))));
    kernels
}

/// A random problem: data, noise and both sets of points.
struct Case {
    x: Tensor<2>,
    y: Tensor<2>,
    kernel: AnyKernel,
    noise: f64,
    z: Matrix,
    o: Matrix,
    device: Device,
}

impl Case {
    fn new(seed: u64, kernel: &KernelConfig, device: &Device) -> Self {
        let mut random = Random(seed);
        let options = (device, DType::F64);
        let mut size =
            |low: usize, high: usize| low + (random.uniform() * (high - low + 1) as f64) as usize;
        let (count, inducing, orthogonal) = (size(5, 40), size(1, 6), size(1, 6));
        let x = random.uniform_rows(count, 2, -2.0, 2.0);
        let noise = 10f64.powf(-2.0 + 2.0 * random.uniform());
        let y: Matrix = (x.iter())
            .map(|x| vec![(2.0 * x[0]).sin() + 0.5 * x[1] + noise.sqrt() * random.normal()])
            .collect();
        Self {
            x: tensor(&x, options),
            y: tensor(&y, options),
            kernel: kernel.init(2, options),
            noise,
            z: random.uniform_rows(inducing, 2, -2.0, 2.0),
            o: random.uniform_rows(orthogonal, 2, -2.0, 2.0),
            device: device.clone(),
        }
    }

    fn options(&self) -> (&Device, DType) {
        (&self.device, DType::F64)
    }

    fn likelihood(&self) -> Gaussian {
        Gaussian::new(self.noise, self.options())
    }

    fn collapsed(&self, points: &Matrix) -> Collapsed {
        let inducing = InducingPoints::new(tensor(points, self.options()));
        let (kernel, mean) = (self.kernel.clone(), ZeroMean::new(1));
        Collapsed::new(kernel, mean, self.likelihood(), inducing, Jitter::NONE)
    }

    /// `T(Z)`, `L_A`, `L_OD`, `L_S`, `T(Z∪O)` and the log evidence.
    fn bounds(&self) -> [f64; 6] {
        let data = || (self.x.clone(), self.y.clone());
        let (x, y) = data();
        let points = |points| InducingPoints::new(tensor(points, self.options()));
        let single = self.collapsed(&self.z);
        let both = CollapsedOrthogonal::new(
            self.kernel.clone(),
            ZeroMean::new(1),
            self.likelihood(),
            points(&self.z),
            points(&self.o),
            Jitter::NONE,
        );
        let union = self.collapsed(&[self.z.clone(), self.o.clone()].concat());
        let exact = Exact::new(self.kernel.clone(), ZeroMean::new(1), self.likelihood());
        [
            single.full_objective(x.clone(), y.clone()),
            single.tighter_bound(x.clone(), y.clone()),
            both.decoupled_bound(x.clone(), y.clone()),
            both.full_objective(x.clone(), y.clone()),
            union.full_objective(x.clone(), y.clone()),
            exact.full_objective(x, y),
        ]
        .map(|bound| scalar(bound.unwrap()))
    }
}

/// 100 random problems. The slack covers rounding.
#[test]
fn bounds_are_in_order() {
    for (name, device) in double_precision() {
        let kernels = kernels();
        for seed in 0..100 {
            let kernel = &kernels[seed as usize % kernels.len()];
            let case = Case::new(1000 + seed, kernel, &device);
            let slack = 1e-9 * case.x.dims()[0] as f64;
            let bounds = case.bounds();
            let [single, tighter, decoupled, both, union, evidence] = bounds;
            for order in [
                &[single, decoupled, both, union, evidence][..],
                &[single, tighter, evidence][..],
            ] {
                assert!(
                    order.windows(2).all(|pair| pair[0] <= pair[1] + slack),
                    "{name}, seed {seed}, {kernel:?}: {bounds:?}"
                );
            }
        }
    }
}

/// The optimal means of the orthogonally decoupled model, of both sets and of a single set with all
/// points are equal.
#[test]
fn means_are_those_of_one_set_of_all_points() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        for kind in KINDS {
            let problem = OrthogonalProblem::plane(kind);
            let (x, y) = problem.data(options);
            let what = format!("{name} {kind:?}");
            let model = problem.model(Jitter::NONE, options);
            let union = problem.collapsed(&problem.union(), Jitter::NONE, options);
            let mean =
                |process: &dyn Process| values(process.marginals(problem.new_x(options)).mean);
            let expected = mean(&union.condition(x.clone(), y.clone()).unwrap());
            let ours = mean(&model.condition(x.clone(), y.clone()).unwrap());
            assert_all_close(&ours, &expected, 1e-7, &what);

            let [inducing, _] = model.optimal_distributions(x.clone(), y.clone()).unwrap();
            let inducing = Gaussians::unwhitened(&inducing, &problem.kuu());
            let weights = rows(model.optimal_weights(x, y).unwrap().transpose());
            let new_x = &problem.problem.new_x;
            let cross = problem.problem.covariance(new_x, &problem.problem.z);
            let parallel = product(
                &cross,
                &crate::reference::solve(&problem.kuu(), &inducing.mean),
            );
            let orthogonal = product(&transpose(&problem.c(&problem.o, new_x)), &weights);
            let ours = combine(&parallel, &orthogonal, 1.0).concat();
            assert_all_close(&ours, &expected, 1e-7, &what);
        }
    }
}

/// With a point of O at every input the mean is exact, for any Z.
#[test]
fn mean_with_an_orthogonal_point_at_every_input_is_the_exact_one() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let plane = KINDS.map(OrthogonalProblem::plane);
        for mut problem in plane.into_iter().chain([OrthogonalProblem::golden()]) {
            problem.o = problem.problem.x.clone();
            let (x, y) = problem.data(options);
            let model = problem.model(Jitter::relative(1e-10), options);
            let mean =
                |process: &dyn Process| values(process.marginals(problem.new_x(options)).mean);
            let ours = mean(&model.condition(x.clone(), y.clone()).unwrap());
            let exact = mean(&problem.exact(options).condition(x, y).unwrap());
            assert_all_close(&ours, &exact, 1e-5, name);
        }
    }
}

/// With an inducing point at every input both bounds equal the evidence.
#[test]
fn bounds_with_an_inducing_point_at_every_input_are_the_evidence() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = OrthogonalProblem::golden();
        let (x, y) = problem.data(options);
        let model = problem.collapsed(&problem.problem.x, Jitter::NONE, options);
        let exact = problem.exact(options).full_objective(x.clone(), y.clone());
        let evidence = scalar(exact.unwrap());
        let bound = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(bound, evidence, 1e-6, name);
        let bound = scalar(model.tighter_bound(x, y).unwrap());
        assert_close(bound, evidence, 1e-6, name);
    }
}

/// If O equals Z, the residual covariance is only the jitter, and the bound is that of Z alone.
#[test]
fn orthogonal_points_at_the_inducing_points_add_nothing() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let jitter = Jitter::relative(1e-10);
        let plane = KINDS.map(OrthogonalProblem::plane);
        for mut problem in plane.into_iter().chain([OrthogonalProblem::golden()]) {
            problem.o = problem.problem.z.clone();
            let (x, y) = problem.data(options);
            let ours = problem
                .model(jitter, options)
                .full_objective(x.clone(), y.clone());
            let single = problem.collapsed(&problem.problem.z, jitter, options);
            let expected = scalar(single.full_objective(x, y).unwrap());
            assert_close(scalar(ours.unwrap()), expected, 1e-4, name);
        }
    }
}

#[test]
fn another_orthogonal_point_never_lowers_the_bound() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        for kind in KINDS {
            let mut problem = OrthogonalProblem::plane(kind);
            let (x, y) = problem.data(options);
            let mut random = Random(5);
            let mut last = f64::NEG_INFINITY;
            for _ in 0..8 {
                let model = problem.model(Jitter::NONE, options);
                let now = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
                assert!(now >= last - 1e-9, "{name} {kind:?}: {now} after {last}");
                last = now;
                problem.o.extend(random.uniform_rows(1, 2, -2.0, 2.0));
            }
        }
    }
}
