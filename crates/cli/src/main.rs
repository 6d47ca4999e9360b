//! The binary: its arguments to the library, the library's exit code to the system.

use std::process::ExitCode;

fn main() -> ExitCode {
    manyhands::main(std::env::args_os()).into()
}
