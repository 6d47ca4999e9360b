//! Aims, and figures reported for other optimizers under the same protocol: 60 evaluations in batches of 5.

/// The optimizers that were measured elsewhere, in the order of [`Reference::peers`].
pub const PEERS: [&str; 5] = ["Optuna GPSampler", "Ax", "egobox q-EI", "BoTorch q-LogEI", "random"];

/// Medians of log10 of the simple regret on one problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// The problem.
    pub problem: &'static str,
    /// The median to reach or surpass.
    pub aim: f64,
    /// The medians of the [`PEERS`].
    pub peers: [f64; 5],
}

/// The five problems with aims.
pub const REFERENCES: [Reference; 5] = [
    Reference { problem: "branin", aim: -6.0, peers: [-4.2, -3.2, -6.9, -3.3, -0.2] },
    Reference { problem: "branin-noise-5", aim: -2.5, peers: [-1.7, -1.8, -1.2, -2.0, -0.2] },
    Reference { problem: "cosines", aim: -7.0, peers: [-5.2, -3.5, -5.7, -5.0, -0.8] },
    Reference { problem: "hartmann6", aim: -4.2, peers: [-2.7, -1.6, -2.4, -0.6, 0.1] },
    Reference { problem: "hartmann6-noise-5", aim: -2.2, peers: [-2.0, -2.1, 0.1, -0.6, 0.1] },
];

impl Reference {
    /// The evaluations of a run.
    pub const EVALUATIONS: usize = 60;

    /// The reference of a problem, if it has one.
    pub fn of(problem: &str) -> Option<&'static Self> {
        REFERENCES.iter().find(|reference| reference.problem == problem)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::problems;
    use super::*;

    #[test]
    fn references_are_those_of_the_first_five_problems() {
        let problems = problems::all().unwrap();
        let names: Vec<&str> = problems.iter().take(5).map(|problem| problem.name()).collect();
        assert_eq!(REFERENCES.map(|reference| reference.problem).to_vec(), names);
    }
}
