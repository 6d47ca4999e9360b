//! The state of a study: counts, the best trial, the certificate.

use manyhands_core::study::{CERTIFIED_VALUES, Quantities};
use manyhands_core::text::{counted, short};
use manyhands_core::{Best, Certificate, Error as StudyError, TrialState};
use manyhands_store::{Result, Session};
use serde_json::{Value as Json, json};

use crate::{best, certificate, workers};

/// Whether quantities that take long are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Up to [`CERTIFIED_VALUES`] values only: beyond, the certificate, the information and the hallucination factor take seconds
    /// to minutes.
    Bounded,
    /// Always.
    Full,
}

/// The status as JSON.
pub fn json(session: &mut Session, effort: Effort) -> Result<Json> {
    let Findings { best, certificate } = findings(session, effort)?;
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
        "running": workers::json(session)?,
        "best": best.map(|best| best::json(&best, domain)),
        "information": quantities.map(|quantities| quantities.information),
        "hallucination": quantities.map(|quantities| quantities.hallucination),
        "multiplier": multiplier,
        "certificate": certificate.as_ref().ok().map(|found| certificate::json(found, domain)),
    });
    if let Err(reason) = certificate {
        status["no_certificate"] = json!(reason.text(session));
    }
    Ok(status)
}

/// The status for people.
pub fn text(session: &mut Session, effort: Effort) -> Result<String> {
    let Findings { best, certificate } = findings(session, effort)?;
    let mut text = counts(session) + &workers::text(session)?;
    match best {
        Some(best) => {
            text += &format!("\n{}", best::text(&best, session.spec().domain()));
            text += &extreme_line(&best, session);
        }
        None => text += "\nno value has been recorded yet",
    }
    match certificate {
        Ok(found) => text += &format!("\ncertificate: {}", certificate::text(&found, session.spec().domain())),
        Err(NoCertificate::Refused(StudyError::NothingObserved)) => {}
        Err(reason) => text += &format!("\nno certificate: {}", reason.text(session)),
    }
    Ok(text)
}

/// The best trial and the certificate, or why there is none.
struct Findings {
    best: Option<Best>,
    certificate: std::result::Result<Certificate, NoCertificate>,
}

/// Why there is no certificate.
enum NoCertificate {
    /// It takes long and was not asked for.
    TooCostly,
    /// The study does not give one.
    Refused(StudyError),
}

impl NoCertificate {
    fn text(&self, session: &Session) -> String {
        match self {
            Self::Refused(reason) => reason.to_string(),
            Self::TooCostly => {
                let observed = session.ledger().count(TrialState::Observed);
                format!("with {observed} values it takes long; status --certificate computes it")
            }
        }
    }
}

fn findings(session: &mut Session, effort: Effort) -> Result<Findings> {
    let is_costly = is_too_costly(session, effort);
    let study = session.study()?;
    let best = match study.best() {
        Ok(best) => Some(best),
        Err(StudyError::NothingObserved) => None,
        Err(error) => return Err(error.into()),
    };
    let certificate = match is_costly {
        true => Err(NoCertificate::TooCostly),
        false => study.certificate().map_err(NoCertificate::Refused),
    };
    Ok(Findings { best, certificate })
}

fn is_too_costly(session: &Session, effort: Effort) -> bool {
    effort == Effort::Bounded && session.ledger().count(TrialState::Observed) > CERTIFIED_VALUES
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
    text
}

/// The trial with the most extreme value, if it is not the best one.
fn extreme_line(best: &Best, session: &Session) -> String {
    let Some((trial, value)) = best::most_extreme(best, session) else { return String::new() };
    let word = session.spec().direction().superlative();
    format!("\n{word} value: {} (trial {trial}), but less certain", short(value))
}
