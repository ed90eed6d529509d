//! The reverse mode of every operation, written once for the autodiff backend over any backend
//! that supplies the primitives.
//!
//! First order only: a gradient is a tensor of the inner backend.

use burn::backend::{
    Autodiff, AutodiffBackend, TensorMetadata,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, NodeGuard, Ops, OpsKind},
    },
    tensor::FloatTensor,
};

use super::{
    SpecialFunction, Stationary,
    extension::{FactorizationOutcome, LinearAlgebra, LinearAlgebraReverse},
    factor::Jitter,
    host::{products::BlockPairs, relaxation::Widths, triangular::Side},
    host_access::matrix_dims,
    relaxation::MemoryAnswer,
};
use crate::patches::PatchGrid;

/// Puts the steps of operations into the graph.
trait Record<B: LinearAlgebraReverse, const N: usize>: Backward<B, N> {
    /// The output with its step, which keeps the state if a parent is tracked.
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

impl<B: LinearAlgebraReverse, const N: usize, S: Backward<B, N>> Record<B, N> for S {}

/// Defines a reverse step: its state, and from the gradient of the output one gradient for each
/// parent that asks for one.
macro_rules! reverse_step {
    (
        $(#[$doc:meta])*
        $name:ident [$parents:literal] ($state:ident: $state_type:ty, $gradient:ident)
            -> $gradients:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        struct $name;

        impl<B: LinearAlgebraReverse> Backward<B, $parents> for $name {
            type State = $state_type;

            fn backward(
                self,
                ops: Ops<Self::State, $parents>,
                grads: &mut Gradients,
                _checkpointer: &mut Checkpointer,
            ) {
                let $gradient = grads.consume::<B>(&ops.node);
                let $state = ops.state;
                let wanted = ops.parents.each_ref().map(Option::is_some);
                let gradients: [Option<FloatTensor<B>>; $parents] = $gradients(wanted);
                for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
                    if let (Some(parent), Some(gradient)) = (parent, gradient) {
                        grads.register::<B>(parent.id, gradient);
                    }
                }
            }
        }
    };
}

mod log_density;
mod patches;
mod products;
mod relaxation;
mod remainder;

reverse_step!(
    CovarianceStep[4](state: ([FloatTensor<B>; 4], Stationary), gradient) -> |_| {
        let ([x1, x2, lengthscales, variance], kind) = state;
        B::covariance_reverse(x1, x2, lengthscales, variance, gradient, kind).map(Some)
    }
);

reverse_step!(
    CholeskyStep[1](state: (FloatTensor<B>, Vec<f64>), gradient) -> |_| {
        let (factor, jitter) = state;
        [Some(B::cholesky_reverse(factor, gradient, jitter))]
    }
);

reverse_step!(
    FromLowerStep[1](state: FloatTensor<B>, gradient) -> |_| {
        [Some(B::factor_from_lower_reverse(state, gradient))]
    }
);

reverse_step!(
    LowerStep[1](state: FloatTensor<B>, gradient) -> |_| {
        [Some(B::lower_cotangent(state, gradient))]
    }
);

reverse_step!(
    /// With `X = L⁻¹B`: `B̄ = L⁻ᵀX̄` and `LᵀL̄ = −X̄Xᵀ`. With `X = L⁻ᵀB`: `B̄ = L⁻¹X̄` and
    /// `LᵀL̄ = −B·B̄ᵀ`. The saved tensor is `X` in the first case, `B` in the second.
    SolveStep[2](state: (FloatTensor<B>, FloatTensor<B>, Side), gradient) -> |wanted: [bool; 2]| {
        let (factor, saved, side) = state;
        let rhs = (wanted[1] || side == Side::Transposed)
            .then(|| B::factor_solve(factor, gradient.clone(), side.opposite()));
        let cotangent = wanted[0].then(|| match (side, rhs.clone()) {
            (Side::Transposed, Some(rhs)) => B::negative_lower_product(saved, rhs),
            _ => B::negative_lower_product(gradient, saved),
        });
        [cotangent, rhs]
    }
);

reverse_step!(
    LogDeterminantStep[1](state: FloatTensor<B>, gradient) -> |_| {
        [Some(B::log_determinant_reverse(state, gradient))]
    }
);

reverse_step!(
    ProjectedMomentsStep[3](state: [FloatTensor<B>; 4], gradient) -> |_| {
        let [basis, mean, scale, projected] = state;
        B::projected_moments_reverse(basis, mean, scale, projected, gradient).map(Some)
    }
);

reverse_step!(
    ColumnSquaresStep[1](state: FloatTensor<B>, gradient) -> |_| {
        [Some(B::column_squares_reverse(state, gradient))]
    }
);

reverse_step!(
    GramStep[1](state: (FloatTensor<B>, Side), gradient) -> |_| {
        let (basis, side) = state;
        [Some(B::gram_reverse(basis, gradient, side))]
    }
);

reverse_step!(
    TriangularProductStep[2](state: (FloatTensor<B>, FloatTensor<B>, Side), gradient)
        -> |wanted: [bool; 2]| {
        let (lower, rhs, side) = state;
        let triangle = wanted[0].then(|| match side {
            Side::Lower => B::lower_of_product(gradient.clone(), rhs),
            Side::Transposed => B::lower_of_product(rhs, gradient.clone()),
        });
        let rhs = wanted[1].then(|| B::triangular_product(lower, gradient, side.opposite()));
        [triangle, rhs]
    }
);

reverse_step!(
    ColumnProductsStep[2](state: [FloatTensor<B>; 2], gradient) -> |_| {
        let [left, right] = state;
        B::column_products_reverse(left, right, gradient).map(Some)
    }
);

reverse_step!(
    /// The state says whether there is a value for every entry of the diagonal.
    DiagonalStep[2](state: bool, gradient) -> |wanted: [bool; 2]| {
        let sum = if state { B::diagonal } else { B::trace };
        let value = wanted[1].then(|| sum(gradient.clone()));
        [Some(gradient), value]
    }
);

reverse_step!(
    GaussianKlStep[2](state: [FloatTensor<B>; 2], gradient) -> |_| {
        let [mean, scale] = state;
        B::gaussian_kl_reverse(mean, scale, gradient).map(Some)
    }
);

reverse_step!(
    LayerNormalizationStep[3](state: ([FloatTensor<B>; 2], f64), gradient) -> |_| {
        let ([x, scale], epsilon) = state;
        B::layer_normalization_reverse(x, scale, gradient, epsilon).map(Some)
    }
);

reverse_step!(
    SpecialStep[1](state: (FloatTensor<B>, SpecialFunction), gradient) -> |_| {
        let (x, function) = state;
        [Some(B::special_reverse(x, gradient, function))]
    }
);

impl<B: LinearAlgebraReverse, C: CheckpointStrategy> LinearAlgebra for Autodiff<B, C> {
    fn covariance(
        x1: FloatTensor<Self>,
        x2: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        kind: Stationary,
    ) -> FloatTensor<Self> {
        let (x1, x1_node) = x1.into_parts();
        let (x2, x2_node) = x2.into_parts();
        let (lengthscales, lengthscales_node) = lengthscales.into_parts();
        let (variance, variance_node) = variance.into_parts();
        let output = B::covariance(
            x1.clone(),
            x2.clone(),
            lengthscales.clone(),
            variance.clone(),
            kind,
        );
        CovarianceStep.record::<C>(
            [x1_node, x2_node, lengthscales_node, variance_node],
            ([x1, x2, lengthscales, variance], kind),
            output,
        )
    }

