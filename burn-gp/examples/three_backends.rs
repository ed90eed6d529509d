//! The same model on every backend of the build, with the device as a value:
//! `cargo run --release -p burn-gp --features ndarray,wgpu --example three_backends`. The default
//! features include only flex.

use burn_gp::{
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// The devices of the build, with the floating-point types to use. Shading languages have no double
/// precision.
#[allow(deprecated, reason = "ndarray stays supported beside flex")]
fn places() -> Vec<(&'static str, Device, DType)> {
    vec![
        #[cfg(feature = "flex")]
        ("flex", Device::flex(), DType::F64),
        #[cfg(feature = "flex")]
        ("flex", Device::flex(), DType::F32),
        #[cfg(feature = "ndarray")]
        ("ndarray", Device::ndarray(), DType::F64),
        #[cfg(feature = "ndarray")]
        ("ndarray", Device::ndarray(), DType::F32),
        #[cfg(feature = "wgpu")]
        (
            "wgpu",
            Device::wgpu(burn_gp::burn::tensor::DeviceKind::DefaultDevice),
            DType::F32,
        ),
    ]
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let x: Vec<f64> = (0..120).map(|i| f64::from(i) / 15.0).collect();
    let noisy = |x: &f64| 20.0 + 3.0 * x.sin() + random.random_range(-0.3..0.3);
    let y: Vec<f64> = x.iter().map(noisy).collect();
    let new_x: Vec<f64> = (0..50).map(|i| 0.03 + 0.16 * f64::from(i)).collect();
    let config = ExactConfig::new(StationaryConfig::matern52());

    let mut means: Vec<Vec<f64>> = Vec::new();
    for (name, device, dtype) in places() {
        let fit = Fit::adam(0.1).steps(60);
        let gp = config.fit(&x, &y, &fit.on((&device, dtype)))?;
        let predicted = gp.predict(&new_x)?;
        assert_eq!(predicted.mean().dtype(), dtype);
        means.push(predicted.predictions().mean.clone());
        let gaps = (means[0].iter().zip(&means[means.len() - 1])).map(|(a, b)| (a - b).abs());
        let gap = gaps.fold(0.0, f64::max);
        println!("{name} in {dtype:?}: at most {gap:.1e} from the first");
        // Targets range from 17 to 23, and single precision has seven digits. Sixty steps and
        // factorizations may lose four of them.
        assert!(gap < 0.01, "{name} in {dtype:?}: {gap}");
    }
    let truth = new_x.iter().map(|x| 20.0 + 3.0 * x.sin());
    let errors = truth.zip(&means[0]).map(|(y, mean)| (y - mean).abs());
    assert!(errors.fold(0.0, f64::max) < 0.3);

    if cfg!(not(all(feature = "ndarray", feature = "wgpu"))) {
        println!("`--features ndarray` adds another CPU backend, `--features wgpu` GPUs");
    }
    Ok(())
}
