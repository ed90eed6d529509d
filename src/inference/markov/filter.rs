//! The process after the last observation, for forecasts and new observations.

use burn::{
    module::Module,
    tensor::{DType, Device, Tensor, TensorData},
};

use super::{
    Markov, Observed, epsilon, form, in_order,
    joint::{advance, dot, joint},
    process::block_product,
    system,
    timeline::Timeline,
    times,
};
use crate::{
    inference::{ConditionError, UpdateError, check_rows},
    kernels::KernelModule,
    ops::{
        Event, NotPositiveDefinite, StateMoments, StateSpaceError, number, numbers,
        state_space_filtering,
    },
    parameter::tracked_like,
    process::{Joint, Marginals, Process, WithMean, dummy_row_if_empty, nonnegative},
};

/// The process after the last observation: its state there, and nothing of the observations.
/// [`condition_on_observations`](WithMean::condition_on_observations) adds later rows at `s²` each, whatever the number
/// before. Predictions are those of [`MarkovProcess`](super::MarkovProcess) from the last observation on, and NaN at
/// times before it. [`Markov::filter`] makes it.
#[derive(Clone, Debug)]
pub struct MarkovFilter<K> {
    kernel: K,
    /// σ², `[1]`
    noise: Tensor<1>,
    /// The time of the last observation.
    last: f64,
    /// The moments of the state there, given all observations.
    state: StateMoments,
    log_density: f64,
    outputs: usize,
    place: (Device, DType),
}

impl<K: KernelModule> Markov<K> {
    /// The process after the last observation, on the device without autodiff, by the filter alone.
    ///
    /// ```
    /// use burn::tensor::{DType, Device, Tensor};
    /// use burn_gp_core::{
    ///     inference::Markov, kernels::StationaryKernel, likelihoods::Gaussian, means::ZeroMean, ops::Stationary,
    ///     process::Process,
    /// };
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let place = (&Device::default(), DType::F64);
    /// let kernel = StationaryKernel::new(Stationary::Matern52, &[1.0], 1.0, place);
    /// let model = Markov::new(kernel, ZeroMean::new(1), Gaussian::new(0.01, place))?;
    /// let column = |values: [f64; 3]| Tensor::<1>::from_data(values, place).unsqueeze_dim::<2>(1);
    /// let filter = model.filter(column([0.0, 0.1, 0.2]), column([1.0, 1.2, 1.3]))?;
    /// let filter = filter.condition_on_observations(column([0.3, 0.4, 0.5]), column([1.4, 1.4, 1.3]))?;
    /// let forecast = filter.marginals(Tensor::full([1, 1], 0.6, place));
    /// assert!((forecast.mean.into_scalar::<f64>() - 1.2).abs() < 0.1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, 1]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or rounding or the parameters make a variance negative or infinite.
    ///
    /// # Panics
    ///
    /// If there are no rows, or there is more than one input.
    #[track_caller]
    pub fn filter(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<MarkovFilter<K>>, ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let [rows, _] = inputs.dims();
        assert!(
            rows > 0,
            "Markov::filter: inputs [0, 1]; expected one row at least"
        );
        let this = self.valid();
        let Observed {
            rows: observed,
            residual,
            timeline,
            noise,
        } = this.observed(inputs.inner(), targets.inner());
        let [_, outputs] = residual.dims();
        let own = this.likelihood.noise();
        let empty = MarkovFilter {
            last: timeline.times[rows - 1],
            state: StateMoments::default(),
            log_density: number(observed.log_density(own.zeros_like(), own.clone())),
            noise: own,
            outputs,
            place: (residual.device(), residual.dtype()),
            kernel: this.kernel,
        };
        let all = (&*timeline, &timeline.events[..]);
        let filter = empty.after(None, residual, all, noise)?;
        Ok(WithMean::new(filter, this.mean))
    }
}

impl<K: KernelModule> WithMean<MarkovFilter<K>> {
    /// The filter given new rows, too, none of them before the last observation. The parameters stay. The cost is that
    /// of the new rows, `s²` each.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, 1]`, in any order; `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When a row is earlier than the last observation, an input or a target is not finite, or rounding or the
    /// parameters make a variance negative or infinite.
    ///
    /// # Panics
    ///
    /// If there is more than one input, or another number of outputs than before.
    #[track_caller]
    pub fn condition_on_observations(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Self, UpdateError> {
        let filter = self.process();
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let (inputs, targets) = (inputs.without_autodiff(), targets.without_autodiff());
        let [rows, outputs] = targets.dims();
        assert!(
            outputs == filter.outputs,
            "targets {:?} of a filter with {} outputs; expected [N, P]",
            [rows, outputs],
            filter.outputs
        );
        let (new, last) = (times(&inputs), filter.last);
        if let Some((row, &time)) = new.iter().enumerate().find(|&(_, &time)| time < last) {
            return Err(UpdateError::Earlier { row, time, last });
        }
        if rows == 0 {
            return Ok(self.clone());
        }
        let timeline = Timeline::new(&[&[last], &new[..]].concat(), epsilon(inputs.dtype()));
        let residual = self.mean().residual(targets.clone(), inputs);
        // The last observation, which comes first, is known. Its residual is not used.
        let known = residual.zeros_like().narrow(0, 0, 1);
        let residual = Tensor::cat(vec![known, residual], 0);
        let mut events = timeline.events.clone();
        events[0].is_observed = false;
        let state = Some(filter.state.clone());
        let noise = filter.noise.clone();
        let updated = (filter.clone()).after(state, residual, (&timeline, &events), noise)?;
        Ok(WithMean::new(updated, self.mean().clone()))
    }
}

impl<K: KernelModule> MarkovFilter<K> {
    /// The time of the last observation.
    pub fn last_time(&self) -> f64 {
        self.last
    }