    fn patch_covariance(
        inducing: FloatTensor<Self>,
        images: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<Self> {
        let arguments = [inducing, images, lengthscales, variance, weights];
        patches::covariance::<B, C>(arguments, kind, grid)
    }

    fn patch_variance(
        images: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<Self> {
        patches::variance::<B, C>([images, lengthscales, variance, weights], kind, grid)
    }

    fn covariance_product(
        x1: FloatTensor<Self>,
        x2: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        vectors: FloatTensor<Self>,
        kind: Stationary,
        same: bool,
    ) -> FloatTensor<Self> {
        products::dense::<B, C>([x1, x2, lengthscales, variance, vectors], kind, same)
    }

    fn block_covariance(
        points: FloatTensor<Self>,
        others: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        values: FloatTensor<Self>,
        kind: Stationary,
        pairs: BlockPairs,
    ) -> FloatTensor<Self> {
        let arguments = [points, others, lengthscales, variance, values];
        products::blocked::<B, C>(arguments, kind, pairs)
    }

    fn cholesky(
        matrix: FloatTensor<Self>,
        jitter: Jitter,
        outcome: FactorizationOutcome,
    ) -> FloatTensor<Self> {
        let (matrix, node) = matrix.into_parts();
        let factor = B::cholesky(matrix, jitter, outcome.clone());
        CholeskyStep.record::<C>([node], (factor.clone(), outcome.added()), factor)
    }

    fn factor_from_lower(
        matrix: FloatTensor<Self>,
        outcome: FactorizationOutcome,
    ) -> FloatTensor<Self> {
        let (matrix, node) = matrix.into_parts();
        let factor = B::factor_from_lower(matrix, outcome);
        FromLowerStep.record::<C>([node], factor.clone(), factor)
    }

    fn lower_of_factor(factor: FloatTensor<Self>) -> FloatTensor<Self> {
        let (factor, node) = factor.into_parts();
        let lower = B::lower_of_factor(factor.clone());
        LowerStep.record::<C>([node], factor, lower)
    }

    fn factor_solve(
        factor: FloatTensor<Self>,
        rhs: FloatTensor<Self>,
        side: Side,
    ) -> FloatTensor<Self> {
        let (factor, factor_node) = factor.into_parts();
        let (rhs, rhs_node) = rhs.into_parts();
        let solution = B::factor_solve(factor.clone(), rhs.clone(), side);
        let saved = match side {
            Side::Lower => solution.clone(),
            Side::Transposed => rhs,
        };
        SolveStep.record::<C>([factor_node, rhs_node], (factor, saved, side), solution)
    }

    fn factor_log_determinant(factor: FloatTensor<Self>) -> FloatTensor<Self> {
        let (factor, node) = factor.into_parts();
        let output = B::factor_log_determinant(factor.clone());
        LogDeterminantStep.record::<C>([node], factor, output)
    }

    fn gaussian_log_density(
        covariance: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        jitter: Jitter,
        outcome: FactorizationOutcome,
    ) -> FloatTensor<Self> {
        log_density::gaussian_log_density::<B, C>([covariance, residual], jitter, outcome)
    }

    fn projected_moments(
        basis: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        scale: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let (basis, basis_node) = basis.into_parts();
        let (mean, mean_node) = mean.into_parts();
        let (scale, scale_node) = scale.into_parts();
        let [moments, projected] =
            B::projected_moments_saving(basis.clone(), mean.clone(), scale.clone());
        ProjectedMomentsStep.record::<C>(
            [basis_node, mean_node, scale_node],
            [basis, mean, scale, projected],
            moments,
        )
    }

    fn column_squares(basis: FloatTensor<Self>) -> FloatTensor<Self> {
        let (basis, node) = basis.into_parts();
        let output = B::column_squares(basis.clone());
        ColumnSquaresStep.record::<C>([node], basis, output)
    }

    fn gram(basis: FloatTensor<Self>, side: Side) -> FloatTensor<Self> {
        let (basis, node) = basis.into_parts();
        let output = B::gram(basis.clone(), side);
        GramStep.record::<C>([node], (basis, side), output)
    }

    fn remainder(
        matrix: FloatTensor<Self>,
        left: FloatTensor<Self>,
        right: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        remainder::remainder::<B, C>([matrix, left, right])
    }

    fn triangular_product(
        lower: FloatTensor<Self>,
        rhs: FloatTensor<Self>,
        side: Side,
    ) -> FloatTensor<Self> {
        let (lower, lower_node) = lower.into_parts();
        let (rhs, rhs_node) = rhs.into_parts();
        let output = B::triangular_product(lower.clone(), rhs.clone(), side);
        TriangularProductStep.record::<C>([lower_node, rhs_node], (lower, rhs, side), output)
    }

    fn column_products(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self> {
        let (left, left_node) = left.into_parts();
        let (right, right_node) = right.into_parts();
        let output = B::column_products(left.clone(), right.clone());
        ColumnProductsStep.record::<C>([left_node, right_node], [left, right], output)
    }

    fn congruence(matrix: FloatTensor<Self>, lower: FloatTensor<Self>) -> FloatTensor<Self> {
        let ((matrix, _), (lower, _)) = (matrix.into_parts(), lower.into_parts());
        Self::from_inner(B::congruence(matrix, lower))
    }

    fn identity_distance(matrix: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::from_inner(B::identity_distance(matrix.into_parts().0))
    }

    fn inversion_step(
        lower: FloatTensor<Self>,
        matrix: FloatTensor<Self>,
        step_size: f64,
    ) -> FloatTensor<Self> {
        let ((lower, _), (matrix, _)) = (lower.into_parts(), matrix.into_parts());
        Self::from_inner(B::inversion_step(lower, matrix, step_size))
    }

    fn relaxed_terms(
        kuu: FloatTensor<Self>,
        variances: FloatTensor<Self>,
        lower: FloatTensor<Self>,
        kuf: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        probes: FloatTensor<Self>,
        widths: Widths,
    ) -> FloatTensor<Self> {
        relaxation::terms::<B, C>([kuu, variances, lower], [kuf, mean, probes], widths)
    }

    fn ask_memory(tensor: FloatTensor<Self>, answer: MemoryAnswer) -> FloatTensor<Self> {
        let inner = tensor.clone().into_parts().0;
        B::ask_memory(inner, answer);
        tensor
    }

    fn add_to_diagonal(matrix: FloatTensor<Self>, value: FloatTensor<Self>) -> FloatTensor<Self> {
        let (matrix, matrix_node) = matrix.into_parts();
        let (value, value_node) = value.into_parts();
        let each = value.shape()[0] > matrix_dims(&matrix.shape()).0;
        let output = B::add_to_diagonal(matrix, value);
        DiagonalStep.record::<C>([matrix_node, value_node], each, output)
    }

    fn gaussian_kl(mean: FloatTensor<Self>, scale: FloatTensor<Self>) -> FloatTensor<Self> {
        let (mean, mean_node) = mean.into_parts();
        let (scale, scale_node) = scale.into_parts();
        let output = B::gaussian_kl(mean.clone(), scale.clone());
        GaussianKlStep.record::<C>([mean_node, scale_node], [mean, scale], output)
    }

    fn layer_normalization(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        epsilon: f64,
    ) -> FloatTensor<Self> {
        let [x, scale, shift] = [x, scale, shift].map(|t| t.into_parts());
        let nodes = [x.1, scale.1, shift.1];
        let output = B::layer_normalization(x.0.clone(), scale.0.clone(), shift.0, epsilon);
        LayerNormalizationStep.record::<C>(nodes, ([x.0, scale.0], epsilon), output)
    }

    fn special(x: FloatTensor<Self>, function: SpecialFunction) -> FloatTensor<Self> {
        let (x, node) = x.into_parts();
        let output = B::special(x.clone(), function);
        SpecialStep.record::<C>([node], (x, function), output)
    }
}
