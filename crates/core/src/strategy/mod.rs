//! How to choose and what is assumed of the black box: the rule and its settings.

mod settings;
mod words;

pub(crate) use self::settings::{SETTINGS, SettingForm};
pub use self::words::{BaseRule, DppKind, Hallucination, Information};
use crate::compatibility::refusal;
use crate::error::{Key, Need, Subject};
use crate::theory::Assumptions;
use crate::{Error, Result, Rule};

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
/// A setting that the rule does not read has no influence on what it chooses, but is checked as any other; only a `multiplier`
/// that is not read is refused. A study file that has a setting its rule does not read is refused: see [`file`](crate::file).
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
    /// Fixes the multiplier of `igp-bucb`, `gp-bts`, `gp-bucb` and `gp-bucb-bayesian`, and needs no norm bound: with `gp-bts` and
    /// 1 it is Thompson sampling that sees pending points. None stands for that of the theorem times `width`.
    pub multiplier: Option<f64>,
    /// beta, the squared width of `gp-ucb`, `gp-ucb-pe`, `dpp` and `local-penalization`; none stands for that of the theorem,
    /// which counts the candidates of a finite domain.
    pub beta: Option<f64>,
    /// How far above the highest mean, relative to the prior's sd, a value counts as an improvement to `gp-pi`; 0.01 unless
    /// set.
    pub zeta: f64,
    /// How `dpp` draws a batch; [`DppKind::Max`] unless set.
    pub dpp: DppKind,
    /// What `local-penalization` penalizes; [`BaseRule::GpUcb`] unless set.
    pub base: BaseRule,
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
            multiplier: None,
            beta: None,
            zeta: 0.01,
            dpp: DppKind::default(),
            base: BaseRule::default(),
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
        if self.multiplier.is_some() && !self.reads("multiplier") {
            let reason = "only igp-bucb, gp-bts, gp-bucb and gp-bucb-bayesian read it";
            return Err(refusal(Key::strategy("multiplier"), self.rule.name(), reason));
        }
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

    /// Whether the rule, or what asks before the rule does, reads a key of `[strategy]`.
    pub(crate) fn reads(&self, key: &str) -> bool {
        ["name", "initial", "design", "max_pending"].contains(&key) || self.rule.reads(self).contains(&key)
    }

    /// The setting that needs M, if there is one.
    fn needs_max_pending(&self) -> Option<Subject> {
        let has_xi = self.reads("hallucination");
        match (self.hallucination, self.initial) {
            (Hallucination::APriori, _) if has_xi => Some(Key::HALLUCINATION.shown_as("hallucination = \"a-priori\"")),
            (Hallucination::WorstCase, _) if has_xi => {
                Some(Key::HALLUCINATION.shown_as("hallucination = \"worst-case\""))
            }
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
    hint: "set norm_bound; or use a rule without it, such as gp-ei or gp-ucb, or gp-bts with multiplier = 1.0; or leave out [model] \
           and use auto",
    code: "needs-norm-bound",
};

impl Strategy {
    /// What is assumed where B is `norm_bound` and the posterior is regularised by `noise`.
    pub(crate) fn assumptions(&self, norm_bound: f64, noise: f64) -> Assumptions {
        Assumptions { norm_bound, noise_bound: self.noise_bound.unwrap_or(noise.sqrt()), noise, delta: self.delta }
    }
}

pub(crate) fn require(ok: bool, setting: impl Into<Subject>, allowed: &'static str, value: f64) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::Setting { setting: setting.into(), allowed, value }) }
}
