//! Data loaders for burn's learner: batches, and one examination after each round of them.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderIterator, Progress},
        dataset::DatasetError,
    },
    tensor::Device,
};

use super::{Batch, Examination};
use crate::training::batches::Batches;

/// Whether a round ends after the given number of steps.
type RoundEnd = dyn Fn(usize) -> bool + Send + Sync;

/// The batches of the remaining steps. Each iteration of the loader is the next round.
#[derive(Clone)]
pub(super) struct BatchLoader {
    pub batches: Arc<Mutex<Batches>>,
    /// The number of steps so far.
    pub made: Arc<AtomicUsize>,
    /// The total number of steps.
    pub steps: usize,
    pub round_ends: Arc<RoundEnd>,
    /// The number of devices that share a batch.
    pub devices: usize,
    /// The number of the device that this loader is for, from zero, and the device.
    pub part: Option<(usize, Device)>,
}

struct Round<'a> {
    loader: &'a BatchLoader,
    /// The number of steps before the round.
    first: usize,
}

impl Round<'_> {
    fn made(&self) -> usize {
        self.loader.made.load(Ordering::Relaxed)
    }
}

impl Iterator for Round<'_> {
    type Item = Result<Batch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let made = self.made();
        let is_over = made > self.first && (self.loader.round_ends)(made);
        if is_over || made >= self.loader.steps {
            return None;
        }
        let batches = self.loader.batches.lock();
        let mut batches = batches.unwrap_or_else(PoisonError::into_inner);
        let batch = batches.batch(made);
        Some(Ok(match &self.loader.part {
            Some((index, device)) => batch.part(*index, self.loader.devices, device),
            None => batch,
        }))
    }
}

impl DataLoaderIterator<Batch> for Round<'_> {
    fn progress(&self) -> Progress {
        progress(self.made(), self.loader.steps, "steps")
    }
}

impl DataLoader<Batch> for BatchLoader {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Batch> + 'a> {
        let first = self.made.load(Ordering::Relaxed);
        Box::new(Round {
            loader: self,
            first,
        })
    }

    /// A part of a step for each device.
    fn num_items(&self) -> usize {
        self.steps * self.devices
    }

    /// With one device, the data are already on it.
    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<Batch>> {
        let part = self.part.clone().map(|(index, _)| (index, device.clone()));
        Arc::new(Self {
            part,
            ..self.clone()
        })
    }

    /// The loader of a device yields its part of every step: burn divides the items among the devices
    /// in order. On one device, the steps have a fixed order, and a slice starts at the number of steps
    /// so far.
    fn slice(&self, start: usize, end: usize) -> Arc<dyn DataLoader<Batch>> {
        if self.devices > 1 {
            let index = start / self.steps.max(1);
            return Arc::new(Self {
                part: Some((index, Device::default())),
                ..self.clone()
            });
        }
        Arc::new(Self {
            steps: self.steps.min(end),
            ..self.clone()
        })
    }
}

/// The examination that is due after the given number of steps, if any.
type Due<M> = dyn Fn(usize) -> Option<Examination<M>> + Send + Sync;

/// Yields the examination after a round, if one is due.
pub(super) struct Examinations<M> {
    pub due: Arc<Due<M>>,
    /// The number of steps so far.
    pub made: Arc<AtomicUsize>,
}

struct One<M>(Option<Examination<M>>);

impl<M> Iterator for One<M> {
    type Item = Result<Examination<M>, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl<M> DataLoaderIterator<Examination<M>> for One<M> {
    fn progress(&self) -> Progress {
        progress(usize::from(self.0.is_none()), 1, "examinations")
    }
}

impl<M: 'static> DataLoader<Examination<M>> for Examinations<M> {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Examination<M>> + 'a> {
        Box::new(One((self.due)(self.made.load(Ordering::Relaxed))))
    }

    fn num_items(&self) -> usize {
        1
    }

    /// An examination contains its own data.
    fn to_device(&self, _device: &Device) -> Arc<dyn DataLoader<Examination<M>>> {
        Arc::new(Self {
            due: Arc::clone(&self.due),
            made: Arc::clone(&self.made),
        })
    }

    /// A single examination cannot be split.
    fn slice(&self, _start: usize, _end: usize) -> Arc<dyn DataLoader<Examination<M>>> {
        self.to_device(&Device::default())
    }
}

pub(super) fn progress(items_processed: usize, items_total: usize, unit: &str) -> Progress {
    Progress {
        items_processed,
        items_total,
        unit: Some(unit.into()),
    }
}
