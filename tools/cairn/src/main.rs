//! The command line of `./cairn`.
#![forbid(unsafe_code)]

use anyhow::{Context, Result, bail};
use cairn_description::Setting;
use cairn_tool::build::{BuiltImage, Parts};
use cairn_tool::counts::Counting;
use cairn_tool::guest_memory::GuestMemory;
use cairn_tool::layout::Layout;
use cairn_tool::machine::Options;
use cairn_tool::placements::Placements;
use cairn_tool::plugged::{Blank, Plugged};
use cairn_tool::symbolise::Symboliser;
use cairn_tool::{
    advice, archive, bench, bill, board, build, core_file, doc, fmt, graph, install, interfaces,
    layout, lines, new, paths, pinned, profile, run, schema, setup, symbolise, test, usage,
    version, watch,
};
use clap::{CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Cairn, an operating system made of components.
#[derive(Parser)]
#[command(
    name = "cairn",
    bin_name = "./cairn",
    disable_version_flag = true,
    arg_required_else_help = true
)]
struct Arguments {
    /// Say which Cairn this is: release, revision, tree, and what builds it
    #[arg(short = 'V', long, exclusive = true)]
    version: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
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
        /// Fail when a median is more than 3 % above its limit, in bench/limits.toml or of the board
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
        /// The cycle in which it ends
        #[arg(long, value_name = "CYCLE", default_value_t = 500_000)]
        to: u64,
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
struct On {
    /// Another board than the description's, a name in boards/: `rocket-rtl` and `cva6-rtl` are simulated
    /// cycle by cycle
    #[arg(long, value_name = "NAME")]
    board: Option<String>,
}

/// The system as described, or changed.
#[derive(clap::Args)]
struct Variant {
    #[command(flatten)]
    on: On,
    /// Where components run of which the description does not say so
    #[arg(long, value_name = "WHERE", default_value = "domain")]
    placement: Placements,
    /// Give a variable of the description another value, once for each
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<Setting>,
}

/// A variable's value, as it is given.
fn setting(argument: &str) -> Result<Setting, &'static str> {
    let (name, value) = argument.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Variant {
    fn build(&self, system: &str) -> Result<BuiltImage> {
        build::build_varied(system, self.on.board.as_deref(), self.placement, &self.set)
    }
}

#[derive(Subcommand)]
enum BoardCommand {
    /// Write boards/NAME.toml from the machine's device tree
    Import {
        /// The flattened device tree, as firmware passes it on: `/sys/firmware/fdt` under Linux
        file: PathBuf,
        /// The board's name: small letters, digits, `-`; with a `/` in it, a path from the repository's root
        name: String,
    },
}

#[derive(Subcommand)]
enum New {
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
struct RunArguments {
    /// A name in systems/, or the path of a description
    #[arg(default_value = layout::default_system(), value_parser = paths::system)]
    system: String,
    #[command(flatten)]
    variant: Variant,
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
    gdb: Option<u16>,
    /// End the run after this many seconds, with status 124
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Type the lines of this file, each when the guest shows its prompt
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Count instructions instead of time, so that the run repeats exactly
    #[arg(long)]
    icount: bool,
    /// Count the calls over each connection, and write them there when the run has ended
    #[arg(long, value_name = "FILE", conflicts_with = "set")]
    count: Option<PathBuf>,
    /// Print what each component used of its heap and stacks when the run has ended
    #[arg(long)]
    report: bool,
    /// Write core files of the components that died in the run and stayed dead into this folder
    #[arg(long, value_name = "DIR")]
    core: Option<PathBuf>,
    /// Plug in a source of random bytes, a network card, or a disk, whose content is FILE; once for each. What else
    /// the system's drivers want is plugged in without being named
    #[arg(long, value_name = "rng|net|blk=FILE")]
    device: Vec<Plugged>,
    /// Arguments for QEMU or the simulator
    #[arg(last = true, value_name = "EMULATOR ARGUMENTS")]
    further: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(command) = arguments.command else {
        println!("cairn {}", version::long());
        return ExitCode::SUCCESS;
    };
    match execute(command) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("cairn: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Command) -> Result<u8> {
    let is_of_any = matches!(
        command,
        Command::Install { .. }
            | Command::Completions { .. }
            | Command::New { what: New::Product { .. } }
    );
    if !is_of_any {
        pinned::check()?;
    }
    match command {
        Command::Run(arguments) => start(arguments),
        Command::Test { filter, long: true, .. } => Ok(u8::from(!test::run_long(&filter)?)),
        Command::Test { filter, on, .. } => Ok(u8::from(!test::run(&filter, on.board.as_deref())?)),
        Command::Bench { filter, board, quick, json, check, set_limits } => {
            let request = bench::Request { filter, board, quick, json, check, set_limits };
            Ok(u8::from(!bench::run(&request)?))
        }
        Command::Profile { system, board, from, to, input, rows } => {
            let image = build::build(&system, board.as_deref())?;
            let request = profile::Request { cycles: from..to, input, rows };
            print!("{}", profile::run(&image, &request)?);
            Ok(0)
        }
        Command::Build { system, variant } => {
            let image = variant.build(&system)?;
            print!("{}", image.report);
            println!(
                "nucleus: {} lines of at most {}, {} bytes of code of at most {}",
                lines::lines(&paths::source().join("nucleus"))?,
                lines::LINES_MAXIMUM,
                lines::code_size(&image.nucleus)?,
                lines::CODE_MAXIMUM
            );
            archive::keep(&image)?;
            let identifier = archive::shown(image.identifier);
            println!("image: {}, {identifier}", paths::shown(&image.file));
            Ok(0)
        }
        Command::Check { system, placements: true, profile, variant } => {
            print!("{}", advice::advise(&system, variant.on.board.as_deref(), profile.as_deref())?);
            Ok(0)
        }
        Command::Check { system, variant, .. } => {
            let Variant { on, placement, set } = variant;
            build::check(&system, on.board.as_deref(), placement, &set)?;
            println!("{system}: no errors");
            Ok(0)
        }
        Command::Fmt { named, check } => Ok(u8::from(!fmt::run(&named, check)?)),
        Command::Graph { system, output } => {
            let picture = graph::draw(&Parts::new(&system, None)?);
            std::fs::write(&output, picture)
                .with_context(|| format!("cannot write {}", output.display()))?;
            println!("{}", output.display());
            Ok(0)
        }
        Command::Sbom { system, output, variant } => {
            let text = bill::of(&variant.build(&system)?)?;
            match output {
                Some(file) => std::fs::write(&file, text)
                    .with_context(|| format!("cannot write {}", file.display()))?,
                None => print!("{text}"),
            }
            Ok(0)
        }
        Command::Doc { open } => {
            let page = doc::make()?;
            println!("{}", paths::shown(&page));
            Ok(u8::from(open && !doc::open(&page)?))
        }
        Command::Watch { words } => match watch::run(&words)? {},
        Command::Symbolise { of, variant } => {
            let symboliser = match of {
                None => Symboliser::of_any(),
                Some(of) if archive::is_identifier(&of) => Symboliser::new(&archive::find(&of)?),
                Some(system) => {
                    let Ok(system) = paths::system(&system);
                    Symboliser::of(&variant.build(&system)?)
                }
            };
            symbolise::copy(symboliser, std::io::stdin(), std::io::stdout())?;
            Ok(0)
        }
        Command::Schema => {
            print!("{}", schema::write(&paths::project())?);
            Ok(0)
        }
        Command::Headers { interface } => {
            print!(
                "{}",
                match interface.as_str() {
                    "abi" => cairn_headers::abi(),
                    name =>
                        interfaces::header(&interfaces::find(&paths::project_workspace(), name)?)?,
                }
            );
            Ok(0)
        }
        Command::Board { what: BoardCommand::Import { file, name } } => {
            print!("{}", board::import(&paths::project(), &file, &name)?);
            Ok(0)
        }
        Command::Completions { shell } => {
            let mut command = Arguments::command().bin_name("cairn");
            clap_complete::generate(shell, &mut command, "cairn", &mut std::io::stdout());
            Ok(0)
        }
        Command::Install { to } => {
            print!("{}", install::install(to.as_deref())?);
            Ok(0)
        }
        Command::New { what: New::Product { folder, git, rev } } => {
            let cairn = match git {
                Some(url) => new::Cairn::Git { url, revision: rev },
                None => new::Cairn::Path(paths::source()),
            };
            print!("{}", new::product(&folder, &cairn)?);
            Ok(0)
        }
        Command::New { what: New::Component { name } } => {
            print!("{}", new::component(&Layout::of_project()?, &name)?);
            Ok(0)
        }
        Command::New { what: New::Interface { name } } => {
            print!("{}", new::interface(&Layout::of_project()?, &name)?);
            Ok(0)
        }
        Command::New { what: New::Client { name, server } } => {
            print!("{}", new::client(&Layout::of_project()?, &name, &server)?);
            Ok(0)
        }
        Command::New { what: New::Driver { name, device } } => {
            print!("{}", new::driver(&Layout::of_project()?, &name, &device)?);
            Ok(0)
        }
    }
}

fn start(arguments: RunArguments) -> Result<u8> {
    if arguments.gdb.is_some() {
        setup::need(setup::DEBUGGER)?;
    }
    // Before the build: whoever misspells the file should not wait for it.
    let script = arguments.input.as_deref().map(run::read_script).transpose()?;
    let variant = &arguments.variant;
    let counting = arguments.count.as_deref();
    let counting = counting
        .map(|file| Counting::new(&arguments.system, variant.on.board.as_deref(), file))
        .transpose()?;
    let image = match &counting {
        Some(counting) => counting.image.clone(),
        None => variant.build(&arguments.system)?,
    };
    archive::keep(&image)?;
    let mut options = Options {
        icount: arguments.icount,
        gdb: arguments.gdb,
        devices: arguments.device,
        blank: Blank::Kept,
        further: arguments.further,
        ..Options::default()
    };
    let reading = [
        (counting.is_some(), "--count"),
        (arguments.report, "--report"),
        (arguments.core.is_some(), "--core"),
    ];
    let memory = reading.iter().find(|(is_wanted, _)| *is_wanted).map(|(_, wants)| *wants);
    let memory = memory.map(|wants| GuestMemory::of(&image, wants)).transpose()?;
    if let Some(memory) = &memory {
        memory.add_to(&mut options);
    }
    let limit = arguments.timeout.map(Duration::from_secs);
    let status = match script {
        Some(script) => run::scripted(&image, &options, limit, &script)?,
        None => run::on_terminal(&image, &options, limit)?,
    };
    let Some(memory) = memory else { return Ok(status) };
    if let (Some(counting), Some(file)) = (counting, arguments.count) {
        eprintln!("cairn: {} calls counted in {}", counting.write(&memory)?, file.display());
    }
    if arguments.report {
        print!("{}", usage::table(&image, &memory)?);
    }
    if let Some(folder) = arguments.core {
        if image.kept == 0 {
            bail!(
                "--core reads the supervisor's reports in `kept` memory; expected a board that has some"
            );
        }
        for line in core_file::write(&image, &memory, &folder)? {
            eprintln!("cairn: a component has stayed dead; see its core file by\n{line}");
        }
    }
    Ok(status)
}
