//! Files whose tensor names differ from the module's.
//!
//! The names in a checkpoint begin with the enums that hold the model, such as `Svgp`. Older
//! checkpoints have other enums there, or none.

use std::collections::BTreeSet;

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Bytes, Int, Tensor},
};
use burn_pack::{Error, Reader, Writer};

/// The content of a file with the tensors named as in `module`. `None` unless the beginning of all
/// names is the only difference.
pub fn renamed<M: Module>(module: &M, content: &Bytes) -> Option<Bytes> {
    let reader = Reader::from_bytes(content.clone()).ok()?;
    let expected = names(module);
    let found: Vec<String> = reader
        .tensor_names()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let [old, new] = beginnings([found.first()?, expected.first()?]);
    let rename = |name: &str| Some(format!("{new}{}", name.strip_prefix(old)?));
    let all: Option<BTreeSet<String>> = found.iter().map(|name| rename(name)).collect();
    if old == new || all? != expected {
        return None;
    }
    let tensors = reader.into_tensors().ok()?.into_iter();
    let tensors = tensors.map(|tensor| {
        let (name, dtype, shape, id, bytes) = tensor.into_parts()?;
        let name = rename(&name).unwrap_or(name);
        Ok(burn_pack::Tensor::new(name, dtype, shape, id, bytes))
    });
    let tensors: Result<Vec<_>, Error> = tensors.collect();
    Writer::new(tensors.ok()?).into_bytes().ok()
}

/// The beginnings of two names, without their common ending.
fn beginnings([a, b]: [&str; 2]) -> [&str; 2] {
    let pairs = a.rsplit('.').zip(b.rsplit('.'));
    let common = pairs.take_while(|(a, b)| a == b);
    let length: usize = common.map(|(part, _)| part.len() + 1).sum();
    // The name as a whole has no dot before it.
    [a, b].map(|name| &name[..(name.len() + 1).saturating_sub(length).min(name.len())])
}

/// The names of all tensors of a module.
fn names<M: Module>(module: &M) -> BTreeSet<String> {
    #[derive(Default)]
    struct Names {
        path: Vec<String>,
        all: BTreeSet<String>,
    }
    impl ModuleVisitor for Names {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.path.push(name.to_owned());
        }

        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.path.pop();
        }

        fn visit_float<const D: usize>(&mut self, _parameter: &Param<Tensor<D>>) {
            self.all.insert(self.path.join("."));
        }

        fn visit_int<const D: usize>(&mut self, _parameter: &Param<Tensor<D, Int>>) {
            self.all.insert(self.path.join("."));
        }
    }
    let mut names = Names::default();
    module.visit(&mut names);
    names.all
}

#[cfg(test)]
mod tests {
    use super::beginnings;

    #[test]
    fn beginnings_end_where_names_agree() {
        let cases = [
            (["kernel.x", "Exact.kernel.x"], ["", "Exact."]),
            (
                ["model.Variational.Svgp.x", "model.Svgp.x"],
                ["model.Variational.", "model."],
            ),
            (
                ["model.Network.Dkl.model.network.x", "model.Dkl.network.x"],
                ["model.Network.Dkl.model.", "model.Dkl."],
            ),
            (["x", "x"], ["", ""]),
            (["a.x", "b.y"], ["a.x", "b.y"]),
        ];
        for (names, expected) in cases {
            assert_eq!(beginnings(names), expected, "{names:?}");
        }
    }
}
