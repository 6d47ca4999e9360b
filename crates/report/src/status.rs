//! The state of a study: counts, the best point, and what may still be gained: a certificate, or a learned model's outlook.

use manyhands_core::study::{OUTLOOK_VALUES, Quantities};
use manyhands_core::text::counted;
use manyhands_core::{Best, Certificate, Error as StudyError, Outlook, TrialState};
use manyhands_store::{Result, Session};
use serde_json::{Value as Json, json};

use crate::{best, certificate, outlook, workers};

/// Whether quantities that take long are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Up to [`OUTLOOK_VALUES`] values only: beyond, the outlook or certificate, the information and the hallucination factor
    /// take seconds to minutes.
    Bounded,
    /// Always.
    Full,
}

/// The status as JSON.
pub fn json(session: &mut Session, effort: Effort) -> Result<Json> {
    let Findings { best, promise } = findings(session, effort)?;
    let is_costly = is_too_costly(session, effort);
    let study = session.study()?;
    let quantities: Option<Quantities> = if is_costly { None } else { Some(study.quantities()?) };
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
        "enqueued": ledger.queue().len(),
        "running": workers::json(session)?,
        "best": best.map(|best| best::json(&best, domain)),
        "information": quantities.map(|quantities| quantities.information),
        "hallucination": quantities.map(|quantities| quantities.hallucination),
        "multiplier": multiplier,
        "certificate": null,
        "outlook": null,
    });
    match promise {
        Promise::Certificate(found) => status["certificate"] = certificate::json(&found, domain),
        Promise::Outlook(found) => status["outlook"] = outlook::json(&found),
        Promise::None(reason) => status["no_certificate"] = json!(reason.to_string()),
        Promise::TooCostly if session.spec().states_theorems() => {
            status["no_certificate"] = json!(too_costly(session));
        }
        Promise::TooCostly | Promise::NothingObserved => {}
    }
    Ok(status)
}

/// The status for people.
pub fn text(session: &mut Session, effort: Effort) -> Result<String> {
    let Findings { best, promise } = findings(session, effort)?;
    let mut text = counts(session) + &workers::text(session)?;
    match &best {
        Some(best) => text += &format!("\n{}", best::text(best, session.spec())),
        None => text += &nothing_recorded(session),
    }
    match promise {
        Promise::Certificate(found) => {
            text += &format!("\ncertificate: {}", certificate::text(&found, best.as_ref(), session.spec().domain()));
        }
        Promise::Outlook(found) => text += &format!("\noutlook: {}", outlook::text(&found)),
        Promise::None(reason) => text += &format!("\nno certificate: {reason}"),
        Promise::TooCostly => text += &format!("\n{}", too_costly(session)),
        Promise::NothingObserved => {}
    }
    Ok(text)
}

/// The best point, and what may still be gained.
struct Findings {
    best: Option<Best>,
    promise: Promise,
}

/// What may still be gained.
enum Promise {
    /// A theorem, where the model is given.
    Certificate(Certificate),
    /// The opinion of a learned model.
    Outlook(Outlook),
    /// The study does not give a certificate.
    None(StudyError),
    /// It takes long and was not asked for.
    TooCostly,
    /// A learned model has nothing to say yet.
    NothingObserved,
}

fn findings(session: &mut Session, effort: Effort) -> Result<Findings> {
    let is_costly = is_too_costly(session, effort);
    let study = session.study()?;
    let best = match study.best() {
        Ok(best) => Some(best),
        Err(StudyError::NothingObserved) => None,
        Err(error) => return Err(error.into()),
    };
    let promise = match (is_costly, study.spec().states_theorems()) {
        (true, _) => Promise::TooCostly,
        (false, true) => study.certificate().map_or_else(Promise::None, Promise::Certificate),
        (false, false) if best.is_none() => Promise::NothingObserved,
        (false, false) => Promise::Outlook(study.outlook()?),
    };
    Ok(Findings { best, promise })
}

/// How to get what takes long.
fn too_costly(session: &Session) -> String {
    let what = if session.spec().states_theorems() { "certificate" } else { "outlook" };
    let observed = session.ledger().count(TrialState::Observed);
    format!("{what}: with {observed} values it takes long; status --{what} computes it")
}

/// That there is no value, and why.
fn nothing_recorded(session: &Session) -> String {
    match session.ledger().count(TrialState::Failed) {
        0 => "\nno value has been recorded yet".to_string(),
        failed => format!("\nno value has been recorded: {} failed; `trials` says why", counted(failed, "trial")),
    }
}

fn is_too_costly(session: &Session, effort: Effort) -> bool {
    effort == Effort::Bounded && session.ledger().count(TrialState::Observed) > OUTLOOK_VALUES
}

fn counts(session: &Session) -> String {
    let ledger = session.ledger();
    let mut text = format!(
        "study {} ({}): {} observed, {} pending, {} failed",
        session.name(),
        session.spec().direction().name(),
        ledger.count(TrialState::Observed),
        ledger.pending(),
        ledger.count(TrialState::Failed),
    );
    let (cancelled, late) = (ledger.count(TrialState::Cancelled), ledger.late());
    if cancelled > 0 {
        text += &format!(", {cancelled} cancelled");
    }
    if late > 0 {
        text += &format!(", {}", counted(late, "late result"));
    }
    let enqueued = ledger.queue().len();
    if enqueued > 0 {
        text += &format!(", {} enqueued", counted(enqueued, "point"));
    }
    text
}
