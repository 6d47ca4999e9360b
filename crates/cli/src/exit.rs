//! The exit codes.

/// It did what was asked.
pub const SUCCESS: u8 = 0;
/// What was asked failed, or a check found a fault.
pub const FAILURE: u8 = 1;
/// Bad usage or a bad file.
pub const BAD_INPUT: u8 = 2;
/// A panic, as Rust programs have it.
pub const PANIC: u8 = 101;
/// It was interrupted, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// The code of a check.
pub fn of_check(passed: bool) -> u8 {
    if passed { SUCCESS } else { FAILURE }
}
