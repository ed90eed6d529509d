//! Building blocks for operations under autodiff. Gradients are first-order only: a gradient is a
//! tensor of the inner backend.

pub use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::{
    Autodiff, Backend,
    autodiff::ops::{Backward, NodeGuard, OpsKind},
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

/// Records the backward step of an operation in the graph.
pub trait Record<B: Backend, const N: usize>: Backward<B, N> {
    /// Wraps the output with its backward step. The state is kept only if a parent is tracked.
    fn record<C: CheckpointStrategy>(
        self,
        parents: [NodeGuard; N],
        state: Self::State,
        output: FloatTensor<B>,
    ) -> FloatTensor<Autodiff<B, C>> {
        match self.prepare::<C>(parents).compute_bound().stateful() {
            OpsKind::Tracked(step) => step.finish(state, output),
            OpsKind::UnTracked(step) => step.finish(output),
        }
    }
}

impl<B: Backend, const N: usize, S: Backward<B, N>> Record<B, N> for S {}

/// Defines a backward step for all backends that implement a trait: the state it keeps, and how it
/// computes one gradient for each parent that needs one from the gradient of the output.
macro_rules! backward_step {
    (
        $(#[$doc:meta])*
        $name:ident: $backend:ident [$parents:expr] ($state:ident: $state_type:ty, $gradient:ident)
            -> $gradients:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        struct $name;

        impl<B: $backend> burn::backend::autodiff::ops::Backward<B, { $parents }> for $name {
            type State = $state_type;

            fn backward(
                self,
                ops: burn::backend::autodiff::ops::Ops<Self::State, { $parents }>,
                grads: &mut burn::backend::autodiff::grads::Gradients,
                _: &mut burn::backend::autodiff::checkpoint::base::Checkpointer,
            ) {
                let $gradient = grads.consume::<B>(&ops.node);
                let $state = ops.state;
                let wanted = ops.parents.each_ref().map(Option::is_some);
                let gradients: [Option<FloatTensor<B>>; { $parents }] = $gradients(wanted);
                for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
                    if let (Some(parent), Some(gradient)) = (parent, gradient) {
                        grads.register::<B>(parent.id, gradient);
                    }
                }
            }
        }
    };
}
pub(super) use backward_step;

/// Defines an autodiff operation whose backward step keeps its input tensors and any arguments
/// after a semicolon, and computes the gradients of the inputs from these, the gradient of the
/// output and flags that say which gradients are needed.
macro_rules! record_inputs {
    (
        $backend:ident, $operation:ident($($tensor:ident),+ $(; $($other:ident: $type:ty),+)?),
        |$gradient:ident, $wanted:pat_param| $gradients:expr
    ) => {
        fn $operation(
            $($tensor: FloatTensor<Self>,)+
            $($($other: $type),+)?
        ) -> FloatTensor<Self> {
            const COUNT: usize = [$(stringify!($tensor)),+].len();
            crate::ops::backward::backward_step!(
                Step: $backend [COUNT](
                    state: ([FloatTensor<B>; COUNT], ($($($type,)+)?)),
                    $gradient
                ) -> |$wanted: [bool; COUNT]| {
                    #[allow(unused_variables, reason = "not every gradient needs all inputs")]
                    let ([$($tensor),+], ($($($other,)+)?)) = state;
                    $gradients
                }
            );
            let (inputs, nodes) = crate::ops::backward::split::<B, C, _>([$($tensor),+]);
            let [$($tensor),+] = inputs.clone();
            let output = B::$operation($($tensor,)+ $($($other),+)?);
            Step.record::<C>(nodes, (inputs, ($($($other,)+)?)), output)
        }
    };
}
pub(super) use record_inputs;
