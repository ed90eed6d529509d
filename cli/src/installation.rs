//! Shell completions and manual pages.

use std::path::{Path, PathBuf};

use burn_gp_runs::{failure::Failure, standard_output::print_data};
use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::{Man, generate_to};

/// The options of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// The options of `man`.
#[derive(Debug, Args)]
pub struct ManualArguments {
    /// Folder for the manual pages of all commands [default: print the page of the program]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Prints the completions of a shell for the program.
///
/// # Errors
///
/// If the standard output cannot be written.
pub fn completions(arguments: &CompletionsArguments, mut program: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    let name = program.get_name().to_owned();
    generate(arguments.shell, &mut program, name, &mut script);
    print_data(&String::from_utf8_lossy(&script))
}

/// Prints the manual page of the program, or writes those of all commands.
///
/// # Errors
///
/// If the folder or the standard output cannot be written.
pub fn manual(arguments: &ManualArguments, program: Command) -> Result<(), Failure> {
    match &arguments.folder {
        Some(folder) => write_pages(folder, program).map_err(Failure::writing(folder)),
        None => {
            let mut page = Vec::new();
            let rendered = Man::new(program).render(&mut page);
            rendered.map_err(Failure::writing(Path::new("the manual page")))?;
            print_data(&String::from_utf8_lossy(&page))
        }
    }
}

fn write_pages(folder: &Path, program: Command) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    generate_to(program, folder)
}
