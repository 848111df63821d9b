//! The script of the jobs. It checks what has to be well before the program can be started, and
//! then becomes the program.

use camino::Utf8Path;

use crate::files::replace;
use crate::folder::ClusterFolder;
use crate::plan::Plan;
use crate::{Error, quoted};

/// The content of the job script.
#[derive(Debug)]
pub struct JobScript<'a> {
    /// The plan whose part it plays.
    pub plan: &'a Plan,
    /// The words after the program, without those that tell the parts apart.
    pub arguments: &'a [String],
}

/// Writes `job.sh`. Only its owner can read it, because the arguments may have secrets.
///
/// # Errors
/// When it cannot be written.
pub fn write_script(folder: &ClusterFolder, script: &JobScript<'_>) -> Result<(), Error> {
    replace(&folder.script(), script.text(folder).as_bytes(), 0o700)
}

impl JobScript<'_> {
    fn text(&self, folder: &ClusterFolder) -> String {
        let Plan { token, program, program_digest, folder: start, parts, .. } = self.plan;
        let arguments: Vec<String> = self.arguments.iter().map(|word| quoted(word)).collect();
        let path = |path: &Utf8Path| quoted(path.as_str());
        // `unfit` prints it between quotes into a JSON file, so it is escaped for JSON and for the
        // shell.
        let problem =
            |text: String| quoted(serde_json::Value::String(text).to_string().trim_matches('"'));
        let no_folder = problem(format!("the folder {start} is not there"));
        let no_program = problem(format!("the program {program} is not there"));
        let other_program =
            problem(format!("the program {program} is not the one that submitted the run"));
        let (start, program, slurm) = (path(start), path(program), path(&folder.path()));
        let (plan, run_parts) = (path(&folder.plan()), path(&folder.parts()));
        let (count, arguments) = (parts.len(), arguments.join(" "));
        format!(
            r#"#!/bin/sh
# Plays part $SLURM_ARRAY_TASK_ID of the run beside this folder. Written by `sandbox run --scheduler
# slurm`, which submits it: `sbatch --array=PARTS job.sh SUBMISSION`.
submission=$1
part=$SLURM_ARRAY_TASK_ID
restarts=${{SLURM_RESTART_COUNT:-0}}
node=${{SLURMD_NODENAME:-$(hostname)}}
export SLURMD_NODENAME="$node"
slurm={slurm}

# Says what this node lacks, and ends. The words go into a file in JSON.
unfit() {{
    status=$slurm/status/$part.$submission.$restarts.$node
    printf '{{"part":%s,"submission":%s,"node":"%s","job":"%s","beat":0,"state":{{"kind":"unfit","problems":["%s"]}}}}\n' \
        "$part" "$submission" "$node" "$SLURM_JOB_ID" "$1" >"$status.new" && mv "$status.new" "$status.json"
    echo "$node: $1" >&2
    exit 3
}}

cd {start} || unfit {no_folder}
[ -x {program} ] || unfit {no_program}
[ "$(sha256sum <{program})" = '{program_digest}  -' ] || unfit {other_program}

# Indexes, copies of sites and browsers' temporary files are the node's own, wherever TMPDIR is: what
# dead processes have left there is told by process ids, which mean nothing on other nodes.
data=${{TMPDIR:-/tmp}}/sandbox-$(id -u)-$node
(umask 077 && mkdir -p "$data") 2>/dev/null
[ -O "$data" ] && [ -w "$data" ] || unfit "${{TMPDIR:-/tmp}} takes no folder of ours"
export TMPDIR="$data"

exec {program} {arguments} \
    --shard "$part/{count}" --part-of {plan} --submission "{token}.$submission" \
    --output {run_parts}/"{token}-$part" --data "$data"
"#
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    use camino::Utf8PathBuf;
    use file_version::Version;

    use super::*;
    use crate::status::{PartState, PartStatus};

    /// A plan whose program prints its words; its folder has a name that a shell would take apart.
    fn plan(folder: &Utf8Path, digest: &str) -> (ClusterFolder, Plan) {
        let start = folder.join("it's \"here\" $HOME");
        fs::create_dir_all(&start).unwrap();
        let program = start.join("program");
        fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let plan = Plan {
            format: Version::FIRST,
            token: "0f".to_owned(),
            program,
            program_digest: digest.to_owned(),
            folder: start.clone(),
            files: BTreeMap::new(),
            images: BTreeMap::new(),
            parts: vec![Vec::new(); 3],
        };
        let cluster = ClusterFolder::of(&start.join("run"));
        cluster.create().unwrap();
        (cluster, plan)
    }

    fn played(cluster: &ClusterFolder, plan: &Plan, temporary: &Utf8Path) -> String {
        let arguments = ["run", "--agent", "program:echo 'a b'"].map(str::to_owned);
        write_script(cluster, &JobScript { plan, arguments: &arguments }).unwrap();
        let mut command = Command::new(cluster.script());
        command
            .arg("7")
            .env("SLURM_ARRAY_TASK_ID", "2")
            .env("SLURM_JOB_ID", "42")
            .env_remove("SLURM_RESTART_COUNT")
            .env("SLURMD_NODENAME", "n1");
        let output = command.env("TMPDIR", temporary).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn digest_of(path: &Utf8Path) -> String {
        let output = Command::new("sha256sum").arg(path).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.trim_start_matches('\\').split(' ').next().unwrap().to_owned()
    }

    #[test]
    fn the_program_gets_its_words_as_they_were() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(temporary.path().to_owned()).unwrap();
        let (cluster, mut plan) = plan(&folder, "");
        plan.program_digest = digest_of(&plan.program);
        let said = played(&cluster, &plan, &folder);
        let data = folder.join("sandbox-").to_string();
        let expected = [
            "run",
            "--agent",
            "program:echo 'a b'",
            "--shard",
            "2/3",
            "--part-of",
            cluster.plan().as_str(),
            "--submission",
            "0f.7",
            "--output",
            cluster.part("0f", 2).as_str(),
            "--data",
        ]
        .map(str::to_owned);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[..lines.len() - 1], expected, "{said}");
        assert!(lines.last().unwrap().starts_with(&data) && said.ends_with("-n1\n"), "{said}");
        let mode = fs::metadata(cluster.script()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn what_a_node_lacks_before_the_program_starts_is_named() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(temporary.path().to_owned()).unwrap();
        let (cluster, mut plan) = plan(&folder, "other");
        let mut problems = Vec::new();
        let mut unfit = |plan: &Plan, temporary: &Utf8Path| {
            assert_eq!(played(&cluster, plan, temporary), "");
            let status = PartStatus::read(&cluster.status_of(2, 7, 0, "n1")).unwrap().unwrap();
            assert_eq!((status.node.as_str(), status.job.as_str()), ("n1", "42"));
            let PartState::Unfit { problems: found } = status.state else { panic!("{status:?}") };
            problems.extend(found);
        };
        unfit(&plan, &folder);
        plan.program_digest = digest_of(&plan.program);
        unfit(&plan, Utf8Path::new("/proc/nowhere"));
        plan.program.set_file_name("nothing");
        unfit(&plan, &folder);
        plan.folder = folder.join("nowhere");
        unfit(&plan, &folder);
        let ends = [
            "is not the one that submitted the run",
            "takes no folder of ours",
            "nothing is not there",
            "nowhere is not there",
        ];
        for (problem, end) in problems.iter().zip(ends) {
            assert!(problem.ends_with(end), "{problem}");
        }
        assert_eq!(problems.len(), ends.len());
    }
}
