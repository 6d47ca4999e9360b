//! What came along when a study was copied, and what did not.

use manyhands_core::text::counted;
use manyhands_store::CopyReport;
use serde_json::{Value as Json, json};

/// How many trials that do not fit are listed for people.
const LISTED: usize = 20;

/// What came along, as JSON.
pub fn json(copied: &CopyReport) -> Json {
    let unfit = |(trial, error): &(usize, manyhands_store::Error)| json!({"trial": trial, "reason": error.to_string()});
    json!({
        "study": copied.session.name(),
        "observed": copied.observed,
        "failed": copied.failed,
        "unfit": copied.unfit.iter().map(unfit).collect::<Vec<_>>(),
        "pending": copied.pending,
        "enqueued": copied.queued,
    })
}

/// What came along, in lines for people; `old` is the name of the copied study.
pub fn lines(old: &str, copied: &CopyReport) -> Vec<String> {
    let failed = if copied.failed > 0 { format!(" and {} that failed", copied.failed) } else { String::new() };
    let values = counted(copied.observed, "value");
    let mut lines = vec![format!("study {} begins with {values}{failed} of {old}", copied.session.name())];
    if copied.is_renumbered {
        lines.push(format!("its trials have numbers of their own, in the order that they had in {old}"));
    }
    if let Some(direction) = copied.changed_direction {
        lines.push(format!("its direction is now {}; values are as they were", direction.name()));
    }
    if !copied.unfit.is_empty() {
        lines.push(format!("{} not fit it:", plural(copied.unfit.len(), "trial does", "trials do")));
        let shown = copied.unfit.iter().take(LISTED);
        lines.extend(shown.map(|(trial, error)| format!("  trial {trial}: {error}")));
        if copied.unfit.len() > LISTED {
            lines.push(format!("  and {} more (--json lists all)", copied.unfit.len() - LISTED));
        }
    }
    if !copied.pending.is_empty() {
        let stay = plural(copied.pending.len(), "pending trial stays", "pending trials stay");
        lines.push(format!("{stay} with {old}: {}", numbers(&copied.pending)));
    }
    if copied.queued > 0 {
        lines.push(format!("{} with {old}", plural(copied.queued, "enqueued point stays", "enqueued points stay")));
    }
    lines
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn numbers(trials: &[usize]) -> String {
    trials.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
