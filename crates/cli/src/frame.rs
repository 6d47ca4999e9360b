//! Lines at the bottom of a terminal that are drawn again several times per second, each time fitted to its width.
//!
//! Before a frame is drawn, the one before it is erased, however many rows it takes by now: terminals wrap lines again when
//! they become narrower, so rows are counted by the present width. A line of a frame ends with a line break of its own;
//! wider terminals would otherwise join it with the next. Rows are erased one by one: where a frame begins in the first row,
//! erasing all below it at once is clearing the screen, which tmux keeps a copy of.

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
        let mut output = erasing(&self.lines, size);
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

/// What erases these lines, each with its line break, from a terminal of this size, and leaves the cursor where they began.
/// Rows that have left the terminal at its top are beyond reach.
fn erasing(lines: &[String], size: ScreenSize) -> String {
    let rows = lines.iter().map(|line| rows(line, size.width)).sum::<usize>().min(size.height - 1);
    match rows {
        0 => String::new(),
        rows => format!("\r\u{1b}[{rows}A{}\u{1b}[{rows}A", "\u{1b}[2K\u{1b}[B".repeat(rows)),
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

    /// A terminal that wraps its lines again when its width changes, and keeps what leaves it at its top, as tmux does. Its
    /// characters are one column wide.
    struct Screen {
        size: ScreenSize,
        /// All rows, those that have left the terminal too, and whether each is continued in the next.
        rows: Vec<(String, bool)>,
        /// The row and the column of the cursor.
        cursor: (usize, usize),
    }

    impl Screen {
        fn new(size: ScreenSize) -> Self {
            Self { size, rows: vec![(String::new(), false)], cursor: (0, 0) }
        }

        /// How many rows have left it.
        fn history(&self) -> usize {
            self.rows.len().saturating_sub(self.size.height)
        }

        /// Lines as they were written.
        fn lines(&self) -> Vec<String> {
            let (mut lines, mut is_continued) = (Vec::<String>::new(), false);
            for (row, continues) in &self.rows {
                match lines.last_mut().filter(|_| is_continued) {
                    Some(line) => line.push_str(row),
                    None => lines.push(row.clone()),
                }
                is_continued = *continues;
            }
            lines
        }

        fn resize(&mut self, size: ScreenSize) {
            assert_eq!(self.cursor, (self.rows.len() - 1, 0), "the cursor is below all that was written");
            let lines = self.lines();
            *self = Self::new(size);
            self.write(&lines.join("\n"));
        }

        fn write(&mut self, output: &str) {
            let mut rest = output;
            while let Some(c) = rest.chars().next() {
                rest = &rest[c.len_utf8()..];
                match c {
                    '\r' => self.cursor.1 = 0,
                    '\n' => self.cursor = (self.down(), 0),
                    '\u{1b}' => {
                        let end = rest.find(char::is_alphabetic).unwrap_or(rest.len() - 1);
                        self.control(&rest[..=end]);
                        rest = &rest[end + 1..];
                    }
                    c => self.put(c),
                }
            }
        }

        fn control(&mut self, sequence: &str) {
            let (row, column) = self.cursor;
            match sequence {
                "[2K" => self.rows[row] = (String::new(), false),
                "[B" => self.cursor = ((row + 1).min(self.rows.len() - 1), column),
                up => {
                    let rows = up.strip_prefix('[').and_then(|up| up.strip_suffix('A'));
                    let rows: usize = rows.and_then(|rows| rows.parse().ok()).unwrap_or_else(|| panic!("{up:?}"));
                    self.cursor = (row.saturating_sub(rows).max(self.history()), column);
                }
            }
        }

        /// The row below the cursor's, which is new at the end.
        fn down(&mut self) -> usize {
            if self.cursor.0 + 1 == self.rows.len() {
                self.rows.push((String::new(), false));
            }
            self.cursor.0 + 1
        }

        fn put(&mut self, c: char) {
            if self.cursor.1 == self.size.width {
                self.rows[self.cursor.0].1 = true;
                self.cursor = (self.down(), 0);
            }
            let row = &mut self.rows[self.cursor.0].0;
            assert_eq!(row.chars().count(), self.cursor.1, "a line is written where nothing is left of another: {row}");
            row.push(c);
            self.cursor.1 += 1;
        }

        /// Rows at the end without anything in them are those of a frame that was larger.
        fn end_at_cursor(&mut self) {
            assert!(self.rows[self.cursor.0..].iter().all(|(row, _)| row.is_empty()), "{:?}", self.rows);
            self.rows.truncate(self.cursor.0 + 1);
        }
    }

    #[test]
    fn whatever_the_width_was_a_frame_replaces_the_one_before_and_nothing_else() {
        let (mut drawn, mut screen) = (Drawn::default(), Screen::new(ScreenSize { width: 80, height: 24 }));
        let wide = ["7 of 40 trials, best 1.5".to_string(), "x".repeat(150), String::new(), "y".repeat(99)];
        let mut printed = Vec::new();
        for (step, width) in [80, 60, 61, 200, 20, 79, 33, 100, 40, 149, 151, 152, 20].into_iter().enumerate() {
            let size = ScreenSize { width, height: 24 };
            screen.resize(size);
            let line = format!("said {step} {}", "z".repeat(40 * (step % 3)));
            let lines = &wide[..1 + step % 4];
            screen.write(&drawn.replace(&format!("{line}\n"), lines, size));
            screen.end_at_cursor();
            printed.push(line);
            let shown = screen.lines();
            let (said, frame) = shown.split_at(printed.len());
            assert_eq!(said, printed, "what was printed stays");
            assert_eq!(frame.len(), lines.len() + 1, "{frame:?}");
            for (shown, line) in frame.iter().zip(lines) {
                let is_whole = line.chars().count() < width;
                assert_eq!(shown == line, is_whole, "{shown} at {width}");
                assert!(shown.chars().count() < width && (is_whole || shown.ends_with('…')), "{shown}");
            }
        }
        screen.write(&drawn.replace("", &[], screen.size));
        screen.end_at_cursor();
        assert_eq!(screen.lines().len(), printed.len() + 1, "it is gone");
    }

    #[test]
    fn a_frame_that_fills_the_terminal_leaves_nothing_above_it_however_often_it_is_drawn() {
        let size = ScreenSize { width: 40, height: 6 };
        let (mut drawn, mut screen) = (Drawn::default(), Screen::new(size));
        let rows: Vec<String> = (0..30).map(|row| format!("trial {row} {}", "x".repeat(25))).collect();
        (0..20).for_each(|_| screen.write(&drawn.replace("", &rows, size)));
        assert_eq!((screen.history(), screen.rows.len()), (0, 6), "the cursor has the last row");
        screen.write(&drawn.replace("said\n", &rows, size));
        assert_eq!((screen.history(), screen.rows[0].0.as_str()), (1, "said"), "what is printed moves up");
        let narrow = ScreenSize { width: 20, ..size };
        screen.resize(narrow);
        let once = screen.history();
        (0..20).for_each(|_| screen.write(&drawn.replace("", &rows, narrow)));
        assert_eq!(screen.history(), once, "what it wrapped to is there once");
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
