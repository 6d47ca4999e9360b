//! The derivatives of a radial kernel along the distance, from which its gradients are put together.

/// Derivatives of a correlation k(r) at a distance r > 0, arranged so that nothing cancels near r = 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct DistanceDerivatives {
    /// k'(r).
    pub first: f64,
    /// k'(r) / r.
    pub ratio: f64,
    /// k''(r) - k'(r) / r.
    pub excess: f64,
}

impl DistanceDerivatives {
    /// The squared exponential e^(-r^2 / 2).
    pub fn squared_exponential(r: f64) -> Self {
        let decay = (-0.5 * r * r).exp();
        Self { first: -r * decay, ratio: -decay, excess: r * r * decay }
    }
}
