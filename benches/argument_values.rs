//! Values of the options of the GPU benchmarks.

use std::str::FromStr;

use burn::tensor::DType;

pub fn dtype(word: &str) -> Result<DType, String> {
    match word {
        "f32" => Ok(DType::F32),
        "f64" => Ok(DType::F64),
        _ => Err(format!("{word} is neither f32 nor f64")),
    }
}

pub fn number<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{word} is not a number"))
}
