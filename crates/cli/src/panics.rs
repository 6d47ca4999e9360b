//! Bugs in manyhands itself: a panic, in whatever thread, is reported in one line.

use std::any::Any;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Arc;

use manyhands_report::refusal::Refusal;

use crate::exit;
use crate::stderr::{say, say_json};

/// Does some work; a panic in it is reported in one line and gives an exit code of its own. With RUST_BACKTRACE the hook
/// that was set before reports it as well; afterwards that hook is set again.
pub fn guarded(wants_json: bool, work: impl FnOnce() -> u8) -> u8 {
    let is_verbose = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    let before = Arc::new(take_hook());
    let verbose = is_verbose.then(|| Arc::clone(&before));
    set_hook(Box::new(move |panic| {
        report(panic, wants_json);
        if let Some(hook) = &verbose {
            hook(panic);
        }
    }));
    let code = catch_unwind(AssertUnwindSafe(work)).unwrap_or(exit::PANIC);
    drop(take_hook());
    if let Ok(before) = Arc::try_unwrap(before) {
        set_hook(before);
    }
    code
}

fn report(panic: &PanicHookInfo<'_>, wants_json: bool) {
    let message = line(panic.payload(), panic.location().map(ToString::to_string));
    let hint = "please report it";
    if wants_json {
        let hint = Some(hint.to_string());
        say_json(&Refusal { code: "internal", message, hint, is_bad_input: false }.json());
    } else {
        say(&format!("{message}; {hint}"));
    }
}

fn line(payload: &(dyn Any + Send), place: Option<String>) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
    // The place matters more than the rest of the message.
    let text = text.lines().next().unwrap_or_default();
    let thread = std::thread::current();
    let thread = thread.name().filter(|name| *name != "main").map(|name| format!(" in thread \"{name}\""));
    let place = place.map(|place| format!(" at {place}"));
    format!("internal error{}{}: {text}", thread.unwrap_or_default(), place.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;

    #[test]
    fn a_panic_is_one_line_and_an_exit_code() {
        let said = line(&"index out of bounds\nthe len is 3".to_string(), Some("a.rs:7:1".to_string()));
        assert!(said.starts_with("internal error") && said.ends_with("at a.rs:7:1: index out of bounds"), "{said}");
        assert_eq!(guarded(false, || panic!("no matter")), exit::PANIC);
        assert_eq!(guarded(false, || exit::SUCCESS), exit::SUCCESS);
    }
}
