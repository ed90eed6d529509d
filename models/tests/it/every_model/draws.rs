//! For every model, draws of the functions depend only on the seed.

use burn::tensor::DType;
use burn_gp_core::parameter::numbers;
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{data, every_prediction};

/// The same seed draws the same functions, to the bit, and another seed draws other functions.
/// Other random draws in between change nothing.
#[test]
fn draws_of_every_model_depend_on_the_seed_alone() {
    for dtype in [DType::F64, DType::F32] {
        let x = data(dtype).inputs.narrow(0, 3, 5);
        for (name, model) in every_prediction(dtype) {
            let predictor = model.predictor().unwrap();
            let draw = |seed| {
                let draws = predictor.sample(x.clone(), 2, seed);
                let draws = draws.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(draws.dims(), [2, 1, 5], "{name}");
                numbers(draws)
            };
            let first = draw(11);
            assert_ne!(first, draw(12), "{name}");
            assert_eq!(first, draw(11), "{name}");
            assert_ne!(first[..5], first[5..], "{name}");
            let draw_targets = |seed| {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                numbers(predictor.sample_targets(x.clone(), 2, &mut random).unwrap())
            };
            let first = draw_targets(11);
            assert_ne!(first, draw_targets(12), "{name}");
            assert_eq!(first, draw_targets(11), "{name}");
        }
    }
}
