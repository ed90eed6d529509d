//! Images as rows of values, and their patches.
//!
//! An image is a row of `height·width·channels` values: pixel by pixel from the upper left, with the channels
//! of a pixel side by side. A layer with a feature map returns its output in the same form: the next layer
//! treats it as an image with one channel per function.

use burn::tensor::{Int, Tensor, TensorCreationOptions, TensorData};
use serde::{Deserialize, Serialize};

#[cfg(feature = "remote")]
use crate::ops::remote::Numbers;

/// The shape of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageShape {
    /// Rows of pixels, H.
    pub height: usize,
    /// Columns of pixels, W.
    pub width: usize,
    /// Values per pixel, C.
    pub channels: usize,
}

#[cfg(feature = "remote")]
crate::ops::remote::sent_as_numbers!(ImageShape {
    height,
    width,
    channels
});

impl ImageShape {
    /// An image of `height` rows of `width` pixels with `channels` values each.
    pub fn new(height: usize, width: usize, channels: usize) -> Self {
        Self {
            height,
            width,
            channels,
        }
    }

    /// The number of values of an image, `H·W·C`.
    pub fn len(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// Whether the image has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Display for ImageShape {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            height,
            width,
            channels,
        } = self;
        write!(formatter, "{height}x{width}x{channels}")
    }
}

/// The reason why an image cannot be divided into patches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The size or the stride is zero.
    #[error("patches of size {size} with stride {stride}: both must be at least 1")]
    Zero {
        /// The number of rows and columns of a patch.
        size: usize,
        /// The distance between patches in pixels.
        stride: usize,
    },
    /// A patch is larger than the image.
    #[error("patches of size {size} do not fit into an image of {image} (height, width, channels)")]
    TooLarge {
        /// The number of rows and columns of a patch.
        size: usize,
        /// The shape of the image.
        image: ImageShape,
    },
}

/// The patches of an image: squares of `size` by `size` pixels with all channels, `stride` pixels
/// apart, completely within the image.
///
/// Patches are numbered row by row. The values of a patch are in the same order as in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchGrid {
    image: ImageShape,
    size: usize,
    stride: usize,
}

#[cfg(feature = "remote")]
impl Numbers for PatchGrid {
    fn append(&self, numbers: &mut Vec<burn::backend::ir::ScalarIr>) {
        self.image.append(numbers);
        [self.size, self.stride].append(numbers);
    }

    fn next(numbers: &mut core::slice::Iter<'_, burn::backend::ir::ScalarIr>) -> Self {
        let image = ImageShape::next(numbers);
        let [size, stride] = Numbers::next(numbers);
        match Self::new(image, size, stride) {
            Ok(grid) => grid,
            Err(error) => panic!("a client sent an invalid patch grid: {error}"),
        }
    }
}

impl PatchGrid {
    /// Creates the grid of patches of `image` with `size` rows and columns, `stride` pixels apart.
    ///
    /// # Errors
    ///
    /// If there are no patches.
    pub fn new(image: ImageShape, size: usize, stride: usize) -> Result<Self, PatchError> {
        if size == 0 || stride == 0 {
            return Err(PatchError::Zero { size, stride });
        }
        if size > image.height.min(image.width) || image.channels == 0 {
            return Err(PatchError::TooLarge { size, image });
        }
        Ok(Self {
            image,
            size,
            stride,
        })
    }

    /// The grid of images that consist of a single patch each.
    #[cfg(feature = "cube")]
    pub(super) fn single(&self) -> Self {
        Self {
            image: ImageShape::new(self.size, self.size, self.image.channels),
            size: self.size,
            stride: 1,
        }
    }

    /// The shape of the image.
    pub fn image(&self) -> ImageShape {
        self.image
    }

    /// The number of rows and columns of a patch.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The distance between patches in pixels.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The number of rows of patches.
    pub fn rows(&self) -> usize {
        (self.image.height - self.size) / self.stride + 1
    }

    /// The number of columns of patches.
    pub fn columns(&self) -> usize {
        (self.image.width - self.size) / self.stride + 1
    }

    /// The number of patches per image, P.
    pub fn count(&self) -> usize {
        self.rows() * self.columns()
    }

    /// The number of values per patch, `size²·C`.
    pub fn dimensions(&self) -> usize {
        self.size * self.size * self.image.channels
    }

    /// The shape of the feature map of functions with `outputs` values per patch: one pixel per
    /// patch and one channel per function.
    pub fn map(&self, outputs: usize) -> ImageShape {
        ImageShape::new(self.rows(), self.columns(), outputs)
    }

    /// The index in an image's row at which a patch starts.
    pub fn offset(&self, patch: usize) -> usize {
        let (row, column) = (patch / self.columns(), patch % self.columns());
        self.stride * (row * self.image.width + column) * self.image.channels
    }

    /// The start indices of the runs of `size·C` consecutive values that make up patch zero, one run per row
    /// of the patch. The runs of other patches are shifted by their [`offset`](Self::offset).
    pub fn runs(&self) -> impl Iterator<Item = usize> {
        let row = self.image.width * self.image.channels;
        (0..self.size).map(move |index| index * row)
    }

    /// The indices in an image's row of the values of every patch, patch by patch.
    fn indices(&self) -> Vec<i64> {
        let run = self.size * self.image.channels;
        let within: Vec<usize> = self.runs().flat_map(|start| start..start + run).collect();
        let patches = (0..self.count()).map(|patch| self.offset(patch));
        patches
            .flat_map(|offset| within.iter().map(move |index| (offset + index) as i64))
            .collect()
    }

    /// Extracts all patches of the images, image by image.
    ///
    /// # Shapes
    ///
    /// - `images`: `[N, H·W·C]`
    /// - result: `[N·P, size²·C]` with P patches per image
    ///
    /// # Panics
    ///
    /// If the number of columns does not match the image shape.
    #[track_caller]
    pub fn extract(&self, images: Tensor<2>) -> Tensor<2> {
        self.check(&images);
        let [count, _] = images.dims();
        let indices = self.indices();
        let data = TensorData::new(indices, [self.count() * self.dimensions()]);
        let indices = Tensor::<1, Int>::from_data(data, &images.device());
        images
            .select(1, indices)
            .reshape([count * self.count(), self.dimensions()])
    }

    /// Panics unless the rows of `images` are images of this shape.
    #[track_caller]
    pub(crate) fn check(&self, images: &Tensor<2>) {
        let [_, columns] = images.dims();
        assert!(
            columns == self.image.len(),
            "PatchGrid: rows of {columns} values are not images of {} (height, width, channels)",
            self.image
        );
    }

    /// The locations of the patches, in rows and columns of patches from the upper left.
    ///
    /// # Shapes
    ///
    /// - result: `[P, 2]`
    pub fn locations(&self, options: impl Into<TensorCreationOptions>) -> Tensor<2> {
        let columns = self.columns();
        let places = (0..self.count())
            .flat_map(|patch| [(patch / columns) as f64, (patch % columns) as f64]);
        let data = TensorData::new(places.collect::<Vec<f64>>(), [self.count(), 2]);
        Tensor::from_data(data, options)
    }
}
