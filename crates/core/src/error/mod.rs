//! What a study refuses, with the offending value, what is allowed, and how to fix it. Details of [`Error`] are here.

mod code;
mod fault;
mod hint;
mod key;
mod phrases;

pub use self::key::{Key, Need, ParameterPart, Subject, TablePlace};
use self::phrases::{asked_for, many};
use crate::space::Constraint;
use crate::text::{counted, exact, names_instead, quoted, short};
use crate::trial::TrialState;

/// A refusal; nothing in the study has changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The numeric crate refused a number.
    #[error(transparent)]
    Numeric(#[from] manyhands_gp::Error),
    /// A setting has a value outside its range.
    #[error("{setting} must be {allowed}, got {}", exact(*value))]
    Setting {
        /// The setting.
        setting: Subject,
        /// The values it may have.
        allowed: &'static str,
        /// What was given.
        value: f64,
    },
    /// A setting is not one of its names.
    #[error("{setting} must be {allowed}, got {}", quoted(value))]
    UnknownName {
        /// The setting's name in a study file.
        setting: &'static str,
        /// What was given.
        value: String,
        /// The names it may have.
        allowed: String,
    },
    /// Something needs a setting that is not given.
    #[error("{what} needs {}, {}", need.key, need.meaning)]
    Needs {
        /// What needs it.
        what: Subject,
        /// The setting.
        need: &'static Need,
    },
    /// Two settings do not go together.
    #[error("{setting} does not work with {with}: {reason}")]
    Incompatible {
        /// One setting.
        setting: Subject,
        /// The other.
        with: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// A rule that evaluates all candidates jointly has too many of them.
    #[error("{what} chooses from at most {most} candidates, got {candidates}")]
    TooManyCandidates {
        /// The rule.
        what: Subject,
        /// How many candidates there are.
        candidates: usize,
        /// The most that it chooses from.
        most: usize,
    },
    /// An ask for no suggestion.
    #[error("ask for at least 1 suggestion, got 0")]
    AskedForNone,
    /// An ask for more suggestions than one ask gives.
    #[error("ask for at most {limit} suggestions at once, got {asked}")]
    AskedForTooMany {
        /// How many suggestions were asked for.
        asked: usize,
        /// The most that are given.
        limit: usize,
    },
    /// A multiplier is not a finite number.
    #[error("the multiplier of trial {trial} is {value}, too large for a number")]
    MultiplierTooLarge {
        /// The trial that was to be chosen.
        trial: usize,
        /// What the formula gave.
        value: f64,
    },
    /// The told values contradict the assumptions.
    #[error(
        "the data contradict the assumptions: the optimum is at most {upper} and a candidate at least {lower} (of the \
         maximized function)"
    )]
    Contradiction {
        /// The upper bound of the optimum.
        upper: f64,
        /// The lower bound of a candidate's value.
        lower: f64,
    },
    /// An ask for more suggestions than max_pending allows.
    #[error("asking for {asked} with {pending} pending exceeds max_pending = {max_pending}")]
    TooManyPending {
        /// How many suggestions were asked for.
        asked: usize,
        /// How many trials are pending.
        pending: usize,
        /// The bound.
        max_pending: usize,
    },
    /// An ask for more suggestions than a pool without repeats has candidates left.
    #[error("asking for {asked} from a pool that has {} left", counted(*left, "candidate"))]
    PoolExhausted {
        /// How many suggestions were asked for.
        asked: usize,
        /// How many candidates are left.
        left: usize,
    },
    /// No trial has this number.
    #[error("there is no trial {trial}; {}", asked_for(*trials))]
    UnknownTrial {
        /// The number given.
        trial: usize,
        /// How many trials there are.
        trials: usize,
    },
    /// The trial is no longer pending.
    #[error("trial {trial} is {state} already; only a pending trial can be told, failed or cancelled")]
    NotPending {
        /// The trial's number.
        trial: usize,
        /// Its state.
        state: TrialState,
    },
    /// There is nothing of this trial's record to be amended.
    #[error("trial {trial} is {state}; only a trial that was told or has failed can be amended")]
    NotAmendable {
        /// The trial's number.
        trial: usize,
        /// Its state.
        state: TrialState,
    },
    /// The trial's record was not amended.
    #[error("trial {trial} has no amendment that could be taken back")]
    NotAmended {
        /// The trial's number.
        trial: usize,
    },
    /// Only a failed trial can be attempted again.
    #[error("trial {trial} is {state}; only a failed trial can be attempted again")]
    NotFailed {
        /// The trial's number.
        trial: usize,
        /// Its state.
        state: TrialState,
    },
    /// The parameters of a candidate of a list were to be amended.
    #[error("trial {trial} is of a candidate of a list, whose parameters cannot be amended; got {given}")]
    FixedParameters {
        /// The trial's number.
        trial: usize,
        /// The values that were given, by name.
        given: String,
    },
    /// A told value is not a finite number.
    #[error("the value of trial {trial} must be a finite number, got {value}")]
    Value {
        /// The trial's number.
        trial: usize,
        /// What was told.
        value: f64,
    },
    /// A told value is too large for a model that is given.
    #[error("the value of trial {trial} is {value:e}, and a model that is given takes values from -1e100 to 1e100")]
    ValueTooLarge {
        /// The trial's number.
        trial: usize,
        /// What was told.
        value: f64,
    },
    /// Parameters were given where the domain is not a space of them.
    #[error("the domain has no parameters; it is a list of candidates")]
    NoParameters,
    /// A candidate was given where the domain has none.
    #[error("the domain has no candidates; it is a space of parameters that is not finite")]
    NoCandidates,
    /// No candidate has this index.
    #[error("there is no candidate {candidate}; there {}, numbered from 0", many(*candidates))]
    UnknownCandidate {
        /// The index given.
        candidate: usize,
        /// How many candidates there are.
        candidates: usize,
    },
    /// A point is not one of the candidates.
    #[error("{point:?} is not a candidate; the nearest is candidate {candidate} at {nearest:?}")]
    NotACandidate {
        /// The point given.
        point: Vec<f64>,
        /// The nearest candidate.
        candidate: usize,
        /// Where it is.
        nearest: Vec<f64>,
    },
    /// No row of a pool has these values.
    #[error("no candidate has {given}; the nearest is candidate {candidate} with {nearest}")]
    NotInPool {
        /// The values given, by name.
        given: String,
        /// The nearest candidate.
        candidate: usize,
        /// Its values, by name.
        nearest: String,
    },
    /// Values that are not all coordinates are not those of one candidate.
    #[error("{} {given}", if *candidates == 0 { "no candidate has".to_string() } else { format!("{candidates} candidates have") })]
    NotIdentified {
        /// The values given, by name.
        given: String,
        /// How many candidates have them.
        candidates: usize,
    },
    /// A candidate of a pool without repeats was tried already.
    #[error("candidate {candidate} is that of trial {trial} already, and the pool allows no repeats")]
    CandidateTaken {
        /// The candidate.
        candidate: usize,
        /// The trial.
        trial: usize,
    },
    /// A candidate of a pool without repeats is in the queue.
    #[error("candidate {candidate} is in the queue already, and the pool allows no repeats")]
    CandidateQueued {
        /// The candidate.
        candidate: usize,
    },
    /// No trial has a value yet.
    #[error("no trial has been observed yet")]
    NothingObserved,
    /// A model that is learned proves nothing.
    #[error("a certificate is a theorem about a given model: kernel, noise and norm_bound")]
    NoTheorem,
    /// A log holds an event that cannot follow the ones before it.
    #[error("event {sequence} does not follow from the ones before it: {reason}")]
    BadLog {
        /// The event's sequence number, from 1.
        sequence: usize,
        /// What is wrong.
        reason: String,
    },
    /// A log holds a choice or a fit that does not follow from the events before it.
    #[error("{what} cannot be reproduced: its {field} is {logged} in the log, and {made} when recomputed")]
    NotReproduced {
        /// Which event: a trial's number, or the place of a fit in the log.
        what: String,
        /// The first field that differs.
        field: String,
        /// What the log holds there.
        logged: String,
        /// What choosing or fitting again gives.
        made: String,
    },
    /// The discretization D_t of the paper's appendix is too large.
    #[error(
        "D_t has {per_coordinate} points in each of {dimension} coordinates at t = {t}, too many to sample jointly"
    )]
    DiscretizationTooLarge {
        /// The round.
        t: usize,
        /// Points along one coordinate, B L r d t^2 rounded up.
        per_coordinate: usize,
        /// The number of coordinates.
        dimension: usize,
    },
    /// A parameter has no name.
    #[error("a parameter's name must not be empty")]
    EmptyName,
    /// A parameter's description is not valid.
    #[error("{what} of parameter {} must be {allowed}, got {value}", quoted(parameter))]
    Parameter {
        /// The parameter's name.
        parameter: String,
        /// The part of its description.
        what: ParameterPart,
        /// What it may be.
        allowed: &'static str,
        /// What was given.
        value: String,
    },
    /// No parameter has more than one value.
    #[error("there is nothing to choose: of {} none has more than one value", counted(*parameters, "parameter"))]
    NothingVaries {
        /// How many parameters there are.
        parameters: usize,
    },
    /// A value is not one of its parameter's.
    #[error("parameter {} must be {allowed}, got {value}", quoted(parameter))]
    ParameterValue {
        /// The parameter's name.
        parameter: String,
        /// The values it may have.
        allowed: String,
        /// What was given.
        value: String,
    },
    /// Too few or too many values.
    #[error("got {} for {}", counted(*given, "value"), counted(*expected, "parameter"))]
    ParameterCount {
        /// How many parameters there are.
        expected: usize,
        /// How many values were given.
        given: usize,
    },
    /// A parameter has no value.
    #[error("parameter {} has no value", quoted(name))]
    MissingParameter {
        /// The parameter's name.
        name: String,
    },
    /// No parameter has this name.
    #[error("there is no parameter {}; {}", quoted(name), names_instead(name, "parameter", known))]
    UnknownParameter {
        /// The name given.
        name: String,
        /// The names of all parameters.
        known: Vec<String>,
    },
    /// A constraint is not valid.
    #[error("the constraint {constraint} is not valid: {reason}")]
    Constraint {
        /// The constraint.
        constraint: Constraint,
        /// What is wrong with it.
        reason: String,
    },
    /// A constraint cannot be satisfied.
    #[error("nothing satisfies the constraint {constraint}: {reason}")]
    Infeasible {
        /// The constraint.
        constraint: Constraint,
        /// Why.
        reason: String,
    },
    /// It was not decided whether a constraint can be satisfied.
    #[error(
        "whether anything satisfies the constraint {constraint} together with those before it was not settled in \
         {pivots} pivots of the simplex method"
    )]
    Unsolved {
        /// The constraint.
        constraint: Constraint,
        /// The number of pivots after which the search stopped.
        pivots: usize,
    },
    /// Values violate a constraint.
    #[error("the constraint {constraint} is violated by {}", short(*by))]
    Violated {
        /// The constraint.
        constraint: Constraint,
        /// How far the sum is on the wrong side of the bound.
        by: f64,
    },
    /// A table cannot be read.
    #[error("{place}{reason}")]
    Table {
        /// Where.
        place: TablePlace,
        /// What is wrong there.
        reason: String,
        /// How to fix it, where the message does not say.
        hint: Option<&'static str>,
    },
    /// A parameter is named twice.
    #[error("parameter {} is named twice", quoted(name))]
    RepeatedParameter {
        /// The name.
        name: String,
    },
    /// Something that cannot happen has happened: a bug in this crate.
    #[error("internal error: {what}; this is a bug in manyhands")]
    Internal {
        /// What was found.
        what: &'static str,
    },
}

impl Error {
    /// The error for a name that is not one of these.
    pub(crate) fn unknown_parameter<'a>(names: impl IntoIterator<Item = &'a str>, name: &str) -> Self {
        Self::UnknownParameter { name: name.to_string(), known: names.into_iter().map(str::to_string).collect() }
    }
}

/// The result of a study's operations.
pub type Result<T> = std::result::Result<T, Error>;
