//! How to choose and what is assumed of the black box: the rule, its settings, and their names in a study file.

use std::fmt;
use std::str::FromStr;

use crate::error::{Key, Need, Subject};
use crate::text::exact;
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
    /// The order of the paper's Lemma 2 with constant 1; see [`closed_form`](crate::theory::closed_form).
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
    /// Picks until max sigma^2 <= lambda (C^2 - 1)/(M - 1), which certifies sqrt(xi) <= C for this C > 1. Sigma is given
    /// observed values alone, and the xi of failed picks takes its part of C^2; they are made again, up to three times at a
    /// place. Where failures go on, the rule starts without the certificate.
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
        for (key, form) in &SETTINGS {
            if let SettingForm::Number(range, _, get, _) = form
                && let Some(value) = get(self)
            {
                require((range.contains)(value), Key::strategy(key), range.allowed, value)?;
            }
        }
        self.hallucination.check()?;
        if let Initial::Until(target) = self.initial {
            let until = Key::INITIAL.shown_as("initial.until");
            require(target > 1.0 && target <= 1e100, until, "above 1 and at most 1e100", target)?;
        }
        match self.max_pending {
            Some(workers) => require(workers >= 1, Key::MAX_PENDING, "at least 1", workers as f64),
            None => match self.needs_max_pending() {
                Some(what) => Err(Error::Needs { what, need: &MAX_PENDING }),
                None => Ok(()),
            },
        }
    }

    /// The setting that needs M, if there is one.
    fn needs_max_pending(&self) -> Option<Subject> {
        match (self.hallucination, self.initial) {
            (Hallucination::APriori, _) => Some(Key::HALLUCINATION.shown_as("hallucination = \"a-priori\"")),
            (Hallucination::WorstCase, _) => Some(Key::HALLUCINATION.shown_as("hallucination = \"worst-case\"")),
            (_, Initial::Until(_)) => Some(Key::INITIAL.shown_as("initial = { until = ... }")),
            _ => None,
        }
    }
}

const MAX_PENDING: Need = Need {
    key: "max_pending",
    meaning: "the largest number of trials pending at once",
    hint: "set max_pending to the number of workers",
    code: "needs-max-pending",
};

pub(crate) const NORM_BOUND: Need = Need {
    key: "norm_bound",
    meaning: "the bound B on the RKHS norm of the function",
    hint: "set norm_bound, or let the model be learned (leave out the model)",
    code: "needs-norm-bound",
};

/// The keys of `[strategy]` in the order of a study's identity: what each may be set to.
pub(crate) const SETTINGS: [(&str, SettingForm); 11] = [
    ("name", SettingForm::Word(|s| s.rule.to_string(), |s, name| name.parse().map(|rule| s.rule = rule))),
    ("norm_bound", SettingForm::Number(POSITIVE, "none", |s| s.norm_bound, |s, bound| s.norm_bound = Some(bound))),
    (
        "noise_bound",
        SettingForm::Number(
            FROM_0,
            "the square root of noise",
            |s| s.noise_bound,
            |s, bound| s.noise_bound = Some(bound),
        ),
    ),
    ("delta", SettingForm::Number(PROBABILITY, "", |s| Some(s.delta), |s, delta| s.delta = delta)),
    (
        "information",
        SettingForm::Word(|s| s.information.to_string(), |s, name| name.parse().map(|gamma| s.information = gamma)),
    ),
    ("hallucination", SettingForm::Hallucination),
    ("width", SettingForm::Number(POSITIVE, "", |s| Some(s.width), |s, width| s.width = width)),
    ("initial", SettingForm::Initial),
    ("design", SettingForm::Count(0, "by dimension", |s| s.design, |s, points| s.design = Some(points))),
    ("beta", SettingForm::Number(FROM_0, "by the theorem", |s| s.beta, |s, beta| s.beta = Some(beta))),
    ("max_pending", SettingForm::Count(1, "none", |s| s.max_pending, |s, trials| s.max_pending = Some(trials))),
];

/// What a key of `[strategy]` may be set to: what is allowed, what the identity shows where there is none, get and set.
pub(crate) enum SettingForm {
    Number(NumberRange, &'static str, fn(&Strategy) -> Option<f64>, fn(&mut Strategy, f64)),
    /// At least the first number.
    Count(u64, &'static str, fn(&Strategy) -> Option<usize>, fn(&mut Strategy, usize)),
    /// One of some names.
    Word(fn(&Strategy) -> String, fn(&mut Strategy, &str) -> Result<()>),
    /// One of some names, or a number.
    Hallucination,
    /// A count, or a table.
    Initial,
}

/// The numbers that a setting may have, in words and as a test.
#[derive(Clone, Copy)]
pub(crate) struct NumberRange {
    allowed: &'static str,
    contains: fn(f64) -> bool,
}

const POSITIVE: NumberRange =
    NumberRange { allowed: "positive and finite", contains: |value| value > 0.0 && value.is_finite() };
const FROM_0: NumberRange =
    NumberRange { allowed: "from 0 to 1e100", contains: |value| (0.0..=1e100).contains(&value) };
const PROBABILITY: NumberRange =
    NumberRange { allowed: "above 0 (from 1e-100) and at most 1", contains: |value| (1e-100..=1.0).contains(&value) };

impl SettingForm {
    /// The value as a study's identity shows it.
    pub fn shown(&self, strategy: &Strategy) -> String {
        match self {
            Self::Number(_, unset, get, _) => get(strategy).map_or(unset.to_string(), exact),
            Self::Count(_, unset, get, _) => get(strategy).map_or(unset.to_string(), |count| count.to_string()),
            Self::Word(get, _) => get(strategy),
            Self::Hallucination => strategy.hallucination.to_string(),
            Self::Initial => match strategy.initial {
                Initial::None => "0".to_string(),
                Initial::Count(count) => count.to_string(),
                Initial::Until(target) => format!("until {}", exact(target)),
            },
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
            Self::Number(xi) => require((1.0..=1e100).contains(&xi), Key::HALLUCINATION, "from 1 to 1e100", xi),
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
