//! Step sizes that warm up.

use burn_gp_core::optim::NaturalGradient;

use crate::support::assert_close;

#[test]
fn step_sizes_grow_geometrically_to_the_last() {
    let schedule = NaturalGradient::new(0.1).with_warm_up(1e-4, 3);
    let sizes: Vec<f64> = (0..6).map(|step| schedule.step_size(step)).collect();
    assert_close("sizes", &sizes, &[1e-4, 1e-3, 1e-2, 0.1, 0.1, 0.1], 1e-14);
    assert_eq!(NaturalGradient::new(0.3).step_size(0), 0.3);
    let text = serde_json::to_string(&schedule).expect("numbers");
    assert_eq!(
        text,
        r#"{"step_size":0.1,"warm_up":{"first":0.0001,"steps":3}}"#
    );
    let read: NaturalGradient = serde_json::from_str(r#"{"step_size":0.3}"#).expect("its own text");
    assert_eq!(read, NaturalGradient::new(0.3));
}
