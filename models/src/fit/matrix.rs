//! Matrices from tensors, slices, arrays and vectors.

use burn::tensor::{DType, Device, Int, Tensor};
use burn_gp_core::ops::{numbers, whole_numbers};

use super::{Error, row_values::CountedRows};

/// A matrix of numbers: inputs `[N, D]` or targets `[N, P]`.
///
/// | from | shape | floating-point type | device |
/// |---|---|---|---|
/// | `Tensor<2>`, `Tensor<1>` | unchanged; a vector is one column | its own; single precision for half precision | its own |
/// | the same tensors of integers | the same | the default of its device | its own |
/// | slices, arrays and vectors of `f32` or `f64` | one column | their own | the default device |
/// | the same of integers or `bool` | one column | the default of the device | the default device |
/// | slices, arrays and vectors of rows: `Vec<Vec<f64>>`, `&[[f32; D]]`, … | one row each | as above | the default device |
/// | `Array2`, `Array1` and other arrays and views of `ndarray` 0.17, with the feature `arrays` | unchanged; a vector is one column | as above | the default device |
///
/// [`Fit::on`](super::Fit::on) chooses another device or type. A default device that has no double
/// precision computes in single precision. Tensors lose their autodiff graph.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_models::Matrix;
///
/// let device = Device::default();
/// assert_eq!(Matrix::from(Tensor::<2>::zeros([3, 2], &device)).dims(), [3, 2]);
/// assert_eq!(Matrix::from([[1, 2], [3, 4], [5, 6]]).dims(), [3, 2]);
/// assert_eq!(Matrix::from(vec![1.0_f32, 2.0, 3.0]).dims(), [3, 1]);
/// ```
#[derive(Clone, Debug)]
pub struct Matrix(Content);

#[derive(Clone, Debug)]
enum Content {
    Floats(Tensor<2>),
    Integers(Tensor<2, Int>),
    Cpu(Rows),
    /// The zero-based row whose length differs from the first.
    Ragged {
        row: usize,
        found: usize,
        expected: usize,
    },
}

/// The values of a matrix on the CPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Row-major.
    pub values: Vec<f64>,
    /// N
    pub count: usize,
    pub columns: usize,
    /// The floating-point type of the source; `None` for integers.
    pub dtype: Option<DType>,
    /// The device of the source; `None` for data on the CPU.
    pub device: Option<Device>,
}

impl Rows {
    /// Leaves the rows that count.
    pub(super) fn select(&mut self, rows: &CountedRows) {
        self.values = rows.select(std::mem::take(&mut self.values));
        self.count = self.values.len() / self.columns.max(1);
    }
}

impl Matrix {
    /// The numbers of rows and columns. If rows differ in length, the first row counts.
    pub fn dims(&self) -> [usize; 2] {
        match &self.0 {
            Content::Floats(tensor) => tensor.dims(),
            Content::Integers(tensor) => tensor.dims(),
            Content::Cpu(rows) => [rows.count, rows.columns],
            Content::Ragged { row, expected, .. } => [row + 1, *expected],
        }
    }

    /// Row-major values on the CPU.
    pub(super) fn of_numbers<T: Number>(values: impl Iterator<Item = T>, dims: [usize; 2]) -> Self {
        let [count, columns] = dims;
        Self(Content::Cpu(Rows {
            values: values.map(Number::number).collect(),
            count,
            columns,
            dtype: T::DTYPE,
            device: None,
        }))
    }

    /// Reads the values of `what`, which must not be empty.
    pub(crate) fn read(self, what: &'static str) -> Result<Rows, Error> {
        let [count, columns] = self.dims();
        let rows = match self.0 {
            Content::Ragged {
                row,
                found,
                expected,
            } => {
                return Err(Error::Ragged {
                    what,
                    row,
                    found,
                    expected,
                });
            }
            _ if count == 0 || columns == 0 => return Err(Error::Empty { what }),
            Content::Cpu(rows) => rows,
            Content::Floats(tensor) => Rows {
                count,
                columns,
                dtype: Some(match tensor.dtype() {
                    DType::F64 => DType::F64,
                    _ => DType::F32,
                }),
                device: Some(tensor.device().inner()),
                values: numbers(tensor.inner()),
            },
            Content::Integers(tensor) => Rows {
                count,
                columns,
                dtype: None,
                device: Some(tensor.device().inner()),
                values: whole_numbers(tensor),
            },
        };
        Ok(rows)
    }
}

