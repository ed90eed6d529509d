//! Sums of the gradients of the parameters over tiles.

use burn::{
    module::{ModuleVisitor, Param},
    tensor::{Gradients, Tensor},
};

use crate::kernels::KernelModule;

/// The sums of the gradients of the noise and of the parameters of a kernel over tiles, each of which is
/// differentiated by itself.
pub struct ParameterSlopes {
    /// `[1]`
    noise: Tensor<1>,
    /// Of each parameter of the kernel, flat, if it has one.
    kernel: Vec<Option<Tensor<1>>>,
}

impl ParameterSlopes {
    /// No gradients, on the device and in the type of a tensor without autodiff.
    pub fn zero(like: &Tensor<2>) -> Self {
        Self {
            noise: Tensor::zeros([1], (&like.device(), like.dtype())),
            kernel: Vec::new(),
        }
    }

    /// Adds those of a tile.
    pub fn add<K: KernelModule>(&mut self, kernel: &K, noise: &Tensor<1>, gradients: &Gradients) {
        if let Some(gradient) = noise.grad(gradients) {
            self.noise = self.noise.clone() + gradient;
        }
        let mut found = Found {
            gradients,
            slopes: Vec::new(),
        };
        kernel.visit(&mut found);
        self.kernel.resize(found.slopes.len(), None);
        for (sum, slope) in self.kernel.iter_mut().zip(found.slopes) {
            *sum = match (sum.take(), slope) {
                (Some(sum), Some(slope)) => Some(sum + slope),
                (sum, slope) => sum.or(slope),
            };
        }
    }

    /// `⟨ḡ, θ⟩` of the noise and the parameters θ with their gradients ḡ.
    pub fn surrogate<K: KernelModule>(self, kernel: &K, noise: Tensor<1>) -> Tensor<1> {
        let mut products = Products {
            slopes: self.kernel.into_iter(),
            sum: noise * self.noise.autodiff(),
        };
        kernel.visit(&mut products);
        products.sum
    }
}

/// Reads the gradients of the parameters of a module.
struct Found<'a> {
    gradients: &'a Gradients,
    slopes: Vec<Option<Tensor<1>>>,
}

impl ModuleVisitor for Found<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let stored = param.base();
        let count = stored.shape().num_elements();
        let gradient = match stored.is_require_grad() {
            true => stored.grad(self.gradients),
            false => None,
        };
        (self.slopes).push(gradient.map(|gradient| gradient.reshape([count])));
    }
}

/// Multiplies the parameters of a module by their gradients.
struct Products {
    slopes: std::vec::IntoIter<Option<Tensor<1>>>,
    sum: Tensor<1>,
}

impl ModuleVisitor for Products {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(slope) = self.slopes.next().flatten() {
            let [count] = slope.dims();
            let products = param.base().reshape([count]) * slope.autodiff();
            self.sum = self.sum.clone() + products.sum();
        }
    }
}
