//! Runs the black box: workers that start commands, read their values, and report them to a study's store.
//!
//! 1. Open a study: a [`Session`](manyhands_store::Session) of a store. `[run]` of its study file says what command to run
//!    and how ([`RunSettings`]).
//! 2. Make a [`Plan`]: the settings, the folder that commands run in, how many trials there shall be.
//! 3. [`run`] starts as many commands at once as the plan has workers. A command's last line is its value; a command that
//!    gives none is a [`Failure`], which is recorded too. What happens is told as [`News`].
//! 4. From another thread, [`Stop`] ends the run early, and [`Unreported`] saves outcomes that could not be recorded.
//!
//! ```
//! use std::time::Duration;
//!
//! use manyhands_run::{Control, Error, Plan, RunSettings, Stop, Unreported, run};
//! use manyhands_store::{Access, Location, Session, Source};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = r#"
//! name = "identity"
//! [space]
//! x = { float = [-1.0, 1.0] }
//! [run]
//! command = ["echo", "{x}"]
//! workers = 2
//! trials = 4
//! "#;
//! let source = Source::read(text, |path| Err(format!("this study names no file, and not {path}")))?;
//! let store = "memory:".parse::<Location>()?.open(Access::Create)?;
//! let mut session = Session::open_or_create(store, source)?;
//! let settings = RunSettings::of_stored(session.source())?;
//! let settings = settings.ok_or(Error::NoCommand { study: "identity".to_string() })?;
//! session.set_workers(Some(settings.workers));
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let plan = Plan::new(settings, folder.to_path_buf(), Duration::from_secs(60));
//! let control = Control { stop: Stop::new(), unreported: Unreported::of(&session, &plan) };
//! let mut reader = session.another_session();
//! let summary = run(session, plan, &control, |news| println!("{news:?}"))?;
//! assert_eq!((summary.told, summary.failed), (4, 0));
//! assert!(reader.study()?.best()?.value <= 1.0);
//! # Ok(()) }
//! ```
//!
//! This crate is the only one that starts the commands of studies. Unix only: it works with process groups.

mod attempt;
mod error;
mod failure;
mod group;
mod likeness;
mod output;
mod plan;
mod runner;
mod settings;
mod stop;
mod stop_rule;
mod template;
mod unreported;
mod value;

pub use error::{Error, Mistake, Result};
pub use failure::{Cause, Failure};
pub use plan::{CallOffReason, News, Plan, StartReason, StudyProgress, Summary};
pub use runner::{Control, run};
pub use settings::{RunDraft, RunSettings};
pub use stop::Stop;
pub use template::CommandTemplate;
pub use unreported::{Saved, Unreported};
pub use value::Unreadable;
