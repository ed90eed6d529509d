//! Several models trained side by side: each by its own trainer, on its own thread, but their objectives are computed
//! in one call.

use std::{
    fmt,
    panic::resume_unwind,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use burn::{
    module::{Module, ModuleVisitor, Param, ParamId},
    optim::GradientsParams,
    tensor::Tensor,
};
use burn_gp_core::{
    likelihoods::ImpossibleTarget,
    ops::{NotPositiveDefinite, numbers, with_threads_awake},
    parameter::{Priors, vector},
};

use crate::{
    AnyModel,
    training::{Model, NothingToTrain, Objective, TrainingData},
};

/// Runs `train` on a thread for each of `models`, which must be of one type and have
/// [`objectives`](Model::objectives). Returns the results in the order of the models.
///
/// Each training makes the same steps as it would alone. When all models that still train wait for their objectives
/// and gradients, the calling thread computes these together. A model whose gradients are not finite fails; alone, it
/// might end where it starts.
pub(crate) fn side_by_side<T: Send>(
    models: Vec<AnyModel>,
    data: &TrainingData,
    train: impl Fn(AnyModel) -> T + Sync,
) -> Vec<T> {
    let members = models.len();
    let meeting = Arc::new(Meeting {
        data: data.clone(),
        state: Mutex::new(State {
            requests: (0..members).map(|_| None).collect(),
            answers: (0..members).map(|_| None).collect(),
            training: members,
            is_over: false,
        }),
        changed: Condvar::new(),
    });
    thread::scope(|scope| {
        let (train, meeting) = (&train, &meeting);
        let threads = models.into_iter().enumerate().map(|(index, model)| {
            scope.spawn(move || {
                let _seat = Seat(meeting);
                let meeting = meeting.clone();
                let model = Member {
                    model,
                    meeting,
                    index,
                };
                train(model.boxed())
            })
        });
        let threads: Vec<_> = threads.collect();
        with_threads_awake(|| meeting.serve());
        let results = threads.into_iter().map(|thread| thread.join());
        results
            .map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// The objective of a model and the gradients of its parameters.
type Answer = Result<(f64, GradientsParams), NotPositiveDefinite>;

/// Where models wait for their objectives.
#[derive(Debug)]
struct Meeting {
    data: TrainingData,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// The models that wait, by member.
    requests: Vec<Option<AnyModel>>,
    /// The answers that were not taken yet, by member.
    answers: Vec<Option<Answer>>,
    /// The number of members that still train.
    training: usize,
    /// Whether nobody computes objectives any more.
    is_over: bool,
}

impl fmt::Debug for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} models in training", self.training)
    }
}

impl Meeting {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic of one member leaves the state as it is for the others.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes the objectives whenever all members that still train wait for them.
    fn serve(&self) {
        let _end = End(self);
        let mut state = self.state();
        while state.training > 0 {
            if state.requests.iter().flatten().count() == state.training {
                self.answer_all(&mut state);
                self.changed.notify_all();
            } else {
                state = self.changed(state);
            }
        }
    }

    /// Waits until the objective of a member is computed together with those of the others.
    fn answer(&self, index: usize, model: &AnyModel) -> Answer {
        let mut state = self.state();
        // A copy of the parameters keeps the graphs of the members apart.
        state.requests[index] = Some(model.valid().train());
        self.changed.notify_all();
        loop {
            if let Some(answer) = state.answers[index].take() {
                return answer;
            }
            if state.is_over {
                drop(state);
                return self.alone(model);
            }
            state = self.changed(state);
        }
    }

    fn answer_all(&self, state: &mut State) {
        let requests = state.requests.iter_mut().enumerate();
        let (members, models): (Vec<usize>, Vec<AnyModel>) = requests
            .filter_map(|(index, request)| Some((index, request.take()?)))
            .unzip();
        let answers = self.together(&models).unwrap_or_else(|| {
            // One of them failed, or all: each is told its own reason.
            models.iter().map(|model| self.alone(model)).collect()
        });
        for (member, answer) in members.into_iter().zip(answers) {
            state.answers[member] = Some(answer);
        }
    }

    /// `None` if one of the objectives cannot be computed.
    fn together(&self, models: &[AnyModel]) -> Option<Vec<Answer>> {
        let (inputs, targets) = (self.data.inputs.clone(), self.data.targets.clone());
        let objectives = models.first()?.objectives(models, inputs, targets)?.ok()?;
        Some(answers(objectives, models))
    }

    fn alone(&self, model: &AnyModel) -> Answer {
        let (inputs, targets) = (self.data.inputs.clone(), self.data.targets.clone());
        let objective = model.objective(inputs, targets, self.data.len())?.value();
        let mut own = answers(objective, std::slice::from_ref(model));
        own.swap_remove(0)
    }
}

/// The objectives, `[B]`, as numbers, each with the gradients of the parameters of its model.
fn answers(objectives: Tensor<1>, models: &[AnyModel]) -> Vec<Answer> {
    let mut gradients = (objectives.is_tracked()).then(|| objectives.clone().sum().backward());
    let each = numbers(objectives).into_iter().zip(models);
    each.map(|(objective, model)| {
        let own = gradients.as_mut();
        let own = own.map(|gradients| GradientsParams::from_module(gradients, model));
        Ok((objective, own.unwrap_or_default()))
    })
    .collect()
}

/// Nobody computes objectives together any more, also after a panic.
struct End<'a>(&'a Meeting);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state().is_over = true;
        self.0.changed.notify_all();
    }
}

/// The place of a member, which is free once it has finished.
struct Seat<'a>(&'a Meeting);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.state().training -= 1;
        // All others may wait already.
        self.0.changed.notify_all();
    }
}

/// A model whose objective is computed together with those of others.
#[derive(Module, Debug)]
struct Member {
    model: AnyModel,
    #[module(skip)]
    meeting: Arc<Meeting>,
    #[module(skip)]
    index: usize,
}

impl Model for Member {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        if NothingToTrain::of(&self.model).is_some() {
            return self.model.objective(inputs, targets, data_count);
        }
        let (objective, gradients) = self.meeting.answer(self.index, &self.model)?;
        let mut tangent = Tangent::new(&gradients);
        self.model.visit(&mut tangent);
        Ok(Objective {
            fit: match tangent.sum {
                Some(zero) => zero.add_scalar(objective),
                None => vector(&[objective], (&inputs.device(), inputs.dtype())),
            },
            kl: None,
        })
    }

    fn needs_all_data(&self) -> bool {
        self.model.needs_all_data()
    }

    fn priors(&self) -> Priors {
        self.model.priors().within("model")
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        self.model.check_targets(targets)
    }
}

/// `Σ_θ (θ − θ₀)·g_θ` at `θ = θ₀`: zero, with the given gradients.
struct Tangent<'a> {
    gradients: &'a GradientsParams,
    sum: Option<Tensor<1>>,
    seen: Vec<ParamId>,
}

impl<'a> Tangent<'a> {
    fn new(gradients: &'a GradientsParams) -> Self {
        Self {
            gradients,
            sum: None,
            seen: Vec::new(),
        }
    }
}

impl ModuleVisitor for Tangent<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let Some(gradient) = self.gradients.get::<D>(param.id) else {
            return;
        };
        // A shared parameter has one gradient.
        if self.seen.contains(&param.id) {
            return;
        }
        self.seen.push(param.id);
        let value = param.val();
        let change = (value.clone() - value.detach()) * Tensor::from_inner(gradient);
        let change = change.sum();
        self.sum = Some(match self.sum.take() {
            Some(sum) => sum + change,
            None => change,
        });
    }
}
