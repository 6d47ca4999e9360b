//! What happened to a study: its state is the fold over its events, and nothing else.

use std::fmt;

use manyhands_gp::{Hyperparameters, Warp};
use serde::{Deserialize, Serialize};

use crate::json::AskedBody;
use crate::{Choice, Value};

/// The number of the engine that fits and chooses here.
///
/// It is raised by any change that alters a fit or a choice, even by one bit, so that a log says which of its events this
/// engine can recompute. Events without a number are those of engine 1; engine 2 fits many values, and values of any
/// magnitude; engine 3 factors the rows of large studies on spaces in another order; engine 4 logs
/// what a choice is for and what it expects, and on a space takes the better point where a proof finds one; engine 5 computes
/// every point of large grids where the model is learned or the rule samples, and numbers them; engine 6 learns kernels that are
/// mostly sums over parameters, and looks elsewhere when a search has converged.
pub const ENGINE: u32 = 6;

/// One entry of a study's log. Sequence numbers start at 1.
///
/// ```
/// use manyhands_core::{Domain, Event, Parameter, Space, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
/// let spec = Spec::learned(Domain::Space(space), Strategy::auto())?;
/// let mut study = Study::new(spec.clone())?;
/// let trial = study.ask(1)?[0].trial;
/// study.tell(trial, 0.5)?;
/// assert_eq!(study.events()[1], Event::Told { trial, value: 0.5 });
/// assert_eq!(Study::replay(spec, study.events())?.trials(), study.trials());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A trial was suggested.
    Asked(Asked),
    /// A model was learned from the values so far; it is used until the next one.
    Fitted(Fitted),
    /// A trial that was not suggested here: an evaluation made elsewhere, finished or running.
    Included(Included),
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
    /// A trial was cancelled, as if it had never been asked for.
    Cancelled {
        /// The trial's number.
        trial: usize,
    },
    /// A result came after someone else was given the trial, or after it had ended. Kept as evidence; the model never
    /// sees it.
    LateResult {
        /// The trial's number.
        trial: usize,
        /// What was reported: a value in the user's units, or why there is none.
        outcome: Result<f64, String>,
    },
    /// What is recorded of a trial was wrong, and is replaced.
    Amended(Amended),
    /// The last amendment of a trial was taken back.
    Restored {
        /// The trial's number.
        trial: usize,
    },
    /// A failed trial is pending again, for another attempt at the same point.
    Reopened {
        /// The trial's number.
        trial: usize,
    },
    /// Further numbers came with a trial. The model never sees them.
    Measured {
        /// The trial's number.
        trial: usize,
        /// Their names and values, in the order they came.
        metrics: Vec<(String, f64)>,
    },
    /// A point is to be tried before any suggestion.
    Enqueued(Enqueued),
    /// The points that were enqueued and not tried yet are not to be tried.
    Cleared,
}

/// What an event of some kind does to its trial.
#[derive(PartialEq)]
enum Effect {
    /// A trial begins once.
    Begins,
    /// Another attempt begins.
    Reopens,
    /// An attempt that began before it ends at most once.
    Ends,
    Neither,
}

/// Declares the kinds of events: name in the code, name under which they are stored, effect on the trial. Stored names
/// never change.
macro_rules! kinds {
    ($($kind:ident $name:literal $effect:ident;)*) => {
        /// The kinds of events, with the names under which they are stored.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum EventKind {
            $(#[doc = concat!("[`Event::", stringify!($kind), "`].")] $kind,)*
        }

        impl EventKind {
            /// All kinds.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// The name under which events of this kind are stored. Stored names never change.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            fn effect(self) -> Effect {
                match self {
                    $(Self::$kind => Effect::$effect,)*
                }
            }
        }

        impl Event {
            /// Its kind.
            pub fn kind(&self) -> EventKind {
                match self {
                    $(Self::$kind { .. } => EventKind::$kind,)*
                }
            }
        }
    };
}

kinds! {
    Asked "asked" Begins;
    Fitted "fitted" Neither;
    Included "included" Begins;
    Told "told" Ends;
    Failed "failed" Ends;
    Cancelled "cancelled" Ends;
    LateResult "late" Neither;
    Amended "amended" Neither;
    Restored "restored" Neither;
    Reopened "reopened" Reopens;
    Measured "measured" Neither;
    Enqueued "enqueued" Neither;
    Cleared "cleared" Neither;
}

