//! Images as rows of numbers, and their patches.
//!
//! An image is a row of `height·width·channels` numbers, pixel after pixel from the upper left, with
//! the channels of a pixel side by side. So is what a layer with a feature map gives: the next layer
//! takes it as an image with as many channels as it has functions.

use burn::tensor::{Int, Tensor, TensorCreationOptions, TensorData};
use serde::{Deserialize, Serialize};

/// The shape of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageShape {
    /// Rows of pixels, H.
    pub height: usize,
    /// Columns of pixels, W.
    pub width: usize,
    /// Numbers a pixel, C.
    pub channels: usize,
}

impl ImageShape {
    /// An image of `height` rows of `width` pixels with `channels` numbers each.
    pub fn new(height: usize, width: usize, channels: usize) -> Self {
        Self {
            height,
            width,
            channels,
        }
    }

    /// The numbers of an image, `H·W·C`.
    pub fn len(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// Whether there are none.
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

/// Why an image has no patches of a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The size or the stride is zero.
    #[error("patches of size {size} with stride {stride}: both are at least 1")]
    Zero {
        /// Rows and columns of a patch.
        size: usize,
        /// Pixels from one patch to the next.
        stride: usize,
    },
    /// A patch is larger than the image.
    #[error("patches of size {size} do not fit into an image of {image} (height, width, channels)")]
    TooLarge {
        /// Rows and columns of a patch.
        size: usize,
        /// The image.
        image: ImageShape,
    },
}

/// The patches of an image: squares of `size` by `size` pixels with all channels, every `stride`
/// pixels, none of them over the edge.
///
/// Patches are counted row by row, and the numbers of a patch are in the order of an image's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchGrid {
    image: ImageShape,
    size: usize,
    stride: usize,
}

impl PatchGrid {
    /// The patches of `image` with `size` rows and columns, `stride` pixels apart.
    ///
    /// # Errors
    ///
    /// When there are none.
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

    /// The image.
    pub fn image(&self) -> ImageShape {
        self.image
    }

    /// Rows and columns of a patch.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Pixels from one patch to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Rows of patches.
    pub fn rows(&self) -> usize {
        (self.image.height - self.size) / self.stride + 1
    }

    /// Columns of patches.
    pub fn columns(&self) -> usize {
        (self.image.width - self.size) / self.stride + 1
    }

    /// Patches of an image.
    pub fn count(&self) -> usize {
        self.rows() * self.columns()
    }

    /// Numbers of a patch, `size²·C`.
    pub fn dimensions(&self) -> usize {
        self.size * self.size * self.image.channels
    }

    /// The feature map of functions with `outputs` values at every patch: an image with a pixel a
    /// patch and a channel a function.
    pub fn map(&self, outputs: usize) -> ImageShape {
        ImageShape::new(self.rows(), self.columns(), outputs)
    }

    /// Where in an image's row a patch starts.
    pub fn offset(&self, patch: usize) -> usize {
        let (row, column) = (patch / self.columns(), patch % self.columns());
        self.stride * (row * self.image.width + column) * self.image.channels
    }

    /// Where in an image's row the numbers of patch zero are: runs of `size·C` consecutive numbers,
    /// one a row of the patch, of which these are the starts. Those of another patch are as many
    /// [`offset`](Self::offset)s further.
    pub fn runs(&self) -> impl Iterator<Item = usize> {
        let row = self.image.width * self.image.channels;
        (0..self.size).map(move |index| index * row)
    }

    /// Where in an image's row the numbers of every patch are, patch after patch.
    fn indices(&self) -> Vec<i64> {
        let run = self.size * self.image.channels;
        let within: Vec<usize> = self.runs().flat_map(|start| start..start + run).collect();
        let patches = (0..self.count()).map(|patch| self.offset(patch));
        patches
            .flat_map(|offset| within.iter().map(move |index| (offset + index) as i64))
            .collect()
    }

    /// All patches of images, those of an image one after the other.
    ///
    /// # Shapes
    ///
    /// - `images`: `[N, H·W·C]`
    /// - result: `[N·P, size²·C]` with P patches an image
    ///
    /// # Panics
    ///
    /// If the images have another number of columns.
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
            "PatchGrid: rows of {columns} numbers are no images of {} (height, width, channels)",
            self.image
        );
    }

    /// Where the patches are, in rows and columns of patches from the upper left one.
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
