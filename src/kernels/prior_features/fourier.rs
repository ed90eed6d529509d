//! Random Fourier features whose gradients reach the hyperparameters.

use burn::tensor::{Tensor, TensorCreationOptions, TensorData};

use super::FeatureBlocks;
use crate::{
    kernels::SpectralSample,
    ops::ExactMatmul,
    parameter::{Positive, both_tracked, vector},
};

/// `σ·cos ωᵀx` and `σ·sin ωᵀx` for F frequencies ω of each of C components with variance σ² (A.
/// Rahimi and B. Recht, *Random Features for Large-Scale Kernel Machines*, 2007).
#[derive(Clone, Debug)]
pub(in crate::kernels) struct FourierFeatures {
    /// ω, `[C, F, D]`
    frequencies: Tensor<3>,
    /// σ, `[C]`
    deviations: Tensor<1>,
}

impl FourierFeatures {
    /// The features of components with `count` frequencies each.
    pub fn new(
        components: Vec<SpectralSample>,
        (count, dimensions): (usize, usize),
        options: TensorCreationOptions,
    ) -> Self {
        let shape = [components.len(), count, dimensions];
        let deviations = components.iter().map(|component| component.variance.sqrt());
        let deviations = vector(&deviations.collect::<Vec<_>>(), options.clone());
        let frequencies = components.into_iter();
        let frequencies: Vec<f64> = frequencies
            .flat_map(|component| component.frequencies)
            .collect();
        Self {
            frequencies: Tensor::from_data(TensorData::new(frequencies, shape), options),
            deviations,
        }
    }

    /// The features of a scale mixture of squared exponentials, with gradients to its lengthscales, its variance and the
    /// shape of the distribution of its scales s. `slope` is `d log s/d shape` at a shape and a scale.
    pub fn of_scale_mixture(
        components: Vec<SpectralSample>,
        [lengthscale, variance, shape]: [&Positive; 3],
        (count, dimensions): (usize, usize),
        options: TensorCreationOptions,
        slope: fn(f64, f64) -> f64,
    ) -> Self {
        let (first, number) = (lengthscale.for_each(dimensions)[0], shape.to_vec()[0]);
        let precisions =
            (components.iter()).flat_map(|component| component.precisions.iter().flatten());
        let scales = precisions
            .step_by(dimensions)
            .map(|precision| precision * first.powi(2));
        let slopes: Vec<f64> = scales.map(|scale| slope(number, scale)).collect();
        let slopes = TensorData::new(slopes, [1, count, 1]);
        let slopes = Tensor::<3>::from_data(slopes, options.clone());
        // ω is proportional to √s. The change of the shape is zero, but has a gradient.
        let change = shape.value() - shape.value().detach();
        let (slopes, change) = both_tracked(slopes, change);
        Self::new(components, (count, dimensions), options)
            .with_variance(variance.value())
            .with_lengths(lengthscale.value())
            .with_factors((slopes * change.reshape([1, 1, 1]) * 0.5).exp())
    }

    /// Sets the variance, `[1]`, that the components were drawn with, so that gradients flow to it.
    pub fn with_variance(self, variance: Tensor<1>) -> Self {
        Self {
            deviations: variance.sqrt(),
            ..self
        }
    }

    /// Sets the lengthscales or periods, `[1]` or `[D]`, that the components were drawn with, so that
    /// gradients flow to them. The frequencies are proportional to their reciprocals.
    pub fn with_lengths(self, lengths: Tensor<1>) -> Self {
        let [count] = lengths.dims();
        // The ratio is one, but has a gradient.
        let ratio = lengths.clone().detach() / lengths;
        self.with_factors(ratio.reshape([1, 1, count]))
    }

    /// Multiplies the frequencies by factors that have their shape, or one in the place of some axes.
    pub fn with_factors(self, factors: Tensor<3>) -> Self {
        let (frequencies, factors) = both_tracked(self.frequencies, factors);
        Self {
            frequencies: frequencies * factors,
            ..self
        }
    }

