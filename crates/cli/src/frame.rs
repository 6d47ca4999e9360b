//! Lines at the bottom of a terminal that are drawn again several times per second, each time fitted to its width.
//!
//! Before a frame is drawn, the one before it is erased, however many rows it takes by now: terminals wrap lines again when
//! they become narrower, so rows are counted by the present width. A line of a frame ends with a line break of its own;
//! wider terminals would otherwise join it with the next.

use std::io::{Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use console::{Term, is_dumb, measure_text_width, truncate_str};

/// The time between two drawings.
const TICK: Duration = Duration::from_millis(200);

/// The narrowest and lowest terminal that a frame is fitted to; in a smaller one it is cut by the terminal.
const SMALLEST: ScreenSize = ScreenSize { width: 20, height: 3 };

/// The lines of a frame for a terminal of this width; each is cut where it is wider.
pub type Lines = dyn Fn(usize) -> Vec<String> + Send + Sync;

/// A frame on standard error. It is gone from the terminal when dropped.
pub struct Frame {
    terminal: Arc<Terminal>,
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Frame {
    /// Draws these lines until it is dropped; none where standard error is no terminal that can be drawn on.
    pub fn start(lines: Box<Lines>) -> Option<Self> {
        let term = Term::stderr();
        if !term.is_term() || is_dumb() {
            return None;
        }
        let terminal = Arc::new(Terminal { term, lines, drawn: Mutex::default() });
        let (stop, stopped) = channel::<()>();
        let drawing = terminal.clone();
        let draw = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(TICK) {
                drawing.draw("");
            }
        };
        // Without the thread it is drawn less often: whenever something has happened.
        let thread = std::thread::Builder::new().name("frame".to_string()).spawn(draw).ok();
        terminal.draw("");
        Some(Self { terminal, stop: Some(stop), thread })
    }

    /// Draws it now, below this text, which stays. The text is safe to print and ends with a line break, or is empty.
    pub fn print(&self, text: &str) {
        self.terminal.draw(text);
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // The thread ends by itself; its panic would concern nobody.
            let _ = thread.join();
        }
        self.terminal.erase();
    }
}

/// A terminal, what is to be drawn on it, and what is there.
struct Terminal {
    term: Term,
    lines: Box<Lines>,
    drawn: Mutex<Drawn>,
}

/// What is on the terminal.
#[derive(Debug, Default)]
struct Drawn {
    /// The frame's lines.
    lines: Vec<String>,
    /// Whether the terminal has gone: nothing more is drawn.
    is_closed: bool,
}

impl Terminal {
    fn draw(&self, text: &str) {
        let mut drawn = self.drawn();
        let size = ScreenSize::of(&self.term);
        let lines = (self.lines)(size.width);
        let output = drawn.replace(text, &lines, size);
        drawn.write(&output);
    }

