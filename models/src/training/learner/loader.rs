//! A data loader for burn's learner.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use burn::{
    data::dataloader::{DataLoader, DataLoaderIterator, Progress},
    data::dataset::DatasetError,
    tensor::Device,
};

/// One of several devices that share a batch: its number, from zero, and the device.
pub(in crate::training) type Part = (usize, Device);

/// The next item after a number of steps, if a round has had this many items, for a device.
type Next<T> = dyn Fn(usize, usize, Option<&Part>) -> Option<T> + Send + Sync;

/// The items that a function returns. Each iteration of the loader is the next round of them.
pub(super) struct Loader<T> {
    /// The number of steps so far.
    pub made: Arc<AtomicUsize>,
    /// The total number of steps.
    pub steps: usize,
    /// The number of devices that share an item.
    pub parts: usize,
    /// The device of this loader, if several share an item.
    pub part: Option<Part>,
    pub next: Arc<Next<T>>,
}

impl<T: 'static> Loader<T> {
    fn for_part(&self, part: Option<Part>) -> Arc<dyn DataLoader<T>> {
        let (made, next) = (Arc::clone(&self.made), Arc::clone(&self.next));
        let (steps, parts) = (self.steps, self.parts);
        Arc::new(Self {
            made,
            steps,
            parts,
            part,
            next,
        })
    }
}

impl<T: 'static> DataLoader<T> for Loader<T> {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<T> + 'a> {
        Box::new(Round(self, 0))
    }

    fn num_items(&self) -> usize {
        self.steps * self.parts
    }

    /// Without parts, the items are on their device already.
    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<T>> {
        self.for_part(
            self.part
                .as_ref()
                .map(|(index, _)| (*index, device.clone())),
        )
    }

    /// The loader of a device has its part of every step: burn divides the items among the devices in
    /// order.
    fn slice(&self, start: usize, _end: usize) -> Arc<dyn DataLoader<T>> {
        self.for_part(Some((start / self.steps.max(1), Device::default())))
    }
}

/// A round of a loader, and the number of its items so far.
struct Round<'a, T>(&'a Loader<T>, usize);

impl<T> Iterator for Round<'_, T> {
    type Item = Result<T, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self(loader, taken) = self;
        let item = (loader.next)(
            loader.made.load(Ordering::Relaxed),
            *taken,
            loader.part.as_ref(),
        );
        *taken += usize::from(item.is_some());
        item.map(Ok)
    }
}

impl<T> DataLoaderIterator<T> for Round<'_, T> {
    fn progress(&self) -> Progress {
        let made = self.0.made.load(Ordering::Relaxed);
        Progress::new(made, self.0.steps, Some("steps".into()))
    }
}
