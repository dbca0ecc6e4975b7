//! The edges of the command line: the default command, and wrong usage in one line.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Command;
use clap::error::ErrorKind;

/// Wrong usage that no single argument shows; one line with the mend.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Misuse(pub String);

/// Puts `serve` where no command is named, so that `toll --listen …` serves.
pub fn with_default(mut arguments: Vec<OsString>, definition: &Command) -> Vec<OsString> {
    let is_value_of_flag = |at: usize| {
        let before = arguments[at - 1].to_string_lossy();
        at > 1 && before.starts_with("--") && !before.contains('=')
    };
    let asks = ["-h", "--help", "-V", "--version"];
    let is_command = |argument: &OsString| definition.get_subcommands().any(|c| *argument == *c.get_name());
    let named = (1..arguments.len()).any(|at| {
        let argument = &arguments[at];
        let is_flag = argument.to_string_lossy().starts_with('-');
        asks.iter().any(|ask| argument == ask) || is_command(argument) || (!is_flag && !is_value_of_flag(at))
    });
    if !named && !arguments.is_empty() {
        arguments.insert(1, "serve".into());
    }
    arguments
}

/// Help and version go to standard output and are no error.
pub fn report(error: &clap::Error, arguments: &[OsString], definition: &Command) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match error.print() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        _ => {
            eprintln!("toll: {}", line(error, arguments, definition));
            ExitCode::from(2)
        }
    }
}

/// What is wrong, and whose help tells what is right.
fn line(error: &clap::Error, arguments: &[OsString], definition: &Command) -> String {
    let command = path(arguments, definition);
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return format!("{command} needs more words: see `{command} --help`");
    }
    let text = error.render().to_string();
    let wrong = text.split("\n\n").next().unwrap_or_default();
    let wrong = one_line(wrong.strip_prefix("error: ").unwrap_or(wrong));
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    match tip.filter(|tip| tip.contains("similar")) {
        Some(tip) => format!("{wrong}: {tip}; see `{command} --help`"),
        None => format!("{wrong}: see `{command} --help`"),
    }
}

/// The command that was meant, such as `toll keys create`.
fn path(arguments: &[OsString], definition: &Command) -> String {
    let (mut path, mut command) = (definition.get_name().to_owned(), definition);
    for argument in arguments.iter().skip(1).filter_map(|argument| argument.to_str()) {
        if let Some(below) = command.find_subcommand(argument) {
            path = format!("{path} {argument}");
            command = below;
        }
    }
    path
}

/// An error and its causes, each once: many say what their cause says, too.
pub fn told(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.is_empty() {
            told = cause;
        } else if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

pub fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::super::{Cli, Command};
    use super::*;

    fn whole(arguments: &[&str]) -> Vec<OsString> {
        with_default(arguments.iter().map(Into::into).collect(), &Cli::command())
    }

    fn parse(arguments: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(whole(arguments))
    }

    fn wrong(arguments: &[&str]) -> String {
        let error = parse(arguments).err().expect("wrong usage");
        line(&error, &whole(arguments), &Cli::command())
    }

    #[test]
    fn without_a_command_toll_serves() {
        for arguments in [
            &["toll"][..],
            &["toll", "--listen", "127.0.0.1:1"],
            &["toll", "--data-dir=/srv", "--log", "debug"],
            &["toll", "serve"],
            &["toll", "--data-dir", "/srv", "serve"],
        ] {
            assert!(
                matches!(parse(arguments).expect("right usage").command, Command::Serve(_)),
                "{arguments:?}"
            );
        }
        let migrate = parse(&["toll", "--data-dir", "/srv", "migrate"]).expect("right usage");
        assert!(matches!(migrate.command, Command::Migrate(_)));
    }

    #[test]
    fn a_cause_that_was_told_is_not_told_again() {
        let error = anyhow::anyhow!("no such table").context("refused: no such table").context("cannot read");
        assert_eq!(told(&error), "cannot read: refused: no such table");
    }

    #[test]
    fn wrong_usage_is_one_line_that_names_the_help() {
        assert_eq!(
            wrong(&["toll", "--lisen", "x"]),
            "unexpected argument '--lisen' found: a similar argument exists: '--listen'; see `toll serve --help`"
        );
        assert_eq!(
            wrong(&["toll", "migrat"]),
            "unrecognized subcommand 'migrat': a similar subcommand exists: 'migrate'; see `toll --help`"
        );
        let missing = wrong(&["toll", "serve", "--listen"]);
        assert!(missing.starts_with("a value is required for '--listen <ADDRESS:PORT>'"), "{missing}");
        assert!(missing.ends_with("see `toll serve --help`") && !missing.contains('\n'), "{missing}");
    }

    #[test]
    fn every_command_has_a_purpose_and_an_example() {
        fn check(command: &clap::Command) {
            let help = command.clone().render_long_help().to_string();
            assert!(command.get_about().is_some(), "{help}");
            assert!(help.contains("Example"), "{help}");
            command.get_subcommands().filter(|c| c.get_name() != "help").for_each(check);
        }
        let mut definition = Cli::command();
        definition.build();
        check(&definition);
    }
}
