//! Building blocks for operations under autodiff. Gradients are first-order only: a gradient is a
//! tensor of the inner backend.

use core::fmt::Debug;

pub use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::{
    Autodiff, Backend,
    autodiff::{
        checkpoint::base::Checkpointer,
        grads::Gradients,
        ops::{Backward, NodeGuard, Ops, OpsKind},
    },
    tensor::FloatTensor,
};

/// Separates autodiff tensors into their values and their graph nodes.
pub fn split<B: Backend, C: CheckpointStrategy, const N: usize>(
    tensors: [FloatTensor<Autodiff<B, C>>; N],
) -> ([FloatTensor<B>; N], [NodeGuard; N]) {
    let mut nodes = Vec::with_capacity(N);
    let values = tensors.map(|tensor| {
        let (values, node) = tensor.into_parts();
        nodes.push(node);
        values
    });
    match nodes.try_into() {
        Ok(nodes) => (values, nodes),
        Err(_) => unreachable!("there is a node for every tensor"),
    }
}

/// One gradient for each parent that needs one, from the state of the forward pass, the gradient of the output
/// and flags that say which parents need one.
type GradientsOf<B, S, const N: usize> =
    fn(S, FloatTensor<B>, [bool; N]) -> [Option<FloatTensor<B>>; N];

/// The backward step of an operation with N parents.
#[derive(Debug)]
struct Step<B: Backend, S, const N: usize>(GradientsOf<B, S, N>);

impl<B: Backend, S, const N: usize> Backward<B, N> for Step<B, S, N>
where
    S: Clone + Send + Debug + 'static,
{
    type State = S;

    fn backward(self, ops: Ops<S, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gradient = grads.consume::<B>(&ops.node);
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let gradients = (self.0)(ops.state, gradient, wanted);
        for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                grads.register::<B>(parent.id, gradient);
            }
        }
    }
}

/// Wraps the output of an operation with its backward step. The state is kept only if a parent is tracked.
pub fn record<B: Backend, C: CheckpointStrategy, S, const N: usize>(
    parents: [NodeGuard; N],
    state: S,
    output: FloatTensor<B>,
    gradients: GradientsOf<B, S, N>,
) -> FloatTensor<Autodiff<B, C>>
where
    S: Clone + Send + Debug + 'static,
{
    let step = Step(gradients).prepare::<C>(parents);
    match step.compute_bound().stateful() {
        OpsKind::Tracked(step) => step.finish(state, output),
        OpsKind::UnTracked(step) => step.finish(output),
    }
}

/// Applies an operation and records a backward step that keeps its input tensors and its other arguments.
pub fn record_inputs<B: Backend, C: CheckpointStrategy, T, const N: usize>(
    tensors: [FloatTensor<Autodiff<B, C>>; N],
    others: T,
    operation: impl FnOnce([FloatTensor<B>; N], T) -> FloatTensor<B>,
    gradients: GradientsOf<B, ([FloatTensor<B>; N], T), N>,
) -> FloatTensor<Autodiff<B, C>>
where
    T: Clone + Send + Debug + 'static,
{
    let (tensors, nodes) = split::<B, C, N>(tensors);
    let output = operation(tensors.clone(), others.clone());
    record::<B, C, _, N>(nodes, (tensors, others), output, gradients)
}
