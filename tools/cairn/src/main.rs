//! The command line of `./cairn`.
#![forbid(unsafe_code)]

mod arguments;

use anyhow::{Context, Result};
use arguments::{Arguments, BoardCommand, Command, New, RunArguments, Variant};
use cairn_tool::build::Parts;
use cairn_tool::counts::Counting;
use cairn_tool::guest_memory::GuestMemory;
use cairn_tool::layout::Layout;
use cairn_tool::machine::Options;
use cairn_tool::plugged::Blank;
use cairn_tool::symbolise::Symboliser;
use cairn_tool::{
    advice, archive, bench, bill, board, build, check, core_file, doc, fmt, graph, install,
    interfaces, lines, new, pack, paths, pinned, profile, run, schema, setup, symbolise, test,
    usage, version, watch,
};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;
use std::time::Duration;

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
            let to = to.unwrap_or_else(|| profile::end(from, image.symbols.len()));
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
            let checked = check::check(&system, on.board.as_deref(), placement, &set)?;
            println!("{}", check::summary(&system, &checked));
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
        Command::Pack { show: Some(file), .. } => {
            print!("{}", pack::show(&file)?);
            Ok(0)
        }
        Command::Pack { name, system, on, output, sign, .. } => {
            // Before the work of building.
            let key = sign.map(|file| pack::key(&file)).transpose()?;
            // The command line has both where it has no `show`.
            let (name, output) = (name.unwrap_or_default(), output.unwrap_or_default());
            print!("{}", pack::write(&name, &system, on.board.as_deref(), key.as_ref(), &output)?);
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
    if arguments.core.is_some() {
        core_file::check(&image)?;
    }
    let limit = arguments.timeout.map(Duration::from_secs);
    let files = arguments.files.as_deref();
    let status = match script {
        Some(script) => run::scripted(&image, &options, limit, files, &script)?,
        None => run::on_terminal(&image, &options, limit, files)?,
    };
    let Some(memory) = memory else { return Ok(status) };
    if let (Some(counting), Some(file)) = (counting, arguments.count) {
        eprintln!("cairn: {} calls counted in {}", counting.write(&memory)?, file.display());
    }
    if arguments.report {
        print!("{}", usage::table(&image, &memory)?);
    }
    if let Some(folder) = arguments.core {
        for line in core_file::write(&image, &memory, &folder)? {
            eprintln!("cairn: a component has stayed dead; see its core file by\n{line}");
        }
    }
    Ok(status)
}
