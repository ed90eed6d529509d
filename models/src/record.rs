//! Parameter values of modules in files.

use std::{fs, path::Path};

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    store::{ModuleRecord, RecordError},
    tensor::{Bytes, DType, Tensor},
};

/// The reason why a file does not match a module.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read, or its tensors do not match the module's.
    #[error("{0}")]
    Record(RecordError),
    /// The file has a different floating-point type.
    #[error(
        "its values have type {}, but the model has type {}; use the type it was written in",
        .found.name(),
        .expected.name()
    )]
    Type {
        /// The type in the file.
        found: DType,
        /// The type of the module.
        expected: DType,
    },
}

impl From<RecordError> for LoadError {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

impl From<std::io::Error> for LoadError {
    fn from(error: std::io::Error) -> Self {
        Self::Record(RecordError::Io(error.to_string()))
    }
}

/// Loads the parameter values of a module from a file.
///
/// burn accepts a file of any floating-point type, but mixed types panic in the next operation.
/// This function therefore checks the type.
///
/// # Errors
///
/// When the file cannot be read, or has other tensors or a different floating-point type.
pub fn load_module<M: Module>(module: M, path: &Path) -> Result<M, LoadError> {
    module_from_bytes(module, fs::read(path)?)
}

/// Same as [`load_module`], for the content of a file.
///
/// # Errors
///
/// When the content has other tensors or a different floating-point type.
pub fn module_from_bytes<M: Module>(module: M, content: Vec<u8>) -> Result<M, LoadError> {
    let expected = float_types(&module);
    of_types(expected, filled(module, content)?)
}

/// Same as [`module_from_bytes`], for values of the type `written`, which are converted to the types
/// of the module.
///
/// # Errors
///
/// When the content has other tensors or a floating-point type other than `written`.
pub(crate) fn converted_module<M: Module>(
    module: M,
    content: Vec<u8>,
    written: DType,
) -> Result<M, LoadError> {
    let types = float_types(&module);
    let filled = of_types(vec![written; types.len()], filled(module, content)?)?;
    Ok(filled.map(&mut Conversion(types.into_iter())))
}

fn filled<M: Module>(module: M, content: Vec<u8>) -> Result<M, LoadError> {
    let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(content))?;
    Ok(module.try_load_record(record)?)
}

/// The module, if its floating-point tensors are of the expected types.
fn of_types<M: Module>(expected: Vec<DType>, module: M) -> Result<M, LoadError> {
    let found = float_types(&module);
    match expected.into_iter().zip(found).find(|(a, b)| a != b) {
        Some((expected, found)) => Err(LoadError::Type { found, expected }),
        None => Ok(module),
    }
}

/// Converts each floating-point tensor to its type.
struct Conversion(std::vec::IntoIter<DType>);

impl ModuleMapper for Conversion {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        match self.0.next() {
            Some(dtype) if dtype != parameter.val().dtype() => {
                parameter.map(|tensor| tensor.cast(dtype))
            }
            _ => parameter,
        }
    }
}

/// The type of each floating-point tensor.
fn float_types(module: &impl Module) -> Vec<DType> {
    struct Types(Vec<DType>);
    impl ModuleVisitor for Types {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
            self.0.push(parameter.val().dtype());
        }
    }
    let mut types = Types(Vec::new());
    module.visit(&mut types);
    types.0
}