impl EventKind {
    /// The kind whose events are stored under this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether such an event begins a trial: a trial begins once.
    pub fn begins_a_trial(self) -> bool {
        self.effect() == Effect::Begins
    }

    /// Whether such an event begins another attempt at a trial that had ended.
    pub fn reopens_a_trial(self) -> bool {
        self.effect() == Effect::Reopens
    }

    /// Whether such an event ends a trial that began before it: an attempt ends at most once.
    pub fn ends_a_trial(self) -> bool {
        self.effect() == Effect::Ends
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Event {
    /// The trial that it is about; none where it is about all of them.
    pub fn trial(&self) -> Option<usize> {
        match self {
            Self::Asked(Asked { trial, .. })
            | Self::Included(Included { trial, .. })
            | Self::Told { trial, .. }
            | Self::Failed { trial, .. }
            | Self::Cancelled { trial }
            | Self::LateResult { trial, .. }
            | Self::Amended(Amended { trial, .. })
            | Self::Restored { trial }
            | Self::Reopened { trial }
            | Self::Measured { trial, .. } => Some(*trial),
            Self::Fitted(_) | Self::Enqueued(_) | Self::Cleared => None,
        }
    }

    /// Whether it brings a value for the model that was not there before.
    pub(crate) fn brings_a_value(&self) -> bool {
        matches!(self, Self::Told { .. } | Self::Included(Included { value: Some(_), .. }))
    }

    /// Whether it changes values that the model has seen, or may: a fit from before it is out of date.
    pub(crate) fn revises(&self) -> bool {
        matches!(self, Self::Amended(_) | Self::Restored { .. })
    }
}

/// A trial that was suggested: the choice, and the events it was based on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "AskedBody")]
pub struct Asked {
    /// The trial's number: trials are numbered from 0 in the order they were asked for.
    pub trial: usize,
    /// The point and its posterior.
    #[serde(flatten)]
    pub choice: Choice,
    /// The sequence number of the last event the choice was based on. Choices logged one after the other with the same
    /// `seen` were made together, each based on those before it as well.
    pub seen: usize,
    /// The number of the engine that made it; see [`ENGINE`].
    pub engine: u32,
}

/// A learned model. Its numbers are those of the warped values of the maximized function.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Lengthscales, noise, variance and mean.
    pub hyperparameters: Hyperparameters,
    /// How values are standardized and warped.
    pub warp: Warp,
    /// The sequence number of the last event that the fit was based on.
    pub seen: usize,
    /// The number of the engine that made it; see [`ENGINE`].
    pub engine: u32,
}

/// A trial that was not suggested here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Included {
    /// The trial's number.
    pub trial: usize,
    /// The candidate's index in the domain; on a space that is not finite, the trial's number. Engines before 5 searched some
    /// grids that are finite since: there the parameters decide.
    pub candidate: usize,
    /// The values of the parameters; empty for pools: `candidate` identifies the row.
    pub params: Vec<Value>,
    /// Its value in the user's units; none while it is running.
    pub value: Option<f64>,
}

/// What replaces the record of a trial. The old record stays in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Amended {
    /// The trial's number.
    pub trial: usize,
    /// The setting that it was really made with; none where that was right.
    pub setting: Option<ActualSetting>,
    /// How it really ended: a value in the user's units, or why there is none. None where that was right, or it has not ended.
    pub outcome: Option<Result<f64, String>>,
}

/// The setting that a trial was really made with.
#[derive(Debug, Clone, PartialEq)]
pub struct ActualSetting {
    /// Its index in the domain; none on a space that is not finite.
    pub candidate: Option<usize>,
    /// The values of the parameters.
    pub params: Vec<Value>,
}

/// A point that the user wants tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enqueued {
    /// The candidate's index in the domain; none on a space that is not finite.
    pub candidate: Option<usize>,
    /// The values of the parameters; empty for pools: `candidate` identifies the row.
    pub params: Vec<Value>,
}

impl Enqueued {
    /// Whether it is the point of this candidate, or of these values of the parameters where there are no candidates.
    pub(crate) fn is_at(&self, candidate: usize, params: &[Value]) -> bool {
        self.params == params && self.candidate.is_none_or(|own| own == candidate)
    }
}
