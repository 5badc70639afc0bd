//! What the command line takes.

use anyhow::Result;
use cairn_description::Setting;
use cairn_tool::build::{self, BuiltImage};
use cairn_tool::placements::Placements;
use cairn_tool::plugged::Plugged;
use cairn_tool::{layout, paths};
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Cairn, an operating system made of components.
#[derive(Parser)]
#[command(
    name = "cairn",
    bin_name = "./cairn",
    disable_version_flag = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    /// Say which Cairn this is: release, revision, tree, and what builds it
    #[arg(short = 'V', long, exclusive = true)]
    pub version: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Subcommand)]
pub enum Command {
    /// Build what is needed and boot it, console on this terminal (Ctrl-A X leaves)
    Run(RunArguments),
    /// Run every test: on the host, then whole systems in QEMU and on a simulated core
    Test {
        /// A folder of tests/, or `host`, `bench`, `systems`: only those; else a part of tests' names
        #[arg(default_value = "")]
        filter: String,
        /// The long forms of those whole systems that have one, and nothing else
        #[arg(long, conflicts_with = "board")]
        long: bool,
        #[command(flatten)]
        on: On,
    },
    /// Measure: boot the benchmark systems, print a table, write JSON and plots to target/bench/
    Bench {
        /// Only benchmarks with this in their name
        #[arg(default_value = "")]
        filter: String,
        /// In cycles, on a simulated board: `rocket-rtl` or `cva6-rtl`
        #[arg(long, value_name = "NAME")]
        board: Option<String>,
        /// Only a few benchmarks, for simulated boards: under two minutes
        #[arg(long)]
        quick: bool,
        /// Write the results there as well
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Fail when a median is more than 3 % (cycles: 8 %) above its limit, in bench/limits.toml or of the board
        #[arg(long)]
        check: bool,
        /// Write the medians as limits
        #[arg(long, conflicts_with = "check")]
        set_limits: bool,
    },
    /// Say where the cycles of a system go on a simulated core: functions, and lines of memory in no cache
    Profile {
        /// A name in systems/, or the path of a description
        #[arg(default_value = layout::default_system(), value_parser = paths::system)]
        system: String,
        /// The core: `rocket-rtl` or `cva6-rtl`
        #[arg(long, value_name = "NAME")]
        board: Option<String>,
        /// The first cycle from reset that counts
        #[arg(long, value_name = "CYCLE", default_value_t = 0)]
        from: u64,
        /// The cycle in which it ends; if not said, some time after all instances have started
        #[arg(long, value_name = "CYCLE")]
        to: Option<u64>,
        /// Type this file at the console, from the start
        #[arg(long, value_name = "FILE")]
        input: Option<PathBuf>,
        /// Rows of each table
        #[arg(long, value_name = "NUMBER", default_value_t = 20)]
        rows: usize,
    },
    /// Build the bootable image; print its layout report
    Build {
        /// A name in systems/, or the path of a description
        #[arg(default_value = layout::default_system(), value_parser = paths::system)]
        system: String,
        #[command(flatten)]
        variant: Variant,
    },
    /// Check all that can be said of a description without booting it
    Check {
        /// A name in systems/, or the path of a description
        #[arg(default_value = layout::default_system(), value_parser = paths::system)]
        system: String,
        /// Say of each instance what it would save in the kernel domain, and what it would put at risk
        #[arg(long, conflicts_with = "set")]
        placements: bool,
        /// With the calls that a `run --count FILE` counted
        #[arg(long, value_name = "FILE", requires = "placements")]
        profile: Option<PathBuf>,
        #[command(flatten)]
        variant: Variant,
    },
    /// Format descriptions of systems and boards
    Fmt {
        /// Descriptions: names in systems/, or paths; all of the project if none is named
        #[arg(value_name = "DESCRIPTION")]
        named: Vec<PathBuf>,
        /// Write nothing; say which are not formatted, and fail if some are not
        #[arg(long)]
        check: bool,
    },
    /// Draw components, domains and portals
    Graph {
        /// A name in systems/, or the path of a description
        #[arg(default_value = layout::default_system(), value_parser = paths::system)]
        system: String,
        /// The picture, SVG
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Print the bill of materials of an image, in CycloneDX's JSON: what is in it, from where, under which licenses
    Sbom {
        /// A name in systems/, or the path of a description
        #[arg(default_value = layout::default_system(), value_parser = paths::system)]
        system: String,
        /// Write it there instead
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        variant: Variant,
    },
    /// Make a component package, which a system that runs can load; or show what is in one
    Pack {
        /// A package of the system, or a component by its name or path: that with its defaults
        #[arg(required_unless_present = "show")]
        name: Option<String>,
        /// The system whose packages and instances it is made for: a name in systems/, or the path of a description
        #[arg(
            long,
            value_name = "SYSTEM",
            default_value = layout::default_system(),
            value_parser = paths::system
        )]
        system: String,
        #[command(flatten)]
        on: On,
        /// The package
        #[arg(short, long, value_name = "FILE", required_unless_present = "show")]
        output: Option<PathBuf>,
        /// Sign it with this secret key, of Ed25519 in PEM
        #[arg(long, value_name = "FILE", conflicts_with = "show")]
        sign: Option<PathBuf>,
        /// Say what is in this package instead, or what is wrong with it
        #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "output"])]
        show: Option<PathBuf>,
    },
    /// Make a site of the book and of what the crates say of themselves, in target/doc, its links checked
    Doc {
        /// Show it in the browser
        #[arg(long)]
        open: bool,
    },
    /// Do something at once, and again whenever a file has changed, until Ctrl-C
    Watch {
        /// A command of this one's with what it takes, as `test pump`
        #[arg(
            value_name = "COMMAND",
            default_value = "check",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        words: Vec<String>,
    },
    /// Copy what a system printed, from the standard input, and say what the addresses in its reports are
    Symbolise {
        /// What printed it: the identifier of its image, or 8 digits of it and more, or a system as `run` has it, built from the same
        /// source. Without it, the image that the log names
        #[arg(value_name = "IDENTIFIER|SYSTEM")]
        of: Option<String>,
        #[command(flatten)]
        variant: Variant,
    },
    /// Print the C header of an interface, or of the binary interface
    Headers {
        /// Its name, as `Echo`, or with its crate's, as `cairn-app-interfaces::Echo`; `abi`
        interface: String,
    },
    /// Write what editors know of descriptions: their JSON schemas, and which is whose
    Schema,
    /// Put `cairn` on the PATH, which hands over to the Cairn of the product that it is called in
    Install {
        /// Where: ~/.local/bin, or where cargo's commands are, if not said
        #[arg(long, value_name = "FOLDER")]
        to: Option<PathBuf>,
    },
    /// Print the completions of the command line for a shell, to be read by it when it starts
    Completions {
        /// Which
        shell: clap_complete::Shell,
    },
    /// Describe a machine
    Board {
        #[command(subcommand)]
        what: BoardCommand,
    },
    /// Make something new
    New {
        #[command(subcommand)]
        what: New,
    },
}

