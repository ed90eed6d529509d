//! Time and memory of one training step of a deep Gaussian process, a convolutional one and a deep
//! basis kernel.
//!
//! `cargo bench --bench deep_steps -- [--only deep|conv|deep-kernel] [--dtype f32|f64] [--json]`
//! runs each case in its own process, which separates the peak memory of the cases. `deep` has
//! three layers, the first two with eight functions around the identity. It has 500 inducing points
//! per layer, batches of 1000 rows with eight inputs, one draw and Gaussian noise. `conv` has
//! batches of 200 images of 28 by 28 pixels and 750 inducing patches of 5 by 5 pixels, with weights
//! for the patch locations and ten functions under the robust-max likelihood. Posteriors are
//! whitened with full covariances. `deep-kernel` has all 10 000 rows in every step, with one input, and 128
//! features from two layers of 128 hyperbolic tangents, with the variance correction (arXiv:2505.18526,
//! section 4.1). Adam trains all parameters. The floor is the time of the multiply-adds of a step that no
//! algorithm avoids, at the rate of a matrix product measured in the same process and type; [`floor`] lists
//! its terms. Our deep basis kernel does its R×R algebra and the sums that lead to it in double precision,
//! even in the case f32.

use std::{error::Error, process::Command, time::Instant};

use burn::tensor::DType;

#[path = "../../cli/src/allocator.rs"]
mod allocator;
#[path = "../../runs/src/memory.rs"]
mod memory;

mod cases;
mod floor;
#[path = "../median.rs"]
mod median;
#[path = "../product_rate.rs"]
mod product_rate;

use cases::{CASES, Case, TYPES};
use floor::Term;
use median::median;
use product_rate::product_rate;

/// The number of steps of a run, and of warm-up steps that are not counted.
const STEPS: usize = 18;
const WARM_UP: usize = 3;

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
                other => return Err(format!("unknown option {other:?}").into()),
            }
        }
        let is_known = |name: &Option<String>, known: &[&str]| {
            (name.as_deref()).is_none_or(|name| known.contains(&name))
        };
        if !is_known(&found.only, &CASES.map(|case| case.name)) {
            return Err("--only must be deep, conv or deep-kernel".into());
        }
        if !is_known(&found.dtype, &TYPES.map(|(name, _)| name)) {
            return Err("--dtype must be f32 or f64".into());
        }
        Ok(found)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
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
        false => Err(format!("the case {} in {dtype} failed", case.name).into()),
    }
}

fn report(case: &Case, name: &str, dtype: DType, json: bool) -> Result<(), Box<dyn Error>> {
    let terms = floor::of(case);
    let operations: f64 = terms.iter().map(|(_, operations)| operations).sum();
    let floor = operations / product_rate(dtype) * 1e3;
    let time = step_time(case, dtype)?;
    let peak = memory::peak().map(|bytes| bytes as f64 / (1 << 20) as f64);
    if json {
        let peak = peak.map_or("null".into(), |peak| format!("{peak:.0}"));
        println!(
            "{{\"case\": \"{}\", \"dtype\": \"{name}\", \"milliseconds\": {time:.2}, \
             \"peak_mebibytes\": {peak}, \"floor_milliseconds\": {floor:.2}, \
             \"ratio_to_floor\": {:.2}, \"floor_shares\": {{{}}}}}",
            case.name,
            time / floor,
            shares(&terms, operations, |name, share| format!(
                "\"{name}\": {share:.4}"
            ))
        );
    } else {
        let peak = peak.map_or("unknown".into(), |peak| format!("{peak:.0} MiB"));
        println!(
            "{} {name}: {time:.1} ms per step, {:.2} times the floor of {floor:.1} ms, peak memory {peak}",
            case.name,
            time / floor
        );
        let share = |name: &str, share: f64| format!("{name} {:.1} %", 100.0 * share);
        println!("    of the floor: {}", shares(&terms, operations, share));
    }
    Ok(())
}

/// The name of each term and its share of all operations, with commas between them.
fn shares(terms: &[Term], all: f64, text: impl Fn(&str, f64) -> String) -> String {
    let terms = terms
        .iter()
        .map(|&(name, operations)| text(name, operations / all));
    terms.collect::<Vec<_>>().join(", ")
}

/// The median milliseconds of the steps of a training run after the warm-up.
fn step_time(case: &Case, dtype: DType) -> Result<f64, Box<dyn Error>> {
    let mut step = case.training(dtype, STEPS)?;
    let mut times = Vec::new();
    for index in 0..STEPS {
        let start = Instant::now();
        step()?;
        if index >= WARM_UP {
            times.push(start.elapsed());
        }
    }
    Ok(median(times).as_secs_f64() * 1e3)
}
