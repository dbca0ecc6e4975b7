//! The table of settings as command line flags.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};

use super::{Layers, SETTINGS, Setting};

/// Every setting: what `toll serve` takes.
#[derive(Clone, Debug, Default)]
pub struct AllFlags(BTreeMap<&'static str, String>);

/// What every command takes: where the database is.
#[derive(Clone, Debug, Default)]
pub struct CommonFlags {
    flags: BTreeMap<&'static str, String>,
    file: Option<PathBuf>,
}

const COMMON: [&str; 2] = ["database_url", "data_dir"];

fn is_common(setting: &&Setting) -> bool {
    COMMON.contains(&setting.key)
}

fn arg(setting: &'static Setting) -> Arg {
    let default = match setting.default {
        "" => String::new(),
        default => format!(" [default: {default}]"),
    };
    // clap takes names that live as long as the program; this is built once.
    let flag: &'static str = setting.key.replace('_', "-").leak();
    let help = format!("{}{default} [env: {}]", setting.doc.trim(), setting.variable);
    Arg::new(setting.key).long(flag).value_name(setting.value).help(help)
}

fn given(
    matches: &ArgMatches,
    settings: impl Iterator<Item = &'static Setting>,
) -> BTreeMap<&'static str, String> {
    settings.filter_map(|s| matches.get_one::<String>(s.key).map(|text| (s.key, text.clone()))).collect()
}

impl CommonFlags {
    /// These, those of `serve`, the environment and the file.
    pub fn layers(self, serve: AllFlags) -> Layers {
        let mut flags = self.flags;
        flags.extend(serve.0);
        Layers::from_environment(flags, self.file)
    }
}

impl Args for AllFlags {
    fn augment_args(command: Command) -> Command {
        command.args(SETTINGS.iter().filter(|s| !is_common(s)).map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AllFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(AllFlags(given(matches, SETTINGS.iter().filter(|s| !is_common(s)))))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for CommonFlags {
    fn augment_args(command: Command) -> Command {
        let config = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help("Settings as KEY = \"VALUE\" lines [default: toll.toml, if it is there]");
        let common = SETTINGS.iter().filter(is_common).map(arg);
        command.args(common.chain([config]).map(|arg| arg.global(true).help_heading("Settings")))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CommonFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let flags = given(matches, SETTINGS.iter().filter(is_common));
        Ok(CommonFlags { flags, file: matches.get_one::<PathBuf>("config").cloned() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
