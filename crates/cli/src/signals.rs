//! Signals: Ctrl-C once and twice, being told to end, and a limit on the size of files.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use manyhands_run::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};

/// Listens until it is dropped.
pub struct Listening(Handle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Turns signals into a wish to stop: Ctrl-C lets trials finish, a second one and the others do not.
pub fn listen(stop: &Stop) -> Result<Listening> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen to signals")?;
    let (handle, stop) = (signals.handle(), stop.clone());
    std::thread::Builder::new().name("signals".to_string()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGINT { stop.more() } else { stop.now() }
        }
    })?;
    Ok(Listening(handle))
}

/// A write beyond the limit on the size of files is to fail, and not to end the process.
pub fn survive_file_limits() -> Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).context("cannot handle signals").map(drop)
}
