//! How to choose and what is assumed of the black box: the rule, its settings, and their names in a study file.

use std::fmt;
use std::str::FromStr;

use crate::error::{Key, Subject};
use crate::theory::Assumptions;
use crate::{Error, Result, Rule};

/// How the information gain gamma in a multiplier is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Information {
    /// The gain of the points so far: the observed ones (for GP-BUCB observed and pending).
    #[default]
    Realised,
    /// Greedy maximum information gain over the domain, a lower bound of gamma.
    Greedy,
    /// The smaller of two certified upper bounds of gamma.
    GreedyUpper,
    /// The order of the paper's Lemma 2 with constant 1.
    ClosedForm,
    /// ln t.
    Log,
}

/// The factor xi by which the multiplier grows to account for hallucinated rewards of pending points.
#[doc(alias = "fantasy")]
#[doc(alias = "pending")]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Hallucination {
    /// 1 + lambda_max(C)/lambda with C the covariance of the pending points: valid, and computed at no extra cost.
    #[default]
    Realised,
    /// sup of sigma_S^2/sigma_{t-1}^2 over the domain, by evaluating every candidate.
    Exact,
    /// 1 + (M - 1) max k(x,x)/lambda.
    APriori,
    /// exp(2 gamma_{M-1}), the paper's Lemma 4.
    WorstCase,
    /// A number; the paper's experiments use 1.
    Number(f64),
    /// Pending points are ignored: the rule uses sigma_S in place of sigma_{t-1}, with xi = 1. For comparisons: the UCB
    /// rules then choose the same point until a result arrives (and a failed one again and again), and GP-BTS is parallel
    /// Thompson sampling without hallucination (Kandasamy et al. 2018).
    Off,
}

/// The initialization scheme of the paper's appendix: picks of largest variance before the rule starts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Initial {
    /// No such picks.
    #[default]
    None,
    /// T_init picks.
    Count(usize),
    /// Picks until max sigma^2 <= lambda (C^2 - 1)/(M - 1), which certifies sqrt(xi) <= C for this C > 1.
    Until(f64),
}

/// How to choose, and what is assumed of the black box.
///
/// ```
/// use manyhands_core::{Hallucination, Information, Rule, Strategy};
/// // The constants of the paper's experiments, for ten workers.
/// let paper = Strategy {
///     information: Information::ClosedForm,
///     hallucination: Hallucination::Number(1.0),
///     max_pending: Some(10),
///     ..Strategy::new(Rule::IgpBucb, 2.0)
/// };
/// assert!(paper.norm_bound == Some(2.0) && paper.delta == 0.1);
/// ```
#[doc(alias = "acquisition function")]
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    /// The rule.
    pub rule: Rule,
    /// B: the RKHS norm of f - prior mean is at most this. Needed by the paper's rules and by certificates where the model
    /// is given; where it is learned, none stands for max(1, norm of the posterior mean).
    pub norm_bound: Option<f64>,
    /// R: the noise is R-sub-Gaussian. None stands for sqrt(noise).
    pub noise_bound: Option<f64>,
    /// The probability with which the guarantees may fail; 0.1 unless set.
    pub delta: f64,
    /// How gamma is computed.
    pub information: Information,
    /// How xi is computed.
    pub hallucination: Hallucination,
    /// A factor on the multiplier; 1 is the theorem.
    pub width: f64,
    /// The initialization scheme.
    pub initial: Initial,
    /// How many quasi-random points come first, before those of `initial`, which counts them too. None means a number that
    /// depends on the dimension where the model is learned, and 0 where it is given.
    pub design: Option<usize>,
    /// The squared width of `gp-ucb-pe`; none stands for that of the theorem, which counts the candidates of a finite
    /// domain.
    pub beta: Option<f64>,
    /// M: the most trials pending at once, if bounded.
    pub max_pending: Option<usize>,
}

impl Strategy {
    /// A rule with its bound B on the norm; the rest at its defaults.
    pub fn new(rule: Rule, norm_bound: f64) -> Self {
        Self { rule, norm_bound: Some(norm_bound), ..Self::auto() }
    }

    /// The default where the model is learned.
    pub fn auto() -> Self {
        Self {
            rule: Rule::Auto,
            norm_bound: None,
            noise_bound: None,
            delta: 0.1,
            information: Information::default(),
            hallucination: Hallucination::default(),
            width: 1.0,
            initial: Initial::default(),
            design: None,
            beta: None,
            max_pending: None,
        }
    }

