//! Signals: Ctrl-C once and twice, being told to end, and a limit on the size of files. Whatever the rest of the process is
//! computing or waiting for, an urgent stop ends it in time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use manyhands_report::news;
use manyhands_report::run::HOW_TO_CONTINUE;
use manyhands_run::{Stop, Unreported};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};

use crate::exit;
use crate::stderr::say;

/// How long after an urgent stop the process ends, whatever it does: longer than the grace that commands have.
const DEADLINE: Duration = Duration::from_millis(2200);

/// How long it then has to save what is not reported.
const LAST: Duration = Duration::from_millis(700);

/// Listens until it is dropped.
pub struct Listening {
    handle: Handle,
    is_closing: Arc<AtomicBool>,
    /// What is to be saved before the process ends; none yet while its store is being opened.
    unreported: Arc<OnceLock<Unreported>>,
}

impl Listening {
    /// From now on trials may run, whose outcomes are to be saved. Until then any signal ends the process at once: there
    /// is nothing to finish, and a store may take long to answer.
    pub fn guard(&self, unreported: &Unreported) {
        self.unreported.get_or_init(|| unreported.clone());
    }

    /// Every trial has ended, and only the closing report is left: from now on any signal ends the process at once.
    pub fn close(&self) {
        self.is_closing.store(true, Ordering::SeqCst);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.handle.close();
    }
}

/// Turns signals into a request to stop: Ctrl-C lets trials finish, a second one and the others do not.
pub fn listen(stop: &Stop) -> Result<Listening> {
    let mut wanted = vec![SIGINT, SIGTERM];
    // Started with nohup, it is to outlive its terminal.
    if !is_ignored(SIGHUP) {
        wanted.push(SIGHUP);
    }
    let mut signals = Signals::new(wanted).context("cannot listen to signals")?;
    let (handle, is_closing, unreported) = (signals.handle(), Arc::new(AtomicBool::new(false)), Arc::default());
    let (stop, closing, guarded): (_, _, Arc<OnceLock<Unreported>>) =
        (stop.clone(), is_closing.clone(), Arc::clone(&unreported));
    std::thread::Builder::new().name("signals".to_string()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGINT {
                stop.request()
            } else {
                stop.request_urgently()
            }
            let Some(unreported) = guarded.get() else { save_and_exit(None) };
            if closing.load(Ordering::SeqCst) {
                save_and_exit(Some(unreported.clone()));
            }
            if stop.is_urgent() {
                sleep(DEADLINE);
                save_and_exit(Some(unreported.clone()));
            }
        }
    })?;
    Ok(Listening { handle, is_closing, unreported })
}

/// Ends the process, having saved what is not reported. Neither a disk nor a terminal that hangs holds it up for long.
fn save_and_exit(unreported: Option<Unreported>) -> ! {
    let (done, saved) = channel();
    let save = move || {
        for saved in unreported.iter().flat_map(Unreported::save) {
            news::line(&saved.news()).iter().for_each(|line| say(line));
        }
        say(HOW_TO_CONTINUE);
        // The other end may have stopped waiting.
        let _ = done.send(());
    };
    if std::thread::Builder::new().name("last".to_string()).spawn(save).is_ok() {
        let _ = saved.recv_timeout(LAST);
    }
    std::process::exit(i32::from(exit::INTERRUPTED))
}

/// Whether this process was started so as to ignore a signal; where the system does not tell, it was not.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}

/// A write beyond the limit on the size of files is to fail, and not to end the process.
pub fn survive_file_limits() -> Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).context("cannot handle signals").map(drop)
}
