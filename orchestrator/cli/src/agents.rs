//! `sandbox agents`: the built-in agents that ask a language model, and their prompts; the schema of what others are told.

use std::fs;

use agents::llm::{PRESETS, Settings, TEMPLATES};
use camino::{Utf8Path, Utf8PathBuf};

use crate::failure::{Failure, OrFail as _, Outcome};

/// The agents that ask a language model, as the papers have them; the messages that others speak
///
/// Each is a file of settings that --agent of `sandbox run` takes by name, or by path once it is yours.
#[derive(clap::Args)]
pub(crate) struct Agents {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Their names, and what each follows
    List,
    /// The settings of one
    Show {
        /// Its name
        name: String,
    },
    /// Write the settings and prompts of one into a folder, to be changed there
    Copy {
        /// Its name
        name: String,
        /// The folder; nothing in it is written over
        #[arg(long, short, value_name = "DIR")]
        output: Utf8PathBuf,
    },
    /// Print the JSON schema of the messages that agents of yours are sent and answer with
    Schema,
}

impl Agents {
    /// Prints or writes.
    pub(crate) fn run(self) -> Outcome {
        match self.what {
            What::List => {
                for (name, text) in PRESETS {
                    let follows = text.lines().next().unwrap_or_default().trim_start_matches("# ");
                    println!("{name:20}{follows}");
                }
                Ok(())
            }
            What::Show { name } => {
                print!("{}", find(&name)?);
                Ok(())
            }
            What::Copy { name, output } => copy(&name, &output),
            What::Schema => {
                let schema = agents::program::schema::protocol();
                println!("{}", serde_json::to_string_pretty(&schema).expect("a schema is plain data"));
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
        return Err(Failure::Input(format!("failed to write {there}: it exists; name another folder")));
    }
    for (path, text) in &files {
        fs::write(path, text).or_environment(format!("write {path}"))?;
    }
    println!("{path}");
    Ok(())
}
