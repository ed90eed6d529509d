//! A convolutional Gaussian process recognizes short strokes anywhere in an image, from fewer training
//! images than a Gaussian process on pixels needs: `cargo run --release -p burn-gp --example conv_gp`

use burn_gp::{
    ConvolutionalForm,
    patches::ImageShape,
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

const SIDE: usize = 8;
const CLASSES: usize = 3;

/// Noise with a horizontal, vertical or diagonal stroke of four pixels: pixels row by row, and the
/// direction of the stroke.
fn strokes(count: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut image = |index: usize| {
        let class = index % CLASSES;
        let (down, right) = [(0, 1), (1, 0), (1, 1)][class];
        let mut start = |step: usize| random.random_range(0..SIDE - 3 * step);
        let (top, left) = (start(down), start(right));
        let mut pixels: Vec<f64> = (0..SIDE * SIDE)
            .map(|_| random.random_range(0.0..0.5))
            .collect();
        for pixel in 0..4 {
            pixels[(top + pixel * down) * SIDE + left + pixel * right] += 0.8;
        }
        (pixels, class)
    };
    (0..count).map(&mut image).unzip()
}

/// The accuracy on new images.
fn accuracy(gp: &Fitted, images: &[Vec<f64>], classes: &[usize]) -> Result<f64, burn_gp::Error> {
    let predicted = gp.predict(images)?;
    // [N, 3], row by row
    let rows = predicted.predictions().probabilities.chunks(CLASSES);
    let right = rows
        .zip(classes)
        .filter(|(row, class)| row.iter().all(|other| *other <= row[**class]));
    Ok(right.count() as f64 / classes.len() as f64)
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ((x, classes), (new_x, new_classes)) = (strokes(240, 1), strokes(300, 2));
    let fit = Fit::adam(0.05).steps(60).batch_size(80).scale_inputs(false);

    // The baseline compares whole images pixel by pixel: it has to learn every position of a
    // stroke.
    let pixels = SvgpConfig::new(StationaryConfig::rbf(), SoftmaxConfig::new(CLASSES))
        .with_inducing(48)
        .fit(&x, &classes, &fit)?;
    // The function of an image is the mean of responses to its 36 patches of 3×3 pixels. A stroke is in
    // few of them, so responses must be large.
    let responses = StationaryConfig::rbf()
        .with_lengthscale(1.0)
        .with_variance(100.0);
    let form = ConvolutionalForm {
        size: 3,
        stride: 1,
        location: None,
    };
    let layer = LayerConfig::new(responses)
        .with_form(form)
        .with_inducing(24);
    let patches = DeepGpConfig::new(layer, SoftmaxConfig::new(CLASSES))
        .with_image(ImageShape::new(SIDE, SIDE, 1))
        .fit(&x, &classes, &fit)?;

    let of_pixels = accuracy(&pixels, &new_x, &new_classes)?;
    let of_patches = accuracy(&patches, &new_x, &new_classes)?;
    println!("right: {of_patches:.3} by patches, {of_pixels:.3} by pixels, 0.333 by guessing");
    assert!(of_patches > 0.9);
    assert!(of_patches > of_pixels + 0.3);
    Ok(())
}