    /// `Σ_p log N(y_p | m_p, K + σ²I)` of all observations.
    pub fn log_density(&self) -> f64 {
        self.log_density
    }

    /// The filter after the events of a timeline, from a state at its first time or from the prior there, with noise
    /// variances for all rows, `[1]`, or for each in the order of time, `[N]`.
    fn after(
        self,
        state: Option<StateMoments>,
        residual: Tensor<2>,
        (timeline, events): (&Timeline, &[Event]),
        noise: Tensor<1>,
    ) -> Result<Self, ConditionError> {
        let system = system(&form(&self.kernel), timeline, noise);
        let dtype = self.place.1;
        let failure = |error: StateSpaceError| -> NotPositiveDefinite {
            super::failure(error, timeline, dtype)
        };
        let residual = in_order(residual, timeline);
        let (state, log_density) =
            state_space_filtering(&system, state, residual, events).map_err(failure)?;
        Ok(Self {
            last: *timeline.times.last().unwrap_or(&self.last),
            log_density: self.log_density + log_density,
            state,
            ..self
        })
    }

    /// `Ph`, [T, s, 1], `hᵀPh`, [T, 1], and `hᵀm`, [T, P], with the moments of the state at some times.
    fn moments(&self, x: &Tensor<2>) -> (Tensor<3>, Tensor<2>, Tensor<2>) {
        let form = form(&tracked_like(x, self.kernel.clone()));
        let (device, dtype) = form.place();
        let place = (&device, dtype);
        let ([rows, _], row, blocks) = (x.dims(), form.row(), form.blocks());
        let (states, outputs) = (row.len(), self.outputs);
        let steps: Vec<f64> = (times(x).iter())
            .map(|time| match time - self.last {
                step if step >= 0.0 => step,
                _ => f64::NAN,
            })
            .collect();
        let mut since = Tensor::<1>::from_data(steps.as_slice(), place);
        if x.is_autodiff() {
            // Zero, with the gradient of the times.
            let change = x.clone() - x.clone().detach();
            since = since + change.cast(dtype).reshape([rows]);
        }
        let h = Tensor::<1>::from_data(row.as_slice(), place).reshape([1, states, 1]);
        let h = h.expand([rows, states, 1]);
        let transition = form.transitions(since.clone()); // A
        let back = block_product(&blocks, &transition, h.clone(), true); // Aᵀh
        let known = |values: &[f64], columns: usize| {
            let data = TensorData::new(values.to_vec(), [1, states, columns]);
            Tensor::<3>::from_data(data, place).expand([rows, states, columns])
        };
        // Ph = AP⁺Aᵀh + Qh
        let covariance = known(&self.state.covariance, states);
        let product = (covariance * back.clone().swap_dims(1, 2)).sum_dim(2);
        let noise = form.process_noise(since);
        let product = block_product(&blocks, &transition, product, false)
            + block_product(&blocks, &noise, h.clone(), false);
        let mean = (known(&self.state.mean, outputs) * back).sum_dim(1);
        let variance = (h * product.clone()).sum_dim(1);
        (
            product,
            variance.reshape([rows, 1]),
            mean.reshape([rows, outputs]),
        )
    }

    /// The covariances at times, `[T]`, as [T, T]: `hᵀA(t′ − t)P(t)h` for t before t′. NaN with a time before the last
    /// observation.
    fn covariances(&self, x: &Tensor<2>) -> Vec<f64> {
        let form = form(&self.kernel);
        let (row, blocks) = (form.row(), form.blocks());
        let (all, [count, _]) = (times(x), x.dims());
        if !all.iter().all(|&time| time >= self.last) {
            return vec![f64::NAN; count * count];
        }
        let products = numbers(self.moments(x).0);
        let timeline = Timeline::new(&all, epsilon(DType::F64));
        let (device, dtype) = form.place();
        let steps = Tensor::<1>::from_data(timeline.steps.as_slice(), (&device, dtype));
        let transitions = numbers(form.transitions(steps));
        let mut covariances = vec![0.0; count * count];
        // A(t′ − t)P(t)h of all times t until t′.
        let mut sources: Vec<(usize, Vec<f64>)> = Vec::new();
        for (event, &own) in timeline.events.iter().zip(&timeline.order) {
            if let Some(step) = event.step {
                for (_, vector) in &mut sources {
                    advance(&blocks, &transitions, step as usize, vector);
                }
            }
            sources.push((own, products[own * row.len()..][..row.len()].to_vec()));
            for (other, vector) in &sources {
                let value = dot(&row, vector);
                covariances[own * count + other] = value;
                covariances[other * count + own] = value;
            }
        }
        covariances
    }
}

impl<K: KernelModule> Process for MarkovFilter<K> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        let ([rows, _], outputs) = (x.dims(), self.outputs);
        let (_, variance, mean) = self.moments(&x);
        Marginals {
            mean: mean.cast(x.dtype()),
            variance: nonnegative(variance.cast(x.dtype())).expand([rows, outputs]),
        }
    }

    /// Means and covariances. The covariances are constants at inputs on a device with autodiff.
    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let covariance = self.covariances(&x.clone().without_autodiff());
        joint(covariance, self.marginals(x), &self.place.0)
    }
}
