//! A user-defined kernel, Brownian motion `k(x, x′) = v·min(x, x′)`, in a sum with a library kernel
//! and in any model: `cargo run --release -p burn-gp --example own_kernel`

use burn::tensor::Tensor;
use burn_gp::{kernels::Kernel, prelude::*};

burn_gp::kernel! {
    /// Brownian motion from zero, for one positive input.
    pub struct Brownian, BrownianConfig = "brownian", "Brownian motion" {
        variance = 1.0,
    }
}

impl Kernel for Brownian {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let ([first, rows, _], [second, columns, _]) = (x1.dims(), x2.dims());
        let shape = [first.max(second), rows, columns]; // [B, N1, N2]
        let earlier = x1.expand(shape).min_pair(x2.transpose().expand(shape));
        earlier * self.variance.value().unsqueeze()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        x.squeeze_dim::<2>(2) * self.variance.value().unsqueeze()
    }
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x = [1.0, 2.0, 4.0];
    let y = [1.0, -1.0, 3.0];
    let brownian = BrownianConfig { variance: 2.0 };
    // No training steps: the model is conditioned on the data with the values given here.
    let fit = Fit::new().steps(0).scale_inputs(false).scale_targets(false);
    let gp = ExactConfig::new(brownian)
        .with_likelihood(GaussianConfig::new(1e-6))
        .fit(x, y, &fit)?;
    let predicted = gp.predict([1.5, 3.0, 5.0])?;
    let (mean, variance) = (predicted.function_mean(), predicted.function_variance());
    println!("means {mean}\nvariances {variance}");

    // Between two data Brownian motion is a bridge: a line, with variance v·(x − a)(b − x)/(b − a).
    // After the last datum, the mean is constant, and the variance grows by v per unit.
    let numbers = |t: Tensor<2>| t.into_data().iter::<f64>().collect::<Vec<_>>();
    let near = |a: Vec<f64>, b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
    assert!(near(numbers(mean), [0.0, 1.0, 3.0]));
    assert!(near(numbers(variance), [0.5, 1.0, 2.0]));

    // It works in sums, products, sparse models and files like any other kernel.
    let sum = brownian.plus(StationaryConfig::rbf());
    let text = serde_json::to_string(&sum)?;
    assert_eq!(serde_json::from_str::<KernelConfig>(&text)?, sum);
    let sparse = SvgpConfig::new(sum, GaussianConfig::default())
        .with_inducing(3)
        .fit(x, y, &Fit::adam(0.05).steps(50).scale_inputs(false))?;
    assert_eq!(sparse.predict(x)?.mean().dims(), [3, 1]);
    Ok(())
}
