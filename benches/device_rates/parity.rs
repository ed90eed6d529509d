//! The comparison with the CPU, as `burn-gp devices check` makes it, without the program.

use burn::tensor::{DType, Device};
use burn_gp_device_checks::parity;

/// Prints the cases that fail and how many do not.
pub fn report(device: &Device, dtype: DType) {
    let (mut passed, mut count) = (0, 0);
    for case in parity::cases() {
        let outcome = case.run(device, dtype);
        count += 1;
        passed += usize::from(outcome.passed());
        let worst = outcome.worst();
        match (&outcome.result, worst) {
            (Err(reason), _) => {
                println!(
                    "FAILED  {}: {}",
                    case.name(),
                    reason.lines().next().unwrap_or_default()
                );
            }
            (_, Some(worst)) if !worst.passed() => println!(
                "FAILED  {}, {}: error {:.1e}, allowed {:.1e}",
                case.name(),
                worst.quantity,
                worst.error,
                worst.allowed
            ),
            _ => (),
        }
    }
    println!("parity: {passed} of {count} passed");
}
