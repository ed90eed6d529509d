//! Patches of images.

use crate::support::platforms;
use burn::tensor::{Tensor, TensorData};
use burn_gp_core::{
    parameter::numbers,
    patches::{ImageShape, PatchError, PatchGrid},
};

/// An image whose values encode their row, column and channel.
fn telling(shape: ImageShape, image: usize) -> Vec<f64> {
    let mut numbers = Vec::new();
    for row in 0..shape.height {
        for column in 0..shape.width {
            for channel in 0..shape.channels {
                numbers.push((image * 1000 + row * 100 + column * 10 + channel) as f64);
            }
        }
    }
    numbers
}

#[test]
fn patches_are_squares_of_all_channels_in_the_order_of_an_image() {
    let shape = ImageShape::new(5, 7, 2);
    for (size, stride) in [(1, 1), (2, 1), (3, 2), (5, 1), (2, 3)] {
        let grid = PatchGrid::new(shape, size, stride).unwrap();
        let mut expected = Vec::new();
        for image in 0..2 {
            for row in (0..=shape.height - size).step_by(stride) {
                for column in (0..=shape.width - size).step_by(stride) {
                    for y in row..row + size {
                        for x in column..column + size {
                            for channel in 0..shape.channels {
                                let number = image * 1000 + y * 100 + x * 10 + channel;
                                expected.push(number as f64);
                            }
                        }
                    }
                }
            }
        }
        let images = [telling(shape, 0), telling(shape, 1)].concat();
        for platform in platforms() {
            let data = TensorData::new(images.clone(), [2, shape.len()]);
            let images = Tensor::<2>::from_data(data, platform.options());
            let patches = grid.extract(images);
            assert_eq!(patches.dims(), [2 * grid.count(), grid.dimensions()]);
            // Integers below 2048 are exact in every type.
            assert_eq!(numbers(patches), expected, "size {size}, stride {stride}");
        }
    }
}

#[test]
fn the_maps_of_the_papers_networks() {
    // Shi, Titsias and Mnih, arXiv:1910.10596, table 5, without padding.
    let first = PatchGrid::new(ImageShape::new(32, 32, 3), 5, 1).unwrap();
    assert_eq!((first.count(), first.dimensions()), (784, 75));
    let second = PatchGrid::new(first.map(10), 4, 2).unwrap();
    assert_eq!((second.count(), second.dimensions()), (169, 160));
    let third = PatchGrid::new(second.map(10), 5, 1).unwrap();
    assert_eq!((third.count(), third.dimensions()), (81, 250));
}

#[test]
fn locations_count_patches_not_pixels() {
    let grid = PatchGrid::new(ImageShape::new(5, 7, 1), 3, 2).unwrap();
    for platform in platforms() {
        let expected = [0., 0., 0., 1., 0., 2., 1., 0., 1., 1., 1., 2.];
        assert_eq!(numbers(grid.locations(platform.options())), expected);
    }
}

#[test]
fn what_has_no_patches_says_why() {
    let image = ImageShape::new(4, 6, 3);
    assert_eq!(
        PatchGrid::new(image, 0, 1),
        Err(PatchError::Zero { size: 0, stride: 1 })
    );
    let error = PatchGrid::new(image, 5, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "patches of size 5 do not fit into an image of 4x6x3 (height, width, channels)"
    );
}
