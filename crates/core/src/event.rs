//! What happened to a study. A study is a fold over its events, and nothing else.

/// One entry of a study's log. Sequence numbers start at 1.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A trial was suggested.
    Asked(Asked),
    /// A trial's value arrived, in the user's units.
    Told {
        /// The trial's number.
        trial: usize,
        /// Its value.
        value: f64,
    },
    /// A trial failed and will give no value.
    Failed {
        /// The trial's number.
        trial: usize,
        /// Why, in the user's words.
        reason: String,
    },
    /// A trial was called off, as if it had never been asked for.
    Cancelled {
        /// The trial's number.
        trial: usize,
    },
}

/// A choice as it was made. Numbers are those of the maximized function (the negated one when minimizing).
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The trial's number: trials are numbered from 0 in the order they were asked for.
    pub trial: usize,
    /// The candidate's index in the domain; in a discretized cube, its row-major index in D_t with t = trial + 1.
    pub candidate: usize,
    /// Its mean when chosen, mu_S(x_t).
    pub mean: f64,
    /// Its standard deviation given observed and pending points when chosen, sigma_{t-1}(x_t).
    pub sd: f64,
    /// The multiplier beta_t or v_t; 0 for a pick of the initialization scheme, which has none.
    pub multiplier: f64,
    /// What was maximized: mean + multiplier x sd, the value of the sample, or sd in the initialization scheme.
    pub score: f64,
    /// Whether the initialization scheme picked it, and not the rule.
    pub initial: bool,
    /// The sequence number of the last event the choice knew. Choices logged one after the other with the same `seen`
    /// were made together, and each knew those before it.
    pub seen: usize,
}
