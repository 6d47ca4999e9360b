//! What a user is told once, before the first suggestion of a study.

use manyhands_store::Session;

use crate::stderr::say;

/// Says it, if nothing was suggested yet.
pub fn before_first_ask(session: &Session) {
    let is_first = session.ledger().trials().iter().all(|trial| trial.choice().is_none());
    if let Some(caution) = session.spec().caution(session.most_pending()).filter(|_| is_first) {
        say(&format!("warning: {}: {}", caution.rule, caution.what));
        say(&format!("hint: {}", caution.hint));
    }
}
