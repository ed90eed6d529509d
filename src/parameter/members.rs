//! Modules whose hyperparameters have an axis of members.

use std::collections::BTreeMap;

use burn::{
    module::{Module, ModuleMapper, Param, ParamId},
    tensor::Tensor,
};

use super::tree::{self, Found};
use crate::ops::integer;

/// One module for B members that differ only in the values of their hyperparameters. Every hyperparameter of
/// the result holds the values of all members, one member after the other along its last axis.
///
/// A kernel then computes the covariances of all members in one call, `[B, N1, N2]`. Means and likelihoods take
/// the members as outputs, `[N, B]`. Gradients reach the parameters of the members, so that a stack is good for one
/// backward pass. For a module that is trained itself, stack members [without autodiff](Module::valid) and call
/// [`train`](Module::train).
///
/// All else is that of the first member: networks, features and other parameters in a [`Part`](super::Part), and
/// the bounds of hyperparameters. So members are made from one configuration.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     kernels::{Kernel, StationaryConfig},
///     parameter::{Parameters, stacked},
/// };
///
/// let device = Device::default();
/// let members = [0.5, 2.0].map(|lengthscale| {
///     StationaryConfig::rbf().with_lengthscale(lengthscale).init(1, &device)
/// });
/// let both = stacked(&members);
/// assert_eq!(both.parameter("lengthscale")?.len(), 2);
/// // The covariances of both kernels at one set of three points.
/// let x = Tensor::<3>::from_data([[[0.0], [1.0], [2.0]]], &device);
/// assert_eq!(both.covariance(x.clone(), x).dims(), [2, 3, 3]);
/// # Ok::<(), burn_gp_core::parameter::ParameterError>(())
/// ```
///
/// # Panics
///
/// If there are no members, or their hyperparameters differ in number, size or unit.
#[track_caller]
pub fn stacked<M: Module>(members: &[M]) -> M {
    let mut all = members.iter().map(hyperparameters_of);
    let Some(first) = all.next() else {
        panic!("stacked: no members given");
    };
    let mut values: BTreeMap<ParamId, Vec<Tensor<1>>> = (first.iter())
        .map(|found| (found.id, vec![found.stored()]))
        .collect();
    for other in all {
        assert!(
            other.len() == first.len(),
            "stacked: members with {} and {} hyperparameters",
            first.len(),
            other.len()
        );
        for (first, other) in first.iter().zip(other) {
            assert!(
                first.path == other.path
                    && first.count() == other.count()
                    && exponent(first) == exponent(&other),
                "stacked: members with {} values of {} and {} of {}; expected members of one \
                 configuration, in equal units",
                first.count(),
                first.path,
                other.count(),
                other.path
            );
            if let Some(values) = values.get_mut(&first.id) {
                values.push(other.stored());
            }
        }
    }
    members[0].clone().map(&mut Stacking(values))
}

/// One of the `count` members of a module that [`stacked`] returns. Gradients reach the parameters of that module.
///
/// # Panics
///
/// If there is no such member, or the hyperparameters do not have so many members.
#[track_caller]
pub fn member<M: Module>(module: &M, index: usize, count: usize) -> M {
    assert!(
        index < count,
        "member {index} of {count} members, counted from zero"
    );
    let ids = hyperparameters_of(module).into_iter().map(|found| found.id);
    let ids = ids.collect();
    module.clone().map(&mut Selection { ids, index, count })
}

/// Numbers of B members, flat, as `[B, 1, …, n]`: aligned with B sets of points, `[B, N, D]`, or for n = 1 with
/// their values, `[B, N]`.
pub(crate) fn aligned<const R: usize>(values: Tensor<1>, members: usize) -> Tensor<R> {
    if members == 1 {
        return values.unsqueeze();
    }
    let [count] = values.dims();
    let mut shape = [1; R];
    (shape[0], shape[R - 1]) = (members, count / members);
    values.reshape(shape)
}

fn hyperparameters_of(module: &impl Module) -> Vec<Found> {
    tree::hyperparameters(|listing| module.visit(listing))
}

/// The exponent of the unit of a positive parameter.
fn exponent(of: &Found) -> Option<i64> {
    let (_, exponent) = of.exponent.clone()?;
    Some(integer(exponent))
}

/// Joins the stored numbers of all members along the last axis.
struct Stacking(BTreeMap<ParamId, Vec<Tensor<1>>>);

impl ModuleMapper for Stacking {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(values) = self.0.get(&param.id) else {
            return param;
        };
        param.map(|tensor| {
            let shape = tensor.dims();
            let each = values.iter().map(|values| values.clone().reshape(shape));
            Tensor::cat(each.collect(), D - 1)
        })
    }
}

/// Selects the stored numbers of one member.
struct Selection {
    ids: Vec<ParamId>,
    index: usize,
    count: usize,
}

impl ModuleMapper for Selection {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if !self.ids.contains(&param.id) {
            return param;
        }
        let Self { index, count, .. } = *self;
        param.map(|tensor| {
            let all = tensor.dims()[D - 1];
            assert!(
                all.is_multiple_of(count),
                "a hyperparameter of {all} values for {count} members"
            );
            tensor.narrow(D - 1, index * (all / count), all / count)
        })
    }
}
