//! What a command prints: written to a log of limited size, with its last line and its end kept in memory. That is never
//! more than a few megabytes, however much the command prints.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many bytes of what is printed go to the log.
const LOG_LIMIT: usize = 16 << 20;

/// How many bytes of a line are kept; a longer line is not a value.
pub const LINE_LIMIT: usize = 1 << 20;

/// How many bytes of the end are kept.
const TAIL_LENGTH: usize = 2 << 10;

/// How long to wait for the end of an output whose command has ended: a process outside of its group may hold it open.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often to check whether there is still time to wait for that end.
const TICK: Duration = Duration::from_millis(20);

/// What was printed.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Printed {
    /// The last line that is not blank, or the beginning of a very long one.
    pub last_line: String,
    /// Whether that is only the line's beginning.
    pub is_cut: bool,
    /// The end.
    pub tail: String,
    /// Why not all of it is in the log, if so.
    pub warning: Option<String>,
}

/// An output that is being read by a thread.
pub struct Output {
    reader: Arc<Mutex<OutputReader>>,
    ended: Receiver<()>,
}

impl Output {
    /// Reads an output to its end, into a log.
    pub fn read(source: impl Read + Send + 'static, log: File) -> std::io::Result<Self> {
        let reader = Arc::new(Mutex::new(OutputReader::new(log)));
        let (end, ended) = channel();
        let shared = reader.clone();
        let read = move || {
            read_into(source, &shared);
            // Fails only if the end came too late to matter.
            let _ = end.send(());
        };
        std::thread::Builder::new().name("output".to_string()).spawn(read)?;
        Ok(Self { reader, ended })
    }

    /// What was printed, once the command has ended; what was printed so far, if something still holds the output open or
    /// there is no time left to wait for its end.
    pub fn finish(self, is_urgent: impl Fn() -> bool) -> Printed {
        let start = Instant::now();
        let mut ended = self.ended.recv_timeout(TICK);
        while ended.is_err() && start.elapsed() < PATIENCE && !is_urgent() {
            ended = self.ended.recv_timeout(TICK);
        }
        let is_held = ended.is_err();
        let mut printed = lock(&self.reader).printed();
        if is_held {
            let held = "a process outside the command's group still holds its output open";
            printed.warning.get_or_insert_with(|| held.to_string());
        }
        printed
    }
}

fn lock(reader: &Mutex<OutputReader>) -> MutexGuard<'_, OutputReader> {
    // Every change is complete before anything in it can panic.
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_into(mut source: impl Read, reader: &Mutex<OutputReader>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => lock(reader).take(&buffer[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                lock(reader).warning = Some(format!("its output could not be read: {error}"));
                return;
            }
        }
    }
}

/// A line, or its beginning.
#[derive(Default)]
struct LineBuffer {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl LineBuffer {
    fn extend(&mut self, bytes: &[u8]) {
        let room = LINE_LIMIT.saturating_sub(self.bytes.len());
        self.is_cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// A line that was cut is not blank: what was cut off may be anything.
    fn is_blank(&self) -> bool {
        !self.is_cut && self.bytes.trim_ascii().is_empty()
    }
}

struct OutputReader {
    log: File,
    logged: usize,
    line: LineBuffer,
    last: LineBuffer,
    tail: Vec<u8>,
    warning: Option<String>,
}

impl OutputReader {
    fn new(log: File) -> Self {
        let (line, last) = (LineBuffer::default(), LineBuffer::default());
        Self { log, logged: 0, line, last, tail: vec![], warning: None }
    }

    fn printed(&self) -> Printed {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
        let last = if self.line.is_blank() { &self.last } else { &self.line };
        let (last_line, is_cut) = (text(&last.bytes), last.is_cut);
        Printed { last_line, is_cut, tail: text(&self.tail), warning: self.warning.clone() }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.log(bytes);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend(part.strip_suffix(b"\n").unwrap_or(part));
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL_LENGTH)..]);
        let excess = self.tail.len().saturating_sub(TAIL_LENGTH);
        self.tail.drain(..excess);
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.is_blank() {
            self.last = line;
        }
    }

    fn log(&mut self, bytes: &[u8]) {
        if self.warning.is_some() {
            return;
        }
        let kept = &bytes[..bytes.len().min(LOG_LIMIT - self.logged)];
        self.logged += kept.len();
        if let Err(error) = self.log.write_all(kept) {
            self.warning = Some(format!("its log could not be written: {error}"));
        } else if kept.len() < bytes.len() {
            self.warning = Some(format!("it printed more than {} MiB; the log has the first of it", LOG_LIMIT >> 20));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    fn printed(bytes: &[u8]) -> (Printed, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("out.log");
        let output = Output::read(std::io::Cursor::new(bytes.to_vec()), File::create_new(&log).unwrap());
        let printed = output.unwrap().finish(|| false);
        (printed, std::fs::read(log).unwrap())
    }

    #[test]
    fn the_last_line_is_the_last_that_is_not_blank() {
        for (bytes, last) in
            [("a\nb\n", "b"), ("a\nb", "b"), ("a\r\n\n  \n", "a"), ("", ""), ("\n\n", ""), ("x: 1\n2.5 \n", "2.5")]
        {
            assert_eq!(printed(bytes.as_bytes()).0.last_line, last, "{bytes:?}");
        }
    }

    #[test]
    fn much_output_is_cut_in_the_log_and_its_end_is_still_known() {
        let mut bytes = vec![b'x'; LOG_LIMIT + (3 << 20)];
        bytes.extend(b"\n0.25\n");
        let (printed, log) = printed(&bytes);
        assert_eq!((printed.last_line.as_str(), log.len()), ("0.25", LOG_LIMIT));
        assert!(printed.warning.unwrap().contains("more than 16 MiB"));
        assert!(printed.tail.ends_with("\n0.25") && printed.tail.len() <= TAIL_LENGTH);
    }

    #[test]
    fn a_last_line_is_whole_or_said_to_be_cut() {
        let number = |length: usize| format!("7\n3.{}e5\n", "0".repeat(length - 4));
        for (length, is_cut) in [(LINE_LIMIT, false), (LINE_LIMIT + 1, true), (3 * LINE_LIMIT, true)] {
            for end in ["", " \n\n"] {
                assert_eq!(printed((number(length) + end).as_bytes()).0.is_cut, is_cut, "{length}");
            }
        }
        let blank = [b"7\n".as_slice(), &vec![b' '; LINE_LIMIT + 1], b"8\n"].concat();
        assert!(printed(&blank).0.is_cut, "the 8 was not seen");
        let later = [b"x".repeat(2 * LINE_LIMIT).as_slice(), b"\n7\n"].concat();
        assert_eq!((printed(&later).0.last_line.as_str(), printed(&later).0.is_cut), ("7", false));
    }

    proptest! {
        #[test]
        fn any_bytes_are_logged_as_they_are(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let (printed, log) = printed(&bytes);
            prop_assert_eq!(&log, &bytes);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let expected = text.split('\n').rfind(|line| !line.trim_ascii().is_empty()).unwrap_or("");
            prop_assert_eq!(printed.last_line, expected.trim());
        }
    }
}