impl From<Tensor<2>> for Matrix {
    fn from(tensor: Tensor<2>) -> Self {
        Self(Content::Floats(tensor))
    }
}

impl From<Tensor<1>> for Matrix {
    fn from(tensor: Tensor<1>) -> Self {
        Self(Content::Floats(tensor.unsqueeze_dim(1)))
    }
}

impl From<Tensor<2, Int>> for Matrix {
    fn from(tensor: Tensor<2, Int>) -> Self {
        Self(Content::Integers(tensor))
    }
}

impl From<Tensor<1, Int>> for Matrix {
    fn from(tensor: Tensor<1, Int>) -> Self {
        Self(Content::Integers(tensor.unsqueeze_dim(1)))
    }
}

/// References to tensors, whose clones share their data.
macro_rules! by_reference {
    ($($tensor:ty),*) => {
        $(impl From<&$tensor> for Matrix {
            fn from(tensor: &$tensor) -> Self {
                tensor.clone().into()
            }
        })*
    };
}

by_reference!(Tensor<1>, Tensor<2>, Tensor<1, Int>, Tensor<2, Int>, Matrix);

/// A number type on the CPU.
pub trait Number: Copy {
    /// The floating-point type; `None` for integers.
    const DTYPE: Option<DType>;

    /// The number in double precision.
    fn number(self) -> f64;
}

macro_rules! number {
    ($($type:ty: $dtype:expr => |$value:ident| $number:expr),* $(,)?) => {
        $(impl Number for $type {
            const DTYPE: Option<DType> = $dtype;

            fn number(self) -> f64 {
                let $value = self;
                $number
            }
        })*
    };
}

number! {
    f64: Some(DType::F64) => |value| value,
    f32: Some(DType::F32) => |value| value.into(),
    i64: None => |value| value as f64,
    i32: None => |value| value.into(),
    i16: None => |value| value.into(),
    i8: None => |value| value.into(),
    u64: None => |value| value as f64,
    u32: None => |value| value.into(),
    u16: None => |value| value.into(),
    u8: None => |value| value.into(),
    usize: None => |value| value as f64,
    bool: None => |value| f64::from(u8::from(value)),
}

/// Numbers as one column.
impl<T: Number> From<&[T]> for Matrix {
    fn from(values: &[T]) -> Self {
        Self::of_numbers(values.iter().copied(), [values.len(), 1])
    }
}

/// Rows as a matrix.
fn of_rows<'a, T: Number + 'a>(rows: impl Iterator<Item = &'a [T]> + Clone) -> Matrix {
    let expected = rows.clone().next().map_or(0, <[T]>::len);
    let mut lengths = rows.clone().map(<[T]>::len).enumerate();
    match lengths.find(|(_, found)| *found != expected) {
        Some((row, found)) => Matrix(Content::Ragged {
            row,
            found,
            expected,
        }),
        None => {
            let dims = [rows.clone().count(), expected];
            Matrix::of_numbers(rows.flatten().copied(), dims)
        }
    }
}

impl<T: Number> From<&[Vec<T>]> for Matrix {
    fn from(rows: &[Vec<T>]) -> Self {
        of_rows(rows.iter().map(Vec::as_slice))
    }
}

impl<T: Number, const D: usize> From<&[[T; D]]> for Matrix {
    fn from(rows: &[[T; D]]) -> Self {
        of_rows(rows.iter().map(<[T; D]>::as_slice))
    }
}

/// Vectors, arrays and references to them, by their slices.
macro_rules! by_slice {
    ($([$($parameters:tt)*] $type:ty),* $(,)?) => {
        $(
            impl<T: Number, $($parameters)*> From<$type> for Matrix {
                fn from(values: $type) -> Self {
                    values.as_slice().into()
                }
            }

            impl<T: Number, $($parameters)*> From<&$type> for Matrix {
                fn from(values: &$type) -> Self {
                    values.as_slice().into()
                }
            }
        )*
    };
}

by_slice!(
    [] Vec<T>,
    [] Vec<Vec<T>>,
    [const D: usize] Vec<[T; D]>,
    [const N: usize] [T; N],
    [const N: usize] [Vec<T>; N],
    [const N: usize, const D: usize] [[T; D]; N],
);
