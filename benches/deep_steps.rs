//! Time and memory of one training step of a deep Gaussian process and of a convolutional one.
//!
//! `cargo bench --bench deep_steps -- [--only deep|conv] [--dtype f32|f64]
//! [--json]`
//! runs each case in its own process, which separates the peak memory of the cases. `deep` has
//! three layers, the first two with eight functions around the identity. It has 500 inducing points
//! per layer, batches of 1000 rows with eight inputs, one draw and Gaussian noise. `conv` has
//! batches of 200 images of 28 by 28 pixels and 750 inducing patches of 5 by 5 pixels, with weights
//! for the patch locations and ten functions under the robust-max likelihood. Posteriors are
//! whitened with full covariances, and Adam trains all parameters. The floor is the time of the
//! multiply-adds of a step that no algorithm avoids, at the rate of a matrix product measured in
//! the same process.

use std::{error::Error, process::Command, time::Instant};

use burn::{
    module::Module,
    tensor::{DType, Device, Distribution, Tensor},
};
use burn_gp_core::{
    inducing::Initializer,
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, RobustMaxConfig},
    means::MeanConfig,
    ops::Stationary,
    patches::ImageShape,
};
use burn_gp_models::{
    DeepGpConfig, InducingConfig, LayerConfig, LayerForm,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};

#[path = "../runs/src/memory.rs"]
mod memory;

mod median;
mod product_rate;

use median::median;
use product_rate::product_rate;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of steps of a run, and of warm-up steps that are not counted.
const STEPS: usize = 18;
const WARM_UP: usize = 3;

const SIDE: usize = 28;
const PATCH: usize = 5;
const CLASSES: usize = 10;
const WIDTH: usize = 8;

/// A model to time.
struct Case {
    name: &'static str,
    batch: usize,
    inducing: usize,
}

const CASES: [Case; 2] = [
    Case {
        name: "deep",
        batch: 1000,
        inducing: 500,
    },
    Case {
        name: "conv",
        batch: 200,
        inducing: 750,
    },
];

const TYPES: [(&str, DType); 2] = [("f32", DType::F32), ("f64", DType::F64)];

/// The command-line arguments.
#[derive(Default)]
struct Arguments {
    only: Option<String>,
    dtype: Option<String>,
    json: bool,
}

impl Arguments {
    fn parse() -> Result<Self, Box<dyn Error>> {
        let mut found = Self::default();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--only" => found.only = words.next(),
                "--dtype" => found.dtype = words.next(),
                "--json" => found.json = true,
                "--bench" => {} // cargo says so
                other => return Err(format!("{other:?} is no option of this benchmark").into()),
            }
        }
        let is_known = |name: &Option<String>, known: [&str; 2]| {
            (name.as_deref()).is_none_or(|name| known.contains(&name))
        };
        if !is_known(&found.only, CASES.map(|case| case.name)) {
            return Err("--only is deep or conv".into());
        }
        if !is_known(&found.dtype, TYPES.map(|(name, _)| name)) {
            return Err("--dtype is f32 or f64".into());
        }
        Ok(found)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse()?;
    let is_asked =
        |asked: &Option<String>, name: &str| asked.as_deref().is_none_or(|asked| asked == name);
    let is_alone = arguments.only.is_some() && arguments.dtype.is_some();
    for case in &CASES {
        for (name, dtype) in TYPES {
            if !is_asked(&arguments.only, case.name) || !is_asked(&arguments.dtype, name) {
                continue;
            }
            if is_alone {
                report(case, name, dtype, arguments.json)?;
            } else {
                in_a_process(case, name, arguments.json)?;
            }
        }
    }
    Ok(())
}

/// Runs one case in its own process.
fn in_a_process(case: &Case, dtype: &str, json: bool) -> Result<(), Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--only", case.name, "--dtype", dtype]);
    command.args(json.then_some("--json"));
    match command.status()?.success() {
        true => Ok(()),
        false => Err(format!("the case {} in {dtype} broke off", case.name).into()),
    }
}

fn report(case: &Case, name: &str, dtype: DType, json: bool) -> Result<(), Box<dyn Error>> {
    let floor = case.floor_operations() / product_rate(dtype) * 1e3;
    let time = case.step_time(dtype)?;
    let peak = memory::peak().map(|bytes| bytes as f64 / (1 << 20) as f64);
    if json {
        let peak = peak.map_or("null".into(), |peak| format!("{peak:.0}"));
        println!(
            "{{\"case\": \"{}\", \"dtype\": \"{name}\", \"milliseconds\": {time:.2}, \
             \"peak_mebibytes\": {peak}, \"floor_milliseconds\": {floor:.2}, \
             \"ratio_to_floor\": {:.2}}}",
            case.name,
            time / floor
        );
    } else {
        let peak = peak.map_or("unknown".into(), |peak| format!("{peak:.0} MiB"));
        println!(
            "{} {name}: {time:.1} ms a step, {:.2} times the floor of {floor:.1} ms, peak memory {peak}",
            case.name,
            time / floor
        );
    }
    Ok(())
}

