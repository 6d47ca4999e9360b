//! A test problem: a function known at every point of a finite domain, so that regret can be computed.

use std::sync::Arc;

use manyhands_core::Domain;
use manyhands_gp::{Prior, Restricted};

use crate::problems::RkhsFunction;
use crate::{Error, Result};

/// Bytes for the structure of a restricted kernel.
const MEMORY: usize = 256 << 20;

/// A function to maximize, with its domain, its optimum, and the prior that algorithms are given.
#[derive(Debug, Clone, PartialEq)]
pub struct FiniteProblem {
    name: String,
    domain: Domain,
    prior: Prior,
    values: Vec<f64>,
    norm: Option<f64>,
    function: Option<RkhsFunction>,
}

impl FiniteProblem {
    /// A function by its values at every candidate, in the domain's order.
    pub fn new(name: impl Into<String>, domain: Domain, prior: Prior, values: Vec<f64>) -> Result<Self> {
        let name = name.into();
        let refuse = |reason: String| Err(Error::Problem { name: name.clone(), reason });
        let Some(candidates) = domain.finite().map(|domain| domain.len()) else {
            return refuse("its domain must be finite".to_string());
        };
        if values.len() != candidates || values.is_empty() {
            return refuse(format!("it has {} values for {candidates} candidates", values.len()));
        }
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return refuse(format!("its values must be finite, got {value}"));
        }
        if values.iter().all(|value| *value == 0.0) {
            return refuse("it is 0 everywhere, so that no bound on it is positive".to_string());
        }
        Ok(Self { name, domain, prior, values, norm: None, function: None })
    }

    /// The same function, known to have this RKHS norm under the prior's kernel.
    pub fn with_norm(self, norm: f64) -> Self {
        Self { norm: Some(norm), ..self }
    }

    /// The same function, known beyond the candidates too.
    pub fn with_function(self, function: RkhsFunction) -> Self {
        Self { function: Some(function), ..self }
    }

    /// The same function seen by a prior whose kernel is this many times as large: its norm is smaller by the root of that.
    pub fn with_kernel_times(self, factor: f64) -> Result<Self> {
        let kernel = self.prior.kernel();
        let kernel = kernel.clone().with_variance(factor * kernel.variance())?;
        let prior = Prior::new(kernel, self.prior.mean(), self.prior.noise())?;
        Ok(Self { prior, norm: self.norm.map(|norm| norm / factor.sqrt()), ..self })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its domain.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Kernel, mean and noise variance that an algorithm is given; the noise has this variance.
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The prior's kernel on the domain.
    pub fn restricted(&self) -> Result<Arc<Restricted>> {
        let domain = self.domain.finite().ok_or_else(|| Error::Problem {
            name: self.name.clone(),
            reason: "its domain must be finite".to_string(),
        })?;
        let restricted = Restricted::new(self.prior.kernel().clone(), domain, MEMORY);
        Ok(Arc::new(restricted?))
    }

    /// f at every candidate.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// max f.
    pub fn optimum(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// max f - min f.
    pub fn range(&self) -> f64 {
        self.optimum() - self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// max |f|, which the paper's experiments use as B.
    pub fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |largest, value| value.abs().max(largest))
    }

    /// The RKHS norm of f, where it is known: the B of the theorems.
    pub fn norm(&self) -> Option<f64> {
        self.norm
    }

    /// f beyond the candidates, where it is known.
    pub fn function(&self) -> Option<&RkhsFunction> {
        self.function.as_ref()
    }
}