    /// Refuses numbers out of range, and settings that need M where there is none. [`Spec::new`](crate::Spec::new) calls it.
    pub fn check(&self) -> Result<()> {
        let positive =
            |setting, value: f64| require(value > 0.0 && value.is_finite(), setting, "positive and finite", value);
        if let Some(bound) = self.norm_bound {
            positive(Key::NormBound, bound)?;
        }
        positive(Key::Width, self.width)?;
        if let Some(bound) = self.noise_bound {
            require((0.0..=1e100).contains(&bound), Key::NoiseBound, "from 0 to 1e100", bound)?;
        }
        require((1e-100..=1.0).contains(&self.delta), Key::Delta, "above 0 (from 1e-100) and at most 1", self.delta)?;
        self.hallucination.check()?;
        if let Initial::Until(target) = self.initial {
            let until = Key::Initial.shown_as("initial.until");
            require(target > 1.0 && target <= 1e100, until, "above 1 and at most 1e100", target)?;
        }
        if let Some(beta) = self.beta {
            require((0.0..=1e100).contains(&beta), Key::Beta, "from 0 to 1e100", beta)?;
        }
        if let Some(workers) = self.max_pending {
            require(workers >= 1, Key::MaxPending, "at least 1", workers as f64)?;
        }
        let needs = [
            (Key::Hallucination.shown_as("hallucination = \"a-priori\""), self.hallucination == Hallucination::APriori),
            (
                Key::Hallucination.shown_as("hallucination = \"worst-case\""),
                self.hallucination == Hallucination::WorstCase,
            ),
            (Key::Initial.shown_as("initial = { until = ... }"), matches!(self.initial, Initial::Until(_))),
        ];
        match needs.into_iter().find(|(_, needed)| *needed && self.max_pending.is_none()) {
            Some((setting, _)) => Err(Error::NeedsMaxPending { setting }),
            None => Ok(()),
        }
    }
}

impl Strategy {
    /// What is assumed where B is `norm_bound` and the posterior is regularised by `noise`.
    pub(crate) fn assumptions(&self, norm_bound: f64, noise: f64) -> Assumptions {
        Assumptions { norm_bound, noise_bound: self.noise_bound.unwrap_or(noise.sqrt()), noise, delta: self.delta }
    }
}

impl Hallucination {
    fn check(self) -> Result<()> {
        match self {
            Self::Number(xi) => require((1.0..=1e100).contains(&xi), Key::Hallucination, "from 1 to 1e100", xi),
            _ => Ok(()),
        }
    }
}

pub(crate) fn require(ok: bool, setting: impl Into<Subject>, allowed: &'static str, value: f64) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::Setting { setting: setting.into(), allowed, value }) }
}

const INFORMATION: [(&str, Information); 5] = [
    ("realised", Information::Realised),
    ("greedy", Information::Greedy),
    ("greedy-upper", Information::GreedyUpper),
    ("closed-form", Information::ClosedForm),
    ("log", Information::Log),
];

const HALLUCINATION: [(&str, Hallucination); 5] = [
    ("realised", Hallucination::Realised),
    ("exact", Hallucination::Exact),
    ("a-priori", Hallucination::APriori),
    ("worst-case", Hallucination::WorstCase),
    ("off", Hallucination::Off),
];

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, named)| named == value).map_or("", |(name, _)| name)
}

fn named<T: Copy>(names: &[(&'static str, T)], setting: &'static str, text: &str, also: &str) -> Result<T> {
    match names.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(*value),
        None => {
            let allowed: Vec<String> = names.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            let allowed = allowed.join(", ") + also;
            Err(Error::UnknownName { setting, value: text.to_string(), allowed })
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(Rule::NAMES, "strategy name", text, "")
    }
}

impl fmt::Display for Information {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&INFORMATION, self))
    }
}

impl FromStr for Information {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(&INFORMATION, "information", text, "")
    }
}

impl fmt::Display for Hallucination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(xi) => write!(f, "{xi}"),
            named => f.write_str(name_of(&HALLUCINATION, named)),
        }
    }
}

impl FromStr for Hallucination {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let hallucination = match text.parse() {
            Ok(xi) => Self::Number(xi),
            Err(_) => named(&HALLUCINATION, "hallucination", text, ", or a number from 1")?,
        };
        hallucination.check()?;
        Ok(hallucination)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_as_what_it_names() {
        for &(name, rule) in Rule::NAMES {
            assert_eq!((rule.to_string(), name.parse()), (name.to_string(), Ok(rule)));
        }
        for (name, information) in INFORMATION {
            assert_eq!((information.to_string(), name.parse()), (name.to_string(), Ok(information)));
        }
        for (name, hallucination) in HALLUCINATION.into_iter().chain([("2.5", Hallucination::Number(2.5))]) {
            assert_eq!((hallucination.to_string(), name.parse()), (name.to_string(), Ok(hallucination)));
        }
    }

    #[test]
    fn the_error_of_an_unknown_name_lists_the_known_ones() {
        let told = "greed".parse::<Information>().map_err(|error| error.to_string());
        let names = "\"realised\", \"greedy\", \"greedy-upper\", \"closed-form\", \"log\"";
        assert_eq!(told, Err(format!("information must be {names}, got \"greed\"")));
        let told = "0.5".parse::<Hallucination>().map_err(|error| error.to_string());
        assert_eq!(told, Err("hallucination must be from 1 to 1e100, got 0.5".to_string()));
        let told = "none".parse::<Hallucination>().map_err(|error| error.to_string());
        assert!(told.is_err_and(|message| message.contains("\"off\", or a number from 1, got \"none\"")));
        assert!("nan".parse::<Hallucination>().is_err() && "IGP".parse::<Rule>().is_err());
    }
}
