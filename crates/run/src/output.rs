//! What a command prints: kept in a log of limited size, with its last line and its tail at hand. Never more than a few
//! hundred kilobytes in memory, however much it prints.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// So much of what is printed goes to the log.
const LOGGED: usize = 16 << 20;

/// So much of a line is kept.
const LINE: usize = 64 << 10;

/// So much of the end is kept.
const TAIL: usize = 2 << 10;

/// How long to wait for the end of an output whose command has ended: something outside of its group may hold it open.
const PATIENCE: Duration = Duration::from_secs(2);

/// What was printed.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Printed {
    /// The last line that is not blank; of a very long one its beginning.
    pub last_line: String,
    /// The end.
    pub tail: String,
    /// Why not all of it is in the log, if so.
    pub trouble: Option<String>,
}

/// An output that is being read by a thread.
pub struct Output {
    reader: Arc<Mutex<Reader>>,
    ended: Receiver<()>,
}

impl Output {
    /// Reads an output to its end, into a log.
    pub fn read(source: impl Read + Send + 'static, log: &Path) -> std::io::Result<Self> {
        let reader = Arc::new(Mutex::new(Reader::new(File::create(log)?)));
        let (end, ended) = channel();
        let shared = reader.clone();
        let read = move || {
            read_into(source, &shared);
            // Nobody listens any more if the end came too late.
            let _ = end.send(());
        };
        std::thread::Builder::new().name("output".to_string()).spawn(read)?;
        Ok(Self { reader, ended })
    }

    /// What was printed, once the command has ended; what has come so far, if something still holds the output open.
    pub fn finish(self) -> Printed {
        let is_held = self.ended.recv_timeout(PATIENCE).is_err();
        let mut printed = lock(&self.reader).printed();
        if is_held {
            let held = "something that left the command's process group still holds its output";
            printed.trouble.get_or_insert_with(|| held.to_string());
        }
        printed
    }
}

fn lock(reader: &Mutex<Reader>) -> MutexGuard<'_, Reader> {
    // What was taken in before a panic is whole.
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_into(mut source: impl Read, reader: &Mutex<Reader>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => lock(reader).take(&buffer[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                lock(reader).trouble = Some(format!("its output could not be read: {error}"));
                return;
            }
        }
    }
}

struct Reader {
    log: File,
    logged: usize,
    line: Vec<u8>,
    last: Vec<u8>,
    tail: Vec<u8>,
    trouble: Option<String>,
}

impl Reader {
    fn new(log: File) -> Self {
        Self { log, logged: 0, line: vec![], last: vec![], tail: vec![], trouble: None }
    }

    fn printed(&self) -> Printed {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
        let last = if self.line.trim_ascii().is_empty() { &self.last } else { &self.line };
        Printed { last_line: text(last), tail: text(&self.tail), trouble: self.trouble.clone() }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.log(bytes);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        let excess = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..excess);
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.trim_ascii().is_empty() {
            self.last = line;
        }
    }

    fn log(&mut self, bytes: &[u8]) {
        if self.trouble.is_some() {
            return;
        }
        let kept = &bytes[..bytes.len().min(LOGGED - self.logged)];
        self.logged += kept.len();
        if let Err(error) = self.log.write_all(kept) {
            self.trouble = Some(format!("its log could not be written: {error}"));
        } else if kept.len() < bytes.len() {
            self.trouble = Some(format!("it printed more than {} MiB; the log has the first of it", LOGGED >> 20));
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
        let printed = Output::read(std::io::Cursor::new(bytes.to_vec()), &log).unwrap().finish();
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
        let mut bytes = vec![b'x'; LOGGED + (3 << 20)];
        bytes.extend(b"\n0.25\n");
        let (printed, log) = printed(&bytes);
        assert_eq!((printed.last_line.as_str(), log.len()), ("0.25", LOGGED));
        assert!(printed.trouble.unwrap().contains("more than 16 MiB"));
        assert!(printed.tail.ends_with("\n0.25") && printed.tail.len() <= TAIL);
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
