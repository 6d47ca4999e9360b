//! The keys of `[strategy]`: what each may be set to.

use super::{Initial, Strategy};
use crate::Result;
use crate::text::exact;

/// The keys of `[strategy]` in the order of a study's identity: what each may be set to.
pub(crate) const SETTINGS: [(&str, SettingForm); 15] = [
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
    (
        "multiplier",
        SettingForm::Number(
            FROM_0,
            "by the theorem",
            |s| s.multiplier,
            |s, multiplier| {
                s.multiplier = Some(multiplier);
            },
        ),
    ),
    ("beta", SettingForm::Number(FROM_0, "by the theorem", |s| s.beta, |s, beta| s.beta = Some(beta))),
    ("zeta", SettingForm::Number(FROM_0, "", |s| Some(s.zeta), |s, zeta| s.zeta = zeta)),
    ("dpp", SettingForm::Word(|s| s.dpp.to_string(), |s, name| name.parse().map(|dpp| s.dpp = dpp))),
    ("base", SettingForm::Word(|s| s.base.to_string(), |s, name| name.parse().map(|base| s.base = base))),
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
    pub allowed: &'static str,
    pub contains: fn(f64) -> bool,
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