    fn erase(&self) {
        let mut drawn = self.drawn();
        let output = drawn.replace("", &[], ScreenSize::of(&self.term));
        drawn.write(&output);
    }

    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        // What is on the terminal is noted before it is written.
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drawn {
    /// In one piece, so that nothing flickers. A terminal that has gone is no error.
    fn write(&mut self, output: &str) {
        if !self.is_closed && stderr().lock().write_all(output.as_bytes()).is_err() {
            self.is_closed = true;
        }
    }

    /// What makes a terminal show a text and then these lines in place of the frame that it shows.
    fn replace(&mut self, text: &str, lines: &[String], size: ScreenSize) -> String {
        let mut output = erasing(&self.lines, size.width);
        output += text;
        let shown: Vec<String> = fitted(lines, size.height - 1)
            .iter()
            .map(|line| truncate_str(line, size.width - 1, "…").into_owned())
            .collect();
        shown.iter().for_each(|line| output += &format!("{line}\n"));
        self.lines = shown;
        output
    }
}

/// As many lines as there are rows, the last row of a terminal being left free for the cursor; where that is not all of them,
/// the last one says so.
fn fitted(lines: &[String], rows: usize) -> Vec<String> {
    if lines.len() <= rows {
        return lines.to_vec();
    }
    let (shown, hidden) = lines.split_at(rows - 1);
    shown.iter().cloned().chain([format!("  and {} more", hidden.len())]).collect()
}

/// What erases these lines, each with its line break, from a terminal that is so wide now.
fn erasing(lines: &[String], width: usize) -> String {
    match lines.iter().map(|line| rows(line, width)).sum::<usize>() {
        0 => String::new(),
        rows => format!("\r\u{1b}[{rows}A\u{1b}[J"),
    }
}

/// How many rows a line takes. A wide character that does not fit at the end of a row begins the next one.
fn rows(line: &str, width: usize) -> usize {
    let (mut rows, mut column) = (1, 0);
    for c in line.chars() {
        let own = measure_text_width(c.encode_utf8(&mut [0; 4]));
        if column + own > width {
            (rows, column) = (rows + 1, 0);
        }
        column += own;
    }
    rows
}

/// The size of a terminal, in columns and rows.
#[derive(Debug, Clone, Copy)]
struct ScreenSize {
    width: usize,
    height: usize,
}

impl ScreenSize {
    fn of(term: &Term) -> Self {
        let (height, width) = term.size();
        Self { width: usize::from(width).max(SMALLEST.width), height: usize::from(height).max(SMALLEST.height) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal that wraps its lines again when its width changes, as most do. Its characters are one column wide.
    struct Screen {
        width: usize,
        /// Lines as they were written, without regard to the width; the cursor is behind the last one.
        lines: Vec<String>,
    }

    impl Screen {
        fn write(&mut self, output: &str) {
            let mut rest = output;
            while let Some(c) = rest.chars().next() {
                if let Some(after) = rest.strip_prefix("\r\u{1b}[") {
                    let (up, after) = after.split_once('A').unwrap_or_default();
                    self.up(up.parse().unwrap_or(0));
                    rest = after.strip_prefix("\u{1b}[J").unwrap_or("the frame is erased");
                    continue;
                }
                match c {
                    '\n' => self.lines.push(String::new()),
                    c => self.lines.iter_mut().last().into_iter().for_each(|line| line.push(c)),
                }
                rest = &rest[c.len_utf8()..];
            }
        }

        /// Moves the cursor up by so many rows and erases what is below.
        fn up(&mut self, mut rows: usize) {
            assert_eq!(self.lines.pop().as_deref(), Some(""), "the cursor is at the beginning of a line");
            while rows > 0 {
                let line = self.lines.pop().unwrap_or_default();
                let own = line.chars().count().div_ceil(self.width).max(1);
                assert!(own <= rows, "half of a line would stay: {line}");
                rows -= own;
            }
            self.lines.push(String::new());
        }
    }

    #[test]
    fn whatever_the_width_was_a_frame_replaces_the_one_before_and_nothing_else() {
        let (mut drawn, mut screen) = (Drawn::default(), Screen { width: 80, lines: vec![String::new()] });
        let wide = ["7 of 40 trials, best 1.5".to_string(), "x".repeat(150), String::new(), "y".repeat(99)];
        let mut printed = Vec::new();
        for (step, width) in [80, 60, 61, 200, 20, 79, 33, 100, 40, 149, 151, 152, 20].into_iter().enumerate() {
            screen.width = width;
            let (text, line) = (format!("said {step}\n"), format!("said {step}"));
            let lines = &wide[..1 + step % 4];
            screen.write(&drawn.replace(&text, lines, ScreenSize { width, height: 24 }));
            printed.push(line);
            let (said, frame) = screen.lines.split_at(printed.len());
            assert_eq!(said, printed, "what was printed stays");
            assert_eq!(frame.len(), lines.len() + 1, "{frame:?}");
            for (shown, line) in frame.iter().zip(lines) {
                let is_whole = line.chars().count() < width;
                assert_eq!(shown == line, is_whole, "{shown} at {width}");
                assert!(shown.chars().count() < width && (is_whole || shown.ends_with('…')), "{shown}");
            }
        }
        screen.write(&drawn.replace("", &[], ScreenSize { width: 20, height: 24 }));
        assert_eq!(screen.lines.len(), printed.len() + 1, "it is gone");
    }

    #[test]
    fn wide_characters_take_two_columns_and_a_low_terminal_says_how_many_lines_it_hides() {
        let mut drawn = Drawn::default();
        let lines = ["損失関数の名前".to_string(), "a".to_string(), "b".to_string(), "c".to_string()];
        let output = drawn.replace("", &lines, ScreenSize { width: 10, height: 3 });
        assert_eq!(output, "損失関数…\n  and 3 …\n");
        assert_eq!([9, 8, 5, 4].map(|width| rows("損失関数…", width)), [1, 2, 2, 3], "a half row stays empty");
    }
}