    /// Adds `center`, `[D]`, to the frequencies.
    pub fn shifted(self, center: Tensor<1>) -> Self {
        let (frequencies, center) = both_tracked(self.frequencies, center);
        Self {
            frequencies: frequencies + center.unsqueeze(),
            ..self
        }
    }

    pub fn times_deviation(self, deviation: Tensor<1>) -> Self {
        let (deviations, deviation) = both_tracked(self.deviations, deviation);
        Self {
            deviations: deviations * deviation,
            ..self
        }
    }

    /// The components of both.
    pub fn plus(self, other: Self) -> Self {
        let (own, others) = both_tracked(self.frequencies, other.frequencies);
        let (deviations, other_deviations) = both_tracked(self.deviations, other.deviations);
        Self {
            frequencies: Tensor::cat(vec![own, others], 0),
            deviations: Tensor::cat(vec![deviations, other_deviations], 0),
        }
    }

    /// Every pair of components. A product of covariances convolves the spectra, so the frequencies
    /// are added.
    pub fn times(self, other: Self) -> Self {
        let (own, others) = both_tracked(self.frequencies, other.frequencies);
        let (deviations, other_deviations) = both_tracked(self.deviations, other.deviations);
        let sums = own.unsqueeze_dim::<4>(1) + others.unsqueeze_dim(0);
        let [first, second, count, dimensions] = sums.dims();
        let products = deviations.unsqueeze_dim::<2>(1) * other_deviations.unsqueeze_dim(0);
        Self {
            frequencies: sums.reshape([first * second, count, dimensions]),
            deviations: products.reshape([first * second]),
        }
    }

    /// Extends the frequencies to `dimensions` input dimensions, of which the kernel uses those in
    /// `active`, in that order.
    pub fn on_dimensions(self, active: &[usize], dimensions: usize) -> Self {
        let [components, count, own] = self.frequencies.dims();
        let mut places = vec![0.0; own * dimensions];
        for (row, &dimension) in places.chunks_exact_mut(dimensions).zip(active) {
            row[dimension] = 1.0;
        }
        let options = (&self.frequencies.device(), self.frequencies.dtype());
        let places = Tensor::<2>::from_data(TensorData::new(places, [own, dimensions]), options);
        let frequencies = self.frequencies.reshape([components * count, own]);
        Self {
            frequencies: (frequencies.exact_matmul(places))
                .reshape([components, count, dimensions]),
            ..self
        }
    }

    /// The number of features.
    pub fn count(&self) -> usize {
        let [components, count, _] = self.frequencies.dims();
        2 * components * count
    }

    /// `σ·cos ωᵀx` and `σ·sin ωᵀx`, `[C, 2F, N]`.
    fn waves(&self, x: Tensor<2>) -> Tensor<3> {
        let [components, count, dimensions] = self.frequencies.dims();
        let (frequencies, x) = both_tracked(self.frequencies.clone(), x);
        let [points, _] = x.dims();
        let phases =
            (frequencies.reshape([components * count, dimensions])).exact_matmul(x.transpose()); // [C·F, N]
        let waves = Tensor::stack::<3>(vec![phases.clone().cos(), phases.sin()], 1);
        let waves = waves.reshape([components, 2 * count, points]);
        let (waves, deviations) = both_tracked(waves, self.deviations.clone());
        waves * deviations.reshape([components, 1, 1])
    }

    /// All features, `[2·C·F, N]`.
    pub fn evaluate(&self, x: Tensor<2>) -> Tensor<2> {
        let [_, count, _] = self.frequencies.dims();
        let [points, _] = x.dims();
        let waves = self.waves(x) * (count as f64).sqrt().recip();
        waves.reshape([self.count(), points])
    }

    /// A block for every component, with a cosine and a sine in each draw.
    pub(super) fn into_blocks(self) -> FeatureBlocks {
        let [components, count, _] = self.frequencies.dims();
        FeatureBlocks::new(vec![[count, 2]; components], move |x| {
            let [points, _] = x.dims();
            let waves = self.waves(x);
            let block = |component| {
                let own = waves.clone().narrow(0, component, 1);
                own.reshape([count, 2, points])
            };
            (0..components).map(block).collect()
        })
    }
}