/// Which machine.
#[derive(clap::Args)]
pub struct On {
    /// Another board than the description's, a name in boards/: `rocket-rtl` and `cva6-rtl` are simulated
    /// cycle by cycle
    #[arg(long, value_name = "NAME")]
    pub board: Option<String>,
}

/// The system as described, or changed.
#[derive(clap::Args)]
pub struct Variant {
    #[command(flatten)]
    pub on: On,
    /// Where components run of which the description does not say so
    #[arg(long, value_name = "WHERE", default_value = "domain")]
    pub placement: Placements,
    /// Give a variable of the description another value, once for each
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,
}

/// A variable's value, as it is given.
fn setting(argument: &str) -> Result<Setting, &'static str> {
    let (name, value) = argument.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Variant {
    /// Builds it.
    pub fn build(&self, system: &str) -> Result<BuiltImage> {
        build::build_varied(system, self.on.board.as_deref(), self.placement, &self.set)
    }
}

#[derive(Subcommand)]
pub enum BoardCommand {
    /// Write boards/NAME.toml from the machine's device tree
    Import {
        /// The flattened device tree, as firmware passes it on: `/sys/firmware/fdt` under Linux
        file: PathBuf,
        /// The board's name: small letters, digits, `-`; with a `/` in it, a path from the repository's root
        name: String,
    },
}

#[derive(Subcommand)]
pub enum New {
    /// A workspace of one's own, outside of Cairn's tree, with a component
    Product {
        /// Its folder, whose name is the product's: small letters, digits, `-`
        folder: PathBuf,
        /// Depend on the Cairn of this repository of git's instead of this one's path
        #[arg(long, value_name = "URL")]
        git: Option<String>,
        /// In this commit, or with this tag
        #[arg(long, value_name = "REVISION", requires = "git")]
        rev: Option<String>,
    },
    /// A component that builds, runs and is tested, as a part of the project's system
    Component {
        /// Its name: small letters, digits, `-`
        name: String,
    },
    /// An interface, for components that serve it and components that call it
    Interface {
        /// Its file's name, from which that of its trait follows: small letters, digits, `-`
        name: String,
    },
    /// A component that calls what one of the system serves, with its test
    Client {
        /// Its name: small letters, digits, `-`
        name: String,
        /// What it calls: an instance of the system, or INSTANCE.EXPORT
        server: String,
    },
    /// A driver that builds, boots and answers, with its system and its test
    Driver {
        /// Its name: small letters, digits, `-`
        name: String,
        /// What it drives: `virtio`, or a device of the board that has registers and an interrupt, such as `rtc0`
        #[arg(long)]
        device: String,
    },
}

#[derive(clap::Args)]
pub struct RunArguments {
    /// A name in systems/, or the path of a description
    #[arg(default_value = layout::default_system(), value_parser = paths::system)]
    pub system: String,
    #[command(flatten)]
    pub variant: Variant,
    /// Wait for a debugger, and print the line that starts it
    #[arg(
        long,
        value_name = "PORT",
        num_args = 0..=1,
        // Else a system's name behind it would be taken for the port.
        require_equals = true,
        default_missing_value = "1234",
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub gdb: Option<u16>,
    /// End the run after this many seconds, with status 124
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
    /// Type the lines of this file, each when the guest shows its prompt
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Count instructions instead of time, so that the run repeats exactly
    #[arg(long)]
    pub icount: bool,
    /// Count the calls over each connection, and write them there when the run has ended
    #[arg(long, value_name = "FILE", conflicts_with = "set")]
    pub count: Option<PathBuf>,
    /// Print what each component used of its heap and stacks when the run has ended
    #[arg(long)]
    pub report: bool,
    /// Write core files of the components that died in the run and stayed dead into this folder
    #[arg(long, value_name = "DIR")]
    pub core: Option<PathBuf>,
    /// Write files that the system writes on its console (the shell's `trace NAME --to FILE`) into this folder
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    /// Plug in a source of random bytes, a network card, or a disk, whose content is FILE; once for each. What else
    /// the system's drivers want is plugged in without being named
    #[arg(long, value_name = "rng|net|blk=FILE")]
    pub device: Vec<Plugged>,
    /// Arguments for QEMU or the simulator
    #[arg(last = true, value_name = "EMULATOR ARGUMENTS")]
    pub further: Vec<String>,
}
