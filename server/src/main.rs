//! The program `toll`.

use std::process::ExitCode;

// glibc's allocator gives nothing back and slows down as threads grow; measured on the proxied path.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    toll::cli::main()
}
