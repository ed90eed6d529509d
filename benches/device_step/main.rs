//! Training steps of the mini-batch models on a GPU: kernel launches, waits, operations and bytes, together
//! with the operations and bytes that no algorithm avoids; the times that both take on three GPUs; and the
//! time on the device at hand.
//!
//! `cargo bench --features wgpu --bench device_step -- [--device flex|wgpu|cuda]
//! [--dtype f32|f64] [--small] [--steps N] [--only MODEL] [--inducing M] [--batch B] [--kernels]
//! [--latency MICROSECONDS]`
//!
//! Without `--small` the sizes are typical for GPUs (SVGP: M = 1024, B = 8192). `--kernels` lists the
//! launches of each model by kernel. Operations and bytes are counted when this library's kernels are
//! launched, in whole tiles; for burn's kernels only the launches are counted. A time is the time of the
//! operations or of the bytes, whichever is longer, plus that of all launches. The latency of a launch, five
//! microseconds by default, is an assumption. The rates of the GPUs are from their data sheets, in single
//! precision: with `--dtype f64` only the time on the device at hand means something.

use std::error::Error;

use burn::tensor::Device;
use burn_gp_device_checks::device_step::{StepModel, StepSizes, measure_steps, step_models};

#[path = "../../cli/src/allocator.rs"]
mod allocator;
#[path = "../argument_values.rs"]
mod argument_values;
mod arguments;
mod gpus;
mod work;

use arguments::Arguments;
use gpus::{GPUS, PUBLISHED};
use work::{Work, factor, of_step};

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let arguments = Arguments::parse()?;
    let Some((name, device)) = device(arguments.device.as_deref())? else {
        println!("skipped: this build has no GPU; add --features wgpu, or --device flex");
        return Ok(());
    };
    let sizes = arguments.sizes();
    println!("device: {name}, {:?}; sizes: {sizes:?}", arguments.dtype);
    println!(
        "{:<13} {:>8} {:>8} {:>6} {:>8} {:>8} {:>8} {:>8} {} {:>10} {:>14}",
        "model",
        "launches",
        "of burn",
        "reads",
        "GFLOP",
        "least",
        "MB",
        "least",
        heads(),
        "here, ms",
        "enqueuing, ms"
    );
    for model in step_models(&sizes) {
        if arguments
            .only
            .as_ref()
            .is_none_or(|only| only == model.name)
        {
            report(&model, &sizes, &device, &arguments);
        }
    }
    println!("\nMinimum time of a Cholesky factorization in milliseconds, and published times:");
    for published in &PUBLISHED {
        println!("  {}", published.source);
        for &(size, time) in published.times {
            let least = GPUS.map(|gpu| {
                let forward = Work {
                    operations: factor(size).operations / 3.0,
                    bytes: factor(size).bytes / 3.0,
                };
                format!(
                    "{} {:.3}",
                    gpu.name,
                    1e3 * gpu.seconds(forward, 1, arguments.latency)
                )
            });
            println!(
                "    n = {size:<5} {time:>7.3}   least: {}",
                least.join(", ")
            );
        }
    }
    Ok(())
}

fn heads() -> String {
    let heads = GPUS.map(|gpu| format!("{:>22}", format!("{}, ms (least)", gpu.name)));
    heads.join(" ")
}

/// Prints one line, or why there is none.
fn report(model: &StepModel, sizes: &StepSizes, device: &Device, arguments: &Arguments) {
    let measured = match measure_steps(model, device, arguments.dtype, arguments.steps) {
        Ok(measured) => measured,
        Err(error) => {
            println!("{:<13} failed: {error}", model.name);
            return;
        }
    };
    let launches = &measured.launches;
    let made = Work {
        operations: launches.operations as f64,
        bytes: launches.bytes as f64,
    };
    let least = of_step(model.name, sizes, measured.parameters);
    let unit = |work: Option<Work>, value: fn(Work) -> f64| {
        work.map_or_else(|| "–".to_owned(), |work| format!("{:.1}", value(work)))
    };
    let operations: fn(Work) -> f64 = |work| work.operations / 1e9;
    let bytes: fn(Work) -> f64 = |work| work.bytes / 1e6;
    println!(
        "{:<13} {:>8} {:>8} {:>6.1} {:>8} {:>8} {:>8} {:>8} {} {:>10.3} {:>14.3}",
        model.name,
        launches.count(),
        launches.of_burn,
        measured.reads,
        unit(Some(made), operations),
        unit(least, operations),
        unit(Some(made), bytes),
        unit(least, bytes),
        times(made, least, launches.count(), arguments.latency),
        1e3 * measured.seconds,
        1e3 * measured.enqueuing
    );
    if arguments.kernels {
        let mut kernels: Vec<_> = launches.kernels.iter().collect();
        kernels.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        for (kernel, count) in kernels {
            println!("    {count:>5} {kernel}");
        }
    }
}

/// The time of the counted work on each GPU and, in parentheses, the minimum time of the step.
fn times(made: Work, least: Option<Work>, launches: usize, latency: f64) -> String {
    let times = GPUS.map(|gpu| {
        let seconds = |work| 1e3 * gpu.seconds(work, launches, latency);
        let least = least.map_or_else(String::new, |work| format!(" ({:.3})", seconds(work)));
        format!("{:>22}", format!("{:.3}{least}", seconds(made)))
    });
    times.join(" ")
}

/// The device with this name, or the first GPU of the build.
fn device(name: Option<&str>) -> Result<Option<(&str, Device)>, String> {
    type Open = fn() -> Device;
    let built: Vec<(&str, Open)> = vec![
        #[cfg(feature = "cuda")]
        ("cuda", || Device::cuda(0)),
        #[cfg(feature = "rocm")]
        ("rocm", || Device::rocm(0)),
        #[cfg(feature = "wgpu")]
        ("wgpu", || {
            Device::wgpu(burn::tensor::DeviceKind::DefaultDevice)
        }),
    ];
    match name {
        None => Ok((built.first()).map(|&(name, open)| (name, open()))),
        #[cfg(feature = "flex")]
        Some("flex") => Ok(Some(("flex", Device::flex()))),
        Some(name) => {
            let found = built.iter().find(|(built, _)| *built == name);
            match found {
                Some(&(name, open)) => Ok(Some((name, open()))),
                None => Err(format!(
                    "this build has no device {name}; add --features {name}"
                )),
            }
        }
    }
}
