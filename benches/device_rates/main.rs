//! Times of single operations on a GPU: products, factorizations, solves, an exact model's loss with its
//! gradient, and a product with a covariance that is never stored. In double precision, it also prints function
//! values that are out of reach of single precision. `--only parity` compares as `burn-gp devices check` does.
//!
//! `cargo bench --features cuda --bench device_rates -- [--device wgpu|cuda|flex] [--dtype f32|f64]
//! [--only TEXT] [--largest ROWS] [--repeats N]`
//!
//! A time is the median of calls that each wait for the device; `benches/peers/device_rates.py` has those of
//! PyTorch, measured the same way. A rate counts the operations of the textbook algorithm. A case that fails
//! prints one line.

use std::{
    error::Error,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use burn::tensor::{DType, Device};

#[path = "../../cli/src/allocator.rs"]
mod allocator;
#[path = "../argument_values.rs"]
mod argument_values;
mod cases;
mod far_points;
#[path = "../median.rs"]
mod median;
mod parity;

use argument_values::{dtype, number};
use cases::{Case, cases};
use median::median;

/// Calls before the timed ones, which compile the kernels.
const WARM_UP: usize = 2;

/// No case is timed for longer.
const LONGEST: Duration = Duration::from_secs(4);

/// The arguments after `--`.
struct Arguments {
    device: String,
    dtype: DType,
    only: String,
    largest: usize,
    repeats: usize,
}

impl Arguments {
    fn parse() -> Result<Self, Box<dyn Error>> {
        let mut found = Self {
            device: "cuda".to_owned(),
            dtype: DType::F32,
            only: String::new(),
            largest: usize::MAX,
            repeats: 20,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--device" => found.device = value()?,
                "--dtype" => found.dtype = dtype(&value()?)?,
                "--only" => found.only = value()?,
                "--largest" => found.largest = number(&value()?)?,
                "--repeats" => found.repeats = number::<usize>(&value()?)?.max(1),
                "--bench" => {} // cargo says so
                other => return Err(format!("{other:?} is not an option of this benchmark").into()),
            }
        }
        Ok(found)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let arguments = Arguments::parse()?;
    let Some(device) = device(&arguments.device) else {
        println!("skipped: this build has no device {}", arguments.device);
        return Ok(());
    };
    let (name, dtype) = (&arguments.device, arguments.dtype);
    println!("device: {name}, {dtype:?}");
    if dtype == DType::F64 && "far points".contains(&arguments.only) {
        match caught(|| Ok(far_points::report(&device))) {
            Ok(lines) => print!("{lines}"),
            Err(reason) => println!("far points failed: {reason}"),
        }
    }
    if arguments.only == "parity" {
        parity::report(&device, dtype);
        return Ok(());
    }
    for case in cases() {
        if case.name.contains(&arguments.only) && case.rows <= arguments.largest {
            report(&case, &device, &arguments);
        }
    }
    Ok(())
}

/// One line, or why there is none.
fn report(case: &Case, device: &Device, arguments: &Arguments) {
    let timed = caught(|| times(case, device, arguments));
    match timed {
        Ok(times) => {
            let (count, time) = (times.len(), median(times).as_secs_f64());
            let rate = match case.operations {
                0.0 => String::new(),
                operations => format!("{:>8.2} TFLOP/s", operations / time / 1e12),
            };
            println!(
                "{:<44} {:>10.3} ms {rate} ({count} calls)",
                case.name,
                1e3 * time
            );
        }
        Err(reason) => println!("{:<44} failed: {reason}", case.name),
    }
}

fn times(
    case: &Case,
    device: &Device,
    arguments: &Arguments,
) -> Result<Vec<Duration>, Box<dyn Error>> {
    let work = (case.prepare)(device, arguments.dtype);
    for _ in 0..WARM_UP {
        work()?;
        device.sync()?;
    }
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.len() < arguments.repeats && begin.elapsed() < LONGEST {
        let start = Instant::now();
        work()?;
        device.sync()?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// What a call returns, or the first line of why it does not.
fn caught<T>(work: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied());
            let text = text.unwrap_or("a panic without a message");
            Err(text.lines().next().unwrap_or_default().to_owned())
        }
    }
}

/// The device with this name, if this build has it.
fn device(name: &str) -> Option<Device> {
    match name {
        #[cfg(feature = "cuda")]
        "cuda" => Some(Device::cuda(0)),
        #[cfg(feature = "wgpu")]
        "wgpu" => Some(Device::wgpu(burn::tensor::DeviceKind::DefaultDevice)),
        #[cfg(feature = "flex")]
        "flex" => Some(Device::flex()),
        _ => None,
    }
}
