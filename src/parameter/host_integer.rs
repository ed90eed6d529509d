//! Integers in the record of a module, such as counts of steps.

use std::sync::OnceLock;

use burn::{
    module::{
        Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor,
        Param, ParamId,
    },
    tensor::{Device, Int, Tensor},
};

use crate::ops::integer;

/// An integer that is stored as a tensor, `[1]`, and known on the CPU. A training step that asks for it
/// does not wait for the device.
#[derive(Clone, Debug)]
pub(crate) struct HostInteger {
    /// The stored integer. It is created when a record is made.
    stored: Param<Tensor<1, Int>>,
    /// The integer, unless it was loaded and not read since.
    known: OnceLock<i64>,
}

impl HostInteger {
    pub fn new(value: i64, device: &Device) -> Self {
        Self::at(value, ParamId::new(), device.clone())
    }

    fn at(value: i64, id: ParamId, device: Device) -> Self {
        let stored = move |device: &Device, _| Tensor::full([1], value, device);
        Self {
            stored: Param::uninitialized(id, stored, device, false, [1].into()),
            known: OnceLock::from(value),
        }
    }

    /// The integer.
    pub fn get(&self) -> i64 {
        *self.known.get_or_init(|| integer(self.stored.val()))
    }

    /// Adds `other`.
    pub fn plus(&self, other: i64) -> Self {
        Self::at(
            self.get() + other,
            self.stored.id,
            self.stored.lazy_device(),
        )
    }

    fn on(&self, device: Device) -> Self {
        Self::at(self.get(), self.stored.id, device)
    }
}

/// A module with a single parameter, without a name of its own in paths.
impl Module for HostInteger {
    fn collect_devices(&self, devices: Devices) -> Devices {
        self.stored.collect_devices(devices)
    }

    fn fork(self, device: &Device) -> Self {
        self.on(device.clone())
    }

    fn to_device(self, device: &Device) -> Self {
        self.on(device.clone())
    }

    fn train(self) -> Self {
        let device = self.stored.lazy_device();
        self.on(device.autodiff())
    }

    fn valid(&self) -> Self {
        self.on(self.stored.lazy_device().without_autodiff())
    }

    fn materialize(self) -> Self {
        self
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_int(&self.stored);
    }

    /// A mapper that only inspects the parameter does not create it. Any other mapper may change
    /// the integer.
    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        let fresh = self.on(self.stored.lazy_device());
        let stored = mapper.map_int(fresh.stored);
        let known = match stored.is_initialized() {
            true => OnceLock::new(),
            false => fresh.known,
        };
        Self { stored, known }
    }
}

impl ModuleDisplayDefault for HostInteger {
    fn content(&self, content: Content) -> Option<Content> {
        self.stored.content(content)
    }
}

impl ModuleDisplay for HostInteger {}
