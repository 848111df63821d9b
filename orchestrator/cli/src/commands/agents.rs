//! `sandbox agents`: the built-in LLM agents with their prompts, and the schema of the agent
//! protocol.

use std::fs;

use agents::llm::{PRESETS, Settings, TEMPLATES};
use camino::{Utf8Path, Utf8PathBuf};

use crate::failure::{Failure, OrFail as _, Outcome};
use crate::terminal::out;

/// List, show and copy the built-in LLM agents; print the schema of the agent protocol
///
/// Each agent is a file of settings. `sandbox run --agent` takes its name, or the path of your own
/// copy.
#[derive(clap::Args)]
pub(crate) struct Agents {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the agents, with the paper or program that each follows
    List,
    /// Print the settings of an agent
    Show {
        /// The agent
        name: String,
    },
    /// Copy the settings and prompts of an agent into a folder, to change them there
    Copy {
        /// The agent
        name: String,
        /// The folder; existing files are never replaced
        #[arg(long, short, value_name = "DIR")]
        output: Utf8PathBuf,
    },
    /// Print the JSON schema of the messages between an episode and an agent of yours
    Schema,
}

impl Agents {
    /// Prints or writes.
    pub(crate) fn run(self) -> Outcome {
        match self.action {
            Action::List => {
                for (name, text) in PRESETS {
                    let follows = text.lines().next().unwrap_or_default().trim_start_matches("# ");
                    println!("{name:20}{follows}");
                }
                Ok(())
            }
            Action::Show { name } => {
                print!("{}", find(&name)?);
                Ok(())
            }
            Action::Copy { name, output } => copy(&name, &output),
            Action::Schema => {
                let schema = agents::program::schema::protocol();
                out::json(&schema);
                Ok(())
            }
        }
    }
}

fn find(name: &str) -> Result<&'static str, Failure> {
    let found = PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    found.ok_or_else(|| {
        let meant = suggestions::did_you_mean(name, PRESETS.iter().map(|(known, _)| *known));
        Failure::Input(format!(
            "failed to find the agent `{name}`{meant}; `sandbox agents list` prints the names"
        ))
    })
}

fn copy(name: &str, output: &Utf8Path) -> Outcome {
    let text = find(name)?;
    let settings = Settings::preset(name).expect("it was found");
    let prompts = output.join("prompts");
    fs::create_dir_all(&prompts).or_environment(format!("make {prompts}"))?;
    let of = settings.agent.templates();
    let texts = TEMPLATES.iter().filter(|(template, _)| of.contains(template));
    let mut files: Vec<(Utf8PathBuf, String)> = texts
        .map(|(template, text)| (prompts.join(format!("{template}.jinja")), (*text).to_owned()))
        .collect();
    let path = output.join(format!("{name}.yaml"));
    files.push((path.clone(), format!("{text}templates: prompts\n")));
    if let Some((there, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(Failure::Input(format!(
            "failed to write {there}: it exists; name another folder"
        )));
    }
    for (path, text) in &files {
        fs::write(path, text).or_environment(format!("write {path}"))?;
    }
    println!("{path}");
    Ok(())
}
