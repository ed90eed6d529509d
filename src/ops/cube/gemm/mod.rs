//! Matrix products with the full accuracy of the element type.
//!
//! burn's own products may round their inputs to fewer digits on some GPUs (TF32), which is too inaccurate
//! for kernel matrices.

mod kernels;

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use kernels::{add_shares, gemm};

use super::{
    Argument, CubeTensor, count_operations, cubes_for, element, empty_like, matrices, with_shape,
    writable, zeros_like,
};

/// Terms of a product held in shared memory at a time.
const DEPTH: usize = 16;
/// Threads along each side of a cube.
const SIDE: usize = 16;
/// Neighboring values that a thread reads from shared memory at once.
const WIDTH: usize = 4;
/// Number of rows from which a thread computes eight of them, in single precision. Double precision would
/// take too much shared memory.
const TALL: usize = 256;
/// Number of cubes that keeps a GPU busy. If a product has fewer, several cubes share the terms of a tile.
const BUSY: usize = 1024;
/// Minimum number of terms of a share.
const SHARE: usize = 256;
/// Maximum number of shares of a product.
const MOST_SHARES: usize = 64;

/// The part of a product to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The whole product.
    Whole,
    /// The lower triangle, with zeros above the diagonal.
    Lower,
    /// The whole product, computed from its lower triangle because it is known to be symmetric.
    Symmetric,
}

/// Where to write a product.
#[derive(Clone, Debug)]
pub enum Target {
    /// Into a new tensor: `AB`.
    New,
    /// Into a new tensor, with the opposite sign: `−AB`.
    Negative,
    /// Added to a tensor, in place if it has no other owner: `C + AB`.
    Sum(CubeTensor),
    /// Subtracted from a tensor, in place if it has no other owner: `C − AB`.
    Difference(CubeTensor),
}

/// The entries of the left matrix that are read. The others are taken to be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entries {
    /// All entries.
    All,
    /// The entries on and below the diagonal.
    Lower,
    /// The entries on and above the diagonal.
    Upper,
}

/// The form of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// The part to compute.
    pub part: Part,
    /// The entries of the left matrix.
    pub left: Entries,
    /// Whether the products of all members of the batch are added, `Σ_p A_pB_p`, into a matrix
    /// without a batch dimension.
    pub joins: bool,
}

impl Form {
    /// A plain product of which only a part is computed.
    pub fn of(part: Part) -> Self {
        Self {
            part,
            left: Entries::All,
            joins: false,
        }
    }

    /// The whole product with a triangular left matrix.
    pub fn triangular(left: Entries) -> Self {
        Self {
            left,
            ..Self::of(Part::Whole)
        }
    }
}

/// `AB` for matrices `[…, M, K]` and `[…, K, N]`, which may be transposed views.
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn product(left: CubeTensor, right: CubeTensor, into: Target, part: Part) -> CubeTensor {
    product_of(left, right, into, Form::of(part))
}

/// [`product`] of any form.
#[track_caller]
pub fn product_of(left: CubeTensor, right: CubeTensor, into: Target, form: Form) -> CubeTensor {
    let mut shape = left.shape();
    let rank = shape.num_dims();
    let (given, other) = (shape.clone(), right.shape());
    assert!(
        given[rank - 1] == other[rank - 2]
            && given.as_slice()[..rank - 2] == other.as_slice()[..rank - 2],
        "product of {given:?} and {other:?}: expected […, M, K] and […, K, N]"
    );
    shape.as_mut_slice()[rank - 1] = other[rank - 1];
    let (left, right) = (matrices(left), matrices(right));
    let (mut batch, rows, columns) = (left.shape()[0], left.shape()[1], right.shape()[2]);
    if form.joins {
        batch = 1;
        shape = [rows, columns].into();
    }
    let negative = matches!(into, Target::Negative | Target::Difference(_));
    let start = match into {
        Target::New | Target::Negative => None,
        Target::Sum(start) | Target::Difference(start) => Some(writable(start)),
    };
    let adds = start.is_some();
    let has_terms = left.shape().num_elements() > 0 && right.shape().num_elements() > 0;
    let out = match start {
        Some(start) => start,
        None if has_terms => empty_like(&left, shape),
        None => zeros_like(&left, shape),
    };
    if has_terms {
        let target = with_shape(out.clone(), [batch, rows, columns]);
        let output = Output {
            adds,
            negative,
            part: form.part,
        };
        Launch::of(&left, &target, form).run(left, right, target, output);
    }
    out
}

/// How to write sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Output {
    /// Whether to add them to the existing values
    adds: bool,
    /// Whether to change their sign
    negative: bool,
    part: Part,
}

/// How a product is divided among cubes.
struct Launch {
    form: Form,
    tiles: Tiles,
    /// The number of shares into which the terms are divided
    shares: usize,
}

impl Launch {
    fn of(left: &CubeTensor, out: &CubeTensor, form: Form) -> Self {
        let (batch, rows, columns) = (out.shape()[0], out.shape()[1], out.shape()[2]);
        let is_single = out.dtype.size() == 4;
        let own = |count: usize| if count > SIDE { 4 } else { 1 };
        let tiles = Tiles {
            rows: if is_single && rows >= TALL {
                8
            } else {
                own(rows)
            },
            columns: own(columns),
            // Rows of 17 or 33 vectors spread the threads of a column over different banks of shared memory.
            padding: usize::from(is_single),
            ..Tiles::default()
        };
        let cubes = batch * tiles.count(rows, columns, form.part);
        let most = (left.shape()[2] / SHARE).clamp(1, MOST_SHARES);
        Self {
            form,
            tiles,
            shares: (BUSY / cubes.max(1)).clamp(1, most),
        }
    }

