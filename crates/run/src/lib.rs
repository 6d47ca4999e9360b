//! Runs the black box: workers that start commands, read their values, and report them to a study's store.
//!
//! The only room that starts processes. Unix only: it works with process groups.

mod attempt;
mod error;
mod failure;
mod group;
mod output;
mod plan;
mod runner;
mod settings;
mod stop;
mod template;
mod unreported;
mod value;

pub use error::{Error, Result};
pub use failure::{Cause, Failure};
pub use plan::{Before, News, Plan, Standing, Summary};
pub use runner::{Control, run};
pub use settings::{RunSettings, attach_settings};
pub use stop::Stop;
pub use template::Placeholders;
pub use unreported::{Saved, Unreported};
pub use value::{Unreadable, read_value};