impl Case {
    /// Twice the number of multiply-adds that no algorithm avoids.
    fn floor_operations(&self) -> f64 {
        let (batch, inducing) = (self.batch as f64, self.inducing as f64);
        let layer = |functions: usize| layer_operations(batch, inducing, functions as f64);
        match self.name {
            "deep" => 2.0 * layer(WIDTH) + layer(1),
            _ => {
                let dimensions = (PATCH * PATCH) as f64;
                let patches = ((SIDE - PATCH + 1) * (SIDE - PATCH + 1)) as f64;
                // The distances between all inducing patches and all patches, and between the
                // patches of each image. The backward pass takes as many for the gradients of the
                // former.
                let across = 2.0 * dimensions * inducing * batch * patches;
                let within = dimensions * batch * patches * patches;
                layer(CLASSES) + 2.0 * across + within
            }
        }
    }

    fn config(&self) -> DeepGpConfig {
        let kernel = StationaryConfig::new(Stationary::SquaredExponential);
        let inducing = InducingConfig {
            initializer: Initializer::Subset,
            ..InducingConfig::new(self.inducing)
        };
        let layer = |kernel| LayerConfig::new(kernel).with_inducing(inducing.clone());
        if self.name == "deep" {
            let output = layer(kernel.with_lengthscale(2.0));
            let hidden = (output.clone())
                .with_mean(MeanConfig::Identity)
                .with_deviation(0.01);
            return DeepGpConfig::new(output, GaussianConfig { noise: 0.1 })
                .with_hidden(WIDTH, hidden.clone())
                .with_hidden(WIDTH, hidden);
        }
        let form = LayerForm::Convolutional {
            size: PATCH,
            stride: 1,
            location: None,
        };
        let output = layer(kernel.isotropic()).with_form(form);
        DeepGpConfig::new(output, RobustMaxConfig::new(CLASSES))
            .with_image(ImageShape::new(SIDE, SIDE, 1))
    }

    fn data(&self, dtype: DType) -> TrainingData {
        let device = Device::flex();
        device.seed(0);
        let options = (&device.clone().autodiff(), dtype);
        if self.name == "deep" {
            let normal = Distribution::Normal(0.0, 1.0);
            let inputs = Tensor::<2>::random([self.batch, WIDTH], normal, options);
            let targets = inputs.clone().sum_dim(1).sin();
            return TrainingData { inputs, targets };
        }
        let pixels = Distribution::Uniform(0.0, 1.0);
        let inputs = Tensor::<2>::random([self.batch, SIDE * SIDE], pixels, options);
        let labels: Vec<f64> = (0..self.batch).map(|row| (row % CLASSES) as f64).collect();
        let targets = Tensor::<1>::from_data(labels.as_slice(), options);
        TrainingData {
            inputs,
            targets: targets.reshape([self.batch, 1]),
        }
    }

    /// The median milliseconds of a step.
    fn step_time(&self, dtype: DType) -> Result<f64, Box<dyn Error>> {
        let data = self.data(dtype);
        let model = self.config().init(&data)?;
        let training = MiniBatchTraining {
            batch_size: self.batch,
            learning_rate: 1e-3,
            ..MiniBatchTraining::new(STEPS)
        };
        let mut trainer = MiniBatchTrainer::new(Module::train(model), data, training);
        let mut times = Vec::new();
        for step in 0..STEPS {
            let start = Instant::now();
            trainer.step()?;
            if step >= WARM_UP {
                times.push(start.elapsed());
            }
        }
        Ok(median(times).as_secs_f64() * 1e3)
    }
}

/// The operations of a layer of P functions with a shared kernel: a Cholesky factorization, a
/// triangular solve and P triangular products, and about twice that in the backward pass.
fn layer_operations(batch: f64, inducing: f64, functions: f64) -> f64 {
    let cube = inducing.powi(3);
    let forwards = cube / 3.0 + (1.0 + functions) * inducing * inducing * batch;
    forwards + cube + 2.0 * (1.0 + functions) * inducing * inducing * batch
}
