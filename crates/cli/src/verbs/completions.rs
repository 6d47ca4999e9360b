//! `manyhands completions`: what a shell needs to complete commands.

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::output::print_as_is;

const EXAMPLES: &str = "\
Examples:
  manyhands completions bash > /etc/bash_completion.d/manyhands
  manyhands completions zsh > ~/.zfunc/_manyhands
  manyhands completions fish > ~/.config/fish/completions/manyhands.fish";

/// Print the completions of a shell.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

pub fn run(options: &Options, mut command: Command) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut command, "manyhands", &mut text);
    print_as_is(&String::from_utf8_lossy(&text))
}
