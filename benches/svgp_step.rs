//! Time of one training step of whitened SVGP against the floor that matrix products set.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
use std::time::Instant;

use burn::{
    optim::{AdamConfig, GradientsParams},
    tensor::{DType, Device, Distribution, Tensor},
};
use burn_gp::{
    inducing::InducingPoints,
    kernels::StationaryConfig,
    likelihoods::Gaussian,
    ops::{Jitter, Stationary},
    variational::{CovarianceShape, VariationalGaussian, Whitened},
};
use burn_gp_models::Svgp;

fn main() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for (dtype, b, m) in [
        (DType::F32, 256, 128),
        (DType::F32, 1024, 512),
        (DType::F32, 1024, 1024),
        (DType::F64, 256, 128),
        (DType::F64, 1024, 512),
        (DType::F64, 1024, 1024),
    ] {
        if only.is_empty() || only == format!("{dtype:?}-{m}") {
            step(dtype, b, m, 8);
        }
    }
}
fn step(dtype: DType, b: usize, m: usize, d: usize) {
    let device = Device::flex().autodiff();
    let options = (&device, dtype);
    let normal = Distribution::Normal(0.0, 1.0);
    let x = Tensor::<2>::random([b, d], normal, options);
    let y = x.clone().sum_dim(1).sin();
    let z = Tensor::<2>::random([m, d], normal, options);
    let kernel = StationaryConfig::new(Stationary::Matern52).init(d, options);
    let q = VariationalGaussian::standard(m, 1, CovarianceShape::Full, options);
    let mut model = Svgp::new(
        kernel,
        Gaussian::new(1.0, options),
        Whitened::new(
            InducingPoints::new(z),
            q,
            Jitter::relative(if dtype == DType::F32 { 1e-4 } else { 1e-6 }),
        ),
    );
    let mut adam = AdamConfig::new().with_epsilon(1e-8).init();
    let steps = if m < 256 { 300 } else { 25 };
    let mut times = [vec![], vec![], vec![], vec![]];
    for i in 0..steps {
        let t0 = Instant::now();
        let loss = -model.elbo(x.clone(), y.clone(), 20 * b).unwrap();
        let t1 = Instant::now();
        let grads = loss.backward();
        let t2 = Instant::now();
        let grads = GradientsParams::from_grads(grads, &model);
        model = adam.step(1e-2, model, grads);
        let t3 = Instant::now();
        if i >= 5 {
            times[0].push(t1 - t0);
            times[1].push(t2 - t1);
            times[2].push(t3 - t2);
            times[3].push(t3 - t0);
        }
        if i == steps - 1 {
            print!("loss {:10.2} ", loss.into_scalar::<f64>());
        }
    }
    let med = |v: &mut Vec<std::time::Duration>| {
        v.sort();
        v[v.len() / 2].as_secs_f64() * 1e3
    };
    println!(
        "{dtype:?} B={b} M={m}: forward {:.3} backward {:.3} adam {:.3} total {:.3} ms",
        med(&mut times[0]),
        med(&mut times[1]),
        med(&mut times[2]),
        med(&mut times[3])
    );
}
