//! Standard error: lines for people, and where progress is drawn. A closed terminal is no error.

use std::io::{self, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};

use console::{Term, is_dumb};
use indicatif::{ProgressDrawTarget, TermLike};
use manyhands_core::text::printable;
use serde_json::Value as Json;

/// The highest number of redraws of a terminal per second.
const RATE: u8 = 20;

/// Prints a line on standard error, with control characters escaped. If that is closed, nothing else can be done.
pub fn say(line: &str) {
    writeln!(stderr(), "{}", printable(line)).ok();
}

/// A line of JSON on standard error.
pub fn say_json(line: &Json) {
    // Control characters can only be inside its strings.
    let escaped = |c: char| {
        let text = c.to_string();
        if printable(&text) == text { text } else { format!("\\u{:04x}", u32::from(c)) }
    };
    writeln!(stderr(), "{}", line.to_string().chars().map(escaped).collect::<String>()).ok();
}

/// Where progress is drawn: standard error, if it is a terminal that can be drawn on.
pub fn draw_target() -> ProgressDrawTarget {
    let term = Term::buffered_stderr();
    if !term.is_term() || is_dumb() {
        return ProgressDrawTarget::hidden();
    }
    ProgressDrawTarget::term_like_with_hz(Box::new(Terminal { term, is_closed: AtomicBool::new(false) }), RATE)
}

/// A terminal that may be closed at any time. Drawing on it never fails, because indicatif would panic.
#[derive(Debug)]
struct Terminal {
    term: Term,
    is_closed: AtomicBool,
}

impl Terminal {
    fn draw(&self, draw: impl FnOnce(&Term) -> io::Result<()>) -> io::Result<()> {
        if !self.is_closed.load(Ordering::Relaxed) && draw(&self.term).is_err() {
            self.is_closed.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        self.term.size().1
    }

    fn height(&self) -> u16 {
        self.term.size().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.draw(|term| term.move_cursor_up(n))
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.draw(|term| term.move_cursor_down(n))
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.draw(|term| term.move_cursor_right(n))
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.draw(|term| term.move_cursor_left(n))
    }

    fn write_line(&self, s: &str) -> io::Result<()> {
        self.draw(|term| term.write_line(s))
    }

    fn write_str(&self, s: &str) -> io::Result<()> {
        self.draw(|term| term.write_str(s))
    }

    fn clear_line(&self) -> io::Result<()> {
        self.draw(Term::clear_line)
    }

    fn flush(&self) -> io::Result<()> {
        self.draw(Term::flush)
    }
}