    fn run(self, left: CubeTensor, right: CubeTensor, out: CubeTensor, output: Output) {
        if self.shares == 1 {
            return self.multiply(left, right, out, output);
        }
        let (batch, rows, columns) = (out.shape()[0], out.shape()[1], out.shape()[2]);
        let shares = empty_like(&out, [self.shares * batch, rows, columns]);
        let (client, dtype) = (out.client.clone(), element(&out));
        let of_share = Output {
            adds: false,
            negative: false,
            part: match output.part {
                Part::Whole => Part::Whole,
                Part::Lower | Part::Symmetric => Part::Lower,
            },
        };
        self.multiply(left, right, shares.clone(), of_share);
        let (count, dim) = cubes_for(&out, batch * rows * columns);
        let address = [&shares, &out].map(|tensor| tensor.required_address_type());
        // SAFETY: the kernel checks every index against the shapes of the tensors.
        unsafe {
            add_shares::launch_unchecked(
                &client,
                count,
                dim,
                address.into_iter().max().unwrap_or_default(),
                shares.argument(),
                out.argument(),
                output,
                dtype,
            );
        }
    }

    /// The product of each share of the terms, `[shares·batch, M, N]`.
    fn multiply(self, left: CubeTensor, right: CubeTensor, out: CubeTensor, output: Output) {
        let (members, rows, columns) = (out.shape()[0], out.shape()[1], out.shape()[2]);
        let terms = left.shape()[2];
        let tiles = Tiles {
            left_by_columns: left.meta.strides()[1] == 1 && left.meta.strides()[2] != 1,
            right_by_columns: right.meta.strides()[1] == 1 && right.meta.strides()[2] != 1,
            ..self.tiles
        };
        let (form, batch) = (self.form, members / self.shares);
        let count =
            members * rows.div_ceil(tiles.rows * SIDE) * columns.div_ceil(tiles.columns * SIDE);
        let multiplied = if form.joins { left.shape()[0] } else { batch };
        count_operations(
            2 * multiplied * tiles.multiply_adds(rows, columns, terms, output.part, form.left),
        );
        let (client, dtype) = (left.client.clone(), element(&left));
        let address = [&left, &right, &out].map(|tensor| tensor.required_address_type());
        // SAFETY: the kernel checks every index against the shapes of the tensors.
        unsafe {
            gemm::launch_unchecked(
                &client,
                cubecl::calculate_cube_count_elemwise(&client, count, CubeDim::new_1d(1)),
                CubeDim::new_2d(SIDE as u32, SIDE as u32),
                address.into_iter().max().unwrap_or_default(),
                tiles.left_width(),
                tiles.right_width(),
                left.argument(),
                right.argument(),
                out.argument(),
                batch,
                terms.div_ceil(self.shares).next_multiple_of(DEPTH),
                output,
                form,
                tiles,
                dtype,
            );
        }
    }
}

/// How the work of a cube is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Tiles {
    /// Rows per thread
    rows: usize,
    /// Columns per thread
    columns: usize,
    /// Unused vectors at the end of a row in shared memory
    padding: usize,
    /// Whether neighbors in a column of the left matrix are neighbors in memory
    left_by_columns: bool,
    /// Whether neighbors in a column of the right matrix are neighbors in memory
    right_by_columns: bool,
}

impl Tiles {
    /// Values in a vector of neighboring rows
    fn left_width(&self) -> usize {
        self.rows.min(WIDTH)
    }

    /// Values in a vector of neighboring columns
    fn right_width(&self) -> usize {
        self.columns.min(WIDTH)
    }

    /// Vectors of rows per thread
    fn left_vectors(&self) -> usize {
        self.rows / self.left_width()
    }

    /// Vectors of columns per thread
    fn right_vectors(&self) -> usize {
        self.columns / self.right_width()
    }

    /// Vectors for one term in shared memory
    fn left_row(&self) -> usize {
        self.left_vectors() * SIDE + self.padding
    }

    /// Vectors for one term in shared memory
    fn right_row(&self) -> usize {
        self.right_vectors() * SIDE + self.padding
    }

    /// The number of tiles in the computed part of a matrix.
    fn count(&self, rows: usize, columns: usize, part: Part) -> usize {
        let (tall, wide) = (self.rows * SIDE, self.columns * SIDE);
        let across = |first: usize| match part {
            Part::Whole => columns.div_ceil(wide),
            Part::Lower | Part::Symmetric => columns.min(first + tall).div_ceil(wide),
        };
        (0..rows).step_by(tall).map(across).sum()
    }

    /// The multiply-adds of a product `[rows, terms]` with `[terms, columns]` by these tiles.
    fn multiply_adds(
        &self,
        rows: usize,
        columns: usize,
        terms: usize,
        part: Part,
        left: Entries,
    ) -> usize {
        let (tall, wide) = (self.rows * SIDE, self.columns * SIDE);
        let of_rows = (0..rows).step_by(tall).map(|first| {
            let terms = match left {
                Entries::All => terms,
                Entries::Lower => terms.min(first + tall),
                Entries::Upper => terms.saturating_sub(first),
            };
            let tiles = match part {
                Part::Whole => columns.div_ceil(wide),
                Part::Lower | Part::Symmetric => columns.min(first + tall).div_ceil(wide),
            };
            tiles * tall * wide * terms.next_multiple_of(DEPTH)
        });
        of_rows.sum()
    }
}
