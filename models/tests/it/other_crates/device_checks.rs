//! The comparison of devices with the CPU has the components of other crates, without another line.

use burn_gp_device_checks::parity::{Case, cases};
use burn_gp_test_support::platforms;

const NAMES: [&str; 7] = [
    "kernel bump",
    "mean level",
    "likelihood noisy",
    "posterior white",
    "posterior delegating",
    "model half",
    "model tempered",
];

#[test]
fn the_comparison_of_devices_has_components_of_other_crates() {
    let all = cases();
    for name in NAMES {
        let case = all.iter().find(|case| Case::name(case) == name);
        let case = case.unwrap_or_else(|| panic!("no case {name}"));
        for platform in platforms() {
            let outcome = case.run(&platform.device, platform.dtype);
            assert!(outcome.passed(), "{name} on {platform}: {outcome:?}");
            assert!(
                outcome.worst().is_some(),
                "{name} on {platform} compares nothing"
            );
        }
    }
}
