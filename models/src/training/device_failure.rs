//! Device failures, which burn reports as panics.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

/// A failure of the device during a computation.
///
/// A GPU reports failures late: when a later operation reads the result of a failed one, burn's
/// `into_data` panics.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceFailure {
    /// The device cannot allocate a tensor.
    #[error(
        "the device is out of memory{}; use smaller batches, fewer inducing points or another \
         device",
        bytes.map_or_else(String::new, |bytes| {
            format!(" for a tensor of {:.1} MB", bytes as f64 / 1e6)
        })
    )]
    OutOfMemory {
        /// The size of the tensor, if it is known.
        bytes: Option<u64>,
    },
    /// The device no longer answers.
    #[error("the device was lost ({reason}); restart the program")]
    Lost {
        /// The reason that the driver gave.
        reason: String,
    },
    /// The process that serves the device no longer answers.
    #[error("the worker no longer answers")]
    NoAnswer,
    /// The device failed in another way.
    #[error("the device failed ({reason}); see `burn-gp devices check`")]
    Other {
        /// The reason that the driver gave.
        reason: String,
    },
}

impl DeviceFailure {
    /// The device failure that a panic reports, if any.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Option<Self> {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        Self::of_message(text.or_else(|| panic.downcast_ref::<&str>().copied())?)
    }

    /// The device failure that the message of a panic reports, if any. The texts are from burn
    /// 0.22, cubecl 0.11 and wgpu.
    fn of_message(text: &str) -> Option<Self> {
        let has = |part: &&str| text.contains(*part);
        let memory = [
            "out of device memory",
            "can't allocate buffer",
            "out-of-memory error",
            "Out of Memory",
            "Not enough memory left",
        ];
        let lost = [
            "poisoned",
            "device was lost",
            "device is lost",
            "DeviceLost",
        ];
        let no_answer = [
            "Failed to read tensor: RecvError",
            "Remote response channel closed",
            "Failed to open a remote session",
            "Service call failed",
        ];
        let other = [
            "An error happened during execution",
            "wgpu error",
            "error happened during launch",
        ];
        if memory.iter().any(has) {
            let bytes = memory.iter().find_map(|part| number_after(text, part));
            return Some(Self::OutOfMemory { bytes });
        }
        if no_answer.iter().any(has) {
            return Some(Self::NoAnswer);
        }
        let reason = cause(text).to_owned();
        if lost.iter().any(has) && (text.contains("device") || text.contains("Device")) {
            return Some(Self::Lost { reason });
        }
        other.iter().any(has).then_some(Self::Other { reason })
    }
}

/// The first number after a part of a text.
fn number_after(text: &str, part: &str) -> Option<u64> {
    let (_, rest) = text.split_once(part)?;
    let line = rest.lines().next()?;
    let digits = line.split(|letter: char| !letter.is_ascii_digit());
    digits.filter_map(|digits| digits.parse().ok()).next()
}

/// The innermost cause in a message of several lines.
fn cause(text: &str) -> &str {
    let inner = text.rsplit("Caused by:").next().unwrap_or(text);
    let lines = inner.lines().map(str::trim);
    lines
        .into_iter()
        .find(|line| !line.is_empty())
        .unwrap_or(text)
}

/// Runs `work` and catches a failure of the device. Other panics propagate.
///
/// # Errors
///
/// [`DeviceFailure`].
pub fn on_device<T>(work: impl FnOnce() -> T) -> Result<T, DeviceFailure> {
    // After a failure, the caller stops and does not use what `work` has changed.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match DeviceFailure::of_panic(&*panic) {
        Some(failure) => failure,
        None => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages of burn 0.22.1 and cubecl 0.11.3, as their sources make them.
    #[test]
    fn messages_of_devices_are_recognized() {
        let read = "Error while reading data: use `try_into_data` instead to catch the error at \
                    runtime: An error happened during execution\nCaused by:\n  ";
        let failure = |cause: &str| DeviceFailure::of_message(&format!("{read}{cause}"));
        assert_eq!(
            failure("out of device memory allocating 4096000000 bytes\n0: backtrace"),
            Some(DeviceFailure::OutOfMemory {
                bytes: Some(4_096_000_000)
            })
        );
        assert_eq!(
            failure("can't allocate buffer of size: 17179869184\n"),
            Some(DeviceFailure::OutOfMemory {
                bytes: Some(17_179_869_184)
            })
        );
        assert_eq!(
            DeviceFailure::of_message("wgpu error: Out of Memory\n"),
            Some(DeviceFailure::OutOfMemory { bytes: None })
        );
        let lost = "Error while reading data: The device is poisoned\nCaused by:\n  Unknown: reset";
        assert_eq!(
            DeviceFailure::of_message(lost),
            Some(DeviceFailure::Lost {
                reason: "Unknown: reset".into()
            })
        );
        assert_eq!(
            failure("unsupported type"),
            Some(DeviceFailure::Other {
                reason: "unsupported type".into()
            })
        );
    }

    /// The messages of burn-remote 0.22.1.
    #[test]
    fn messages_of_lost_workers_are_recognized() {
        for text in [
            "Error while reading data: use `try_into_data` instead to catch the error at runtime: An \
             error happened during execution\nCaused by:\n  Failed to read tensor: RecvError(())",
            "training worker on device 1 failed: Failed to read tensor: RecvError(())",
            "Remote response channel closed before dtype_usage completed",
            "Failed to open a remote session at ws://127.0.0.1:7777: the server cannot be reached",
        ] {
            let failure = DeviceFailure::of_message(text);
            assert_eq!(failure, Some(DeviceFailure::NoAnswer), "{text}");
        }
    }

    #[test]
    fn other_panics_are_no_failures_of_a_device() {
        for text in [
            "index out of bounds: the len is 3 but the index is 3",
            "PoisonError: poisoned lock",
            "covariance: x1 has 2 dimensions",
        ] {
            assert_eq!(DeviceFailure::of_message(text), None, "{text}");
        }
        assert_eq!(DeviceFailure::of_panic(&17_u8), None);
    }

    #[test]
    fn work_without_a_failure_is_returned() {
        assert_eq!(on_device(|| 17), Ok(17));
    }
}
