//! Mistakes in manyhands itself: a panic is told in one plain line, whatever thread it is in.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::process::ExitCode;

use serde_json::json;

use crate::progress::{say, say_json};

/// The exit code after a panic, as Rust programs have it.
const CODE: u8 = 101;

/// Tells panics in one line; in full, too, for those who ask for it by RUST_BACKTRACE.
pub fn tell_panics() {
    let in_full = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0").then(take_hook);
    let json = std::env::args_os().any(|argument| argument == "--json");
    set_hook(Box::new(move |panic| {
        let message = line(panic.payload(), panic.location().map(ToString::to_string));
        if json {
            let hint = "please report it";
            say_json(&json!({"error": {"code": "internal", "message": message, "hint": hint}}));
        } else {
            say(&format!("{message}; please report it"));
        }
        if let Some(tell) = &in_full {
            tell(panic);
        }
    }));
}

/// Does some work; a panic in it, which has been told, ends it with an exit code of its own.
pub fn guarded(work: impl FnOnce() -> ExitCode) -> ExitCode {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(ExitCode::from(CODE))
}

fn line(payload: &(dyn Any + Send), place: Option<String>) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
    // Where it was matters more than all that it said.
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
        assert_eq!(guarded(|| panic!("no matter")), ExitCode::from(CODE));
        assert_eq!(guarded(|| ExitCode::SUCCESS), ExitCode::SUCCESS);
    }
}
