//! `manyhands status` and `manyhands best`: how a study stands.

use anyhow::Result;
use clap::Args;
use manyhands_core::{Best, CERTIFIED, Certificate, Direction, Error as Refusal, TrialState};
use manyhands_store::Session;
use serde_json::{Value as Json, json};

use crate::target::Target;
use crate::{running, show};

const STATUS: &str = "\
Examples:
  manyhands status study.toml
  manyhands status branin --json     counts, best, information, hallucination, multiplier, certificate
  manyhands status branin --certificate

Above 1,000 values the certificate, the information and the hallucination factor take seconds to minutes and are left out
(null in JSON) unless --certificate asks for them.";

/// Show how a study stands: trials, the best of them, and how far from the optimum it can still be.
#[derive(Debug, Args)]
#[command(after_help = STATUS)]
pub struct StatusOptions {
    #[command(flatten)]
    pub target: Target,
    /// Compute the certificate above 1,000 values too
    #[arg(long)]
    certificate: bool,
}

const BEST: &str = "\
Examples:
  manyhands best study.toml
  manyhands best branin --json | jq .params

The best trial is the observed one whose value is surest to be good: the one with the best bound. Above 1,000 values it is
the surest of the 64 best values, each judged by the values nearby, and it has no regret_bound.";

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
        return show::print(&status_json(&mut session, options.certificate)?.to_string());
    }
    show::print(&status_text(&mut session, options.certificate)?)
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
    /// The certificate, or why there is none; left out where it takes long and nobody asked for it.
    certificate: std::result::Result<Option<Certificate>, Refusal>,
}

/// Whether what takes long is left out.
fn is_left_out(session: &Session, asked_for: bool) -> bool {
    !asked_for && session.ledger().count(TrialState::Observed) > CERTIFIED
}

/// What is said in place of a certificate that is left out.
fn how_to_get_it(session: &Session) -> String {
    let observed = session.ledger().count(TrialState::Observed);
    format!("with {observed} values it takes long; status --certificate computes it")
}

fn opinions(session: &mut Session, asked_for: bool) -> Result<Opinions> {
    session.sync()?;
    let left_out = is_left_out(session, asked_for);
    let study = session.study()?;
    let best = match study.best() {
        Ok(best) => Some(best),
        Err(Refusal::NothingObserved) => None,
        Err(error) => return Err(error.into()),
    };
    let certificate = if left_out { Ok(None) } else { study.certificate().map(Some) };
    Ok(Opinions { best, certificate })
}

/// The status as JSON; above 1,000 values with what takes long only if it is asked for.
pub fn status_json(session: &mut Session, asked_for: bool) -> Result<Json> {
    let Opinions { best, certificate } = opinions(session, asked_for)?;
    let left_out = is_left_out(session, asked_for);
    let study = session.study()?;
    let quantities = if left_out { None } else { Some(study.quantities()?) };
    let multiplier = study.next_multiplier()?;
    let (domain, ledger) = (session.spec().domain(), session.ledger());
    let mut status = json!({
        "study": session.name(),
        "direction": session.spec().direction().name(),
        "observed": ledger.count(TrialState::Observed),
        "pending": ledger.pending(),
        "failed": ledger.count(TrialState::Failed),
        "cancelled": ledger.count(TrialState::Cancelled),
        "late_results": ledger.late(),
        "running": running::json(session)?,
        "best": best.map(|best| show::best(&best, domain)),
        "information": quantities.map(|quantities| quantities.information),
        "hallucination": quantities.map(|quantities| quantities.hallucination),
        "multiplier": multiplier,
        "certificate": certificate.as_ref().ok().and_then(Option::as_ref).map(|c| show::certificate(c, domain)),
    });
    match certificate {
        Ok(Some(_)) => {}
        Ok(None) => status["no_certificate"] = json!(how_to_get_it(session)),
        Err(reason) => status["no_certificate"] = json!(reason.to_string()),
    }
    Ok(status)
}

/// The status for people.
pub fn status_text(session: &mut Session, asked_for: bool) -> Result<String> {
    let Opinions { best, certificate } = opinions(session, asked_for)?;
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
    text += &running::text(session)?;
    match best {
        Some(best) => {
            text += &format!("\n{}", best_lines(&best, session));
            text += &extreme_line(&best, session);
        }
        None => text += "\nno value has been told yet",
    }
    match certificate {
        Ok(None) => text += &format!("\nno certificate: {}", how_to_get_it(session)),
        Ok(Some(certificate)) => {
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
    let values = session.ledger().trials().iter().enumerate().filter_map(|(n, trial)| Some((n, trial.value()?)));
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
