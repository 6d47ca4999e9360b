//! `manyhands status` and `manyhands best`: how a study stands.

use anyhow::Result;
use clap::Args;
use manyhands_core::{Best, Certificate, Direction, Error as Refusal, Study, TrialState};
use manyhands_store::Session;
use serde_json::{Value as Json, json};

use crate::show;
use crate::target::Target;

const STATUS: &str = "\
Examples:
  manyhands status study.toml
  manyhands status branin --json     counts, best, information, hallucination, multiplier, certificate";

/// Show how a study stands: trials, the best of them, and how far from the optimum it can still be.
#[derive(Debug, Args)]
#[command(after_help = STATUS)]
pub struct StatusOptions {
    #[command(flatten)]
    pub target: Target,
}

const BEST: &str = "\
Examples:
  manyhands best study.toml
  manyhands best branin --json | jq .params

The best trial is the observed one whose value is surest to be good: the one with the best bound.";

/// Show the best trial.
#[derive(Debug, Args)]
#[command(after_help = BEST)]
pub struct BestOptions {
    #[command(flatten)]
    pub target: Target,
}

pub fn status(options: &StatusOptions) -> Result<()> {
    let mut session = options.target.open_to_read()?;
    if options.target.json {
        return show::print(&status_json(&mut session)?.to_string());
    }
    show::print(&status_text(&mut session)?)
}

pub fn best(options: &BestOptions) -> Result<()> {
    let mut session = options.target.open_to_read()?;
    let best = session.study()?.best()?;
    let domain = session.spec().domain();
    if options.target.json {
        return show::print(&show::best(&best, domain).to_string());
    }
    show::print(&best_lines(&best, &session))
}

/// What a study has to say of itself.
struct Opinions {
    best: Option<Best>,
    /// The certificate, or why there is none.
    certificate: std::result::Result<Certificate, Refusal>,
}

fn opinions(study: &mut Study) -> Result<Opinions> {
    let best = match study.best() {
        Ok(best) => Some(best),
        Err(Refusal::NothingObserved) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(Opinions { best, certificate: study.certificate() })
}

/// The status as JSON.
pub fn status_json(session: &mut Session) -> Result<Json> {
    let Opinions { best, certificate } = opinions(session.study()?)?;
    let quantities = session.study()?.quantities()?;
    let (domain, ledger) = (session.spec().domain(), session.ledger());
    let mut status = json!({
        "study": session.name(),
        "direction": session.spec().direction().name(),
        "observed": ledger.count(TrialState::Observed),
        "pending": ledger.pending(),
        "failed": ledger.count(TrialState::Failed),
        "cancelled": ledger.count(TrialState::Cancelled),
        "late_results": ledger.late(),
        "best": best.map(|best| show::best(&best, domain)),
        "information": quantities.information,
        "hallucination": quantities.hallucination,
        "multiplier": quantities.multiplier,
        "certificate": certificate.as_ref().ok().map(|certificate| show::certificate(certificate, domain)),
    });
    if let Err(reason) = certificate {
        status["no_certificate"] = json!(reason.to_string());
    }
    Ok(status)
}

/// The status for people.
pub fn status_text(session: &mut Session) -> Result<String> {
    let Opinions { best, certificate } = opinions(session.study()?)?;
    let ledger = session.ledger();
    let mut text = format!(
        "study {} ({}): {} observed, {} pending, {} failed",
        session.name(),
        session.spec().direction().name(),
        ledger.count(TrialState::Observed),
        ledger.pending(),
        ledger.count(TrialState::Failed),
    );
    for (count, what) in [(ledger.count(TrialState::Cancelled), "cancelled"), (ledger.late(), "too late")] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    match best {
        Some(best) => {
            text += &format!("\n{}", best_lines(&best, session));
            text += &extreme_line(&best, session);
        }
        None => text += "\nno value has been told yet",
    }
    match certificate {
        Ok(certificate) => {
            text += &format!("\ncertificate: {}", show::certificate_line(&certificate, session.spec().domain()));
        }
        Err(Refusal::NothingObserved) => {}
        Err(reason) => text += &format!("\nno certificate: {reason}"),
    }
    Ok(text)
}

/// The trial with the most extreme value, where that is not the best one: its value is less sure to be good.
fn extreme_line(best: &Best, session: &Session) -> String {
    let direction = session.spec().direction();
    let (sign, word) = (if direction == Direction::Maximize { 1.0 } else { -1.0 }, show::extreme(direction));
    let values = session.ledger().trials().iter().enumerate().filter_map(|(n, trial)| Some((n, trial.value?)));
    match values.max_by(|(_, a), (_, b)| (sign * a).total_cmp(&(sign * b))) {
        Some((trial, value)) if sign * value > sign * best.value => {
            format!("\n{word} value: {} (trial {trial}), which is less sure", show::short(value))
        }
        _ => String::new(),
    }
}

fn best_lines(best: &Best, session: &Session) -> String {
    let domain = session.spec().domain();
    let mut text = format!("best: {} (trial {})", show::short(best.value), best.trial);
    for (name, value) in domain.named(&best.params) {
        text += &format!("\n  {name} = {}", show::text_of(value));
    }
    text
}
