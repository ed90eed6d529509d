//! Products of variables.

use burn::tensor::{Int, Tensor};

use crate::parameter::vector;

/// The features of `(yᵀy′)^q`: all products of q variables, each times the root of its multinomial
/// coefficient.
pub(in crate::kernels) struct Monomials {
    /// The variables of all products: those of the first factors, then of the second factors, and
    /// so on.
    factors: Vec<Vec<i64>>,
    coefficients: Vec<f64>,
}

impl Monomials {
    /// The number of products of `degree` variables out of `variables`, `(V + q − 1 choose q)`,
    /// limited to the largest `usize`.
    pub fn count(variables: usize, degree: usize) -> usize {
        let count = (1..=degree as u128).try_fold(1u128, |count, power| {
            // Exact: this is `(V + power − 1 choose power)`.
            Some(count.checked_mul(variables as u128 + power - 1)? / power)
        });
        count.map_or(usize::MAX, |count| count.try_into().unwrap_or(usize::MAX))
    }

    pub fn new(variables: usize, degree: usize) -> Self {
        let mut products = vec![Vec::new()];
        for _ in 0..degree {
            // The variables of a product are in order, so that it appears once.
            let longer = |product: &Vec<i64>| {
                let last = product.last().copied().unwrap_or(0);
                let with = |variable| [product.as_slice(), &[variable]].concat();
                (last..variables as i64).map(with).collect::<Vec<_>>()
            };
            products = products.iter().flat_map(longer).collect();
        }
        let factor = |place: usize| products.iter().map(|product| product[place]).collect();
        Self {
            factors: (0..degree).map(factor).collect(),
            coefficients: products
                .iter()
                .map(|product| multinomial(product))
                .collect(),
        }
    }

    /// The values of all products, `[N, R]`, at `y`, `[N, V]`.
    pub fn evaluate(&self, y: Tensor<2>) -> Tensor<2> {
        let (device, dtype) = (y.device(), y.dtype());
        let roots: Vec<f64> = self.coefficients.iter().map(|count| count.sqrt()).collect();
        let roots = vector(&roots, (&device, dtype)).unsqueeze::<2>(); // [1, R]
        self.factors.iter().fold(roots, |product, variables| {
            let variables = Tensor::<1, Int>::from_data(variables.as_slice(), &device);
            product * y.clone().select(1, variables)
        })
    }
}

/// The number of distinct orders of the factors of a product, in which equal factors are adjacent.
fn multinomial(product: &[i64]) -> f64 {
    let mut run = 0;
    let mut count = 1.0;
    for (place, variable) in product.iter().enumerate() {
        let repeats = place > 0 && product[place - 1] == *variable;
        run = if repeats { run + 1 } else { 1 };
        count *= (place + 1) as f64 / f64::from(run);
    }
    count
}
