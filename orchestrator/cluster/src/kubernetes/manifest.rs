//! A run as an Indexed Job of Kubernetes: the manifest that the user applies. Each pod plays one
//! part.
//!
//! ```text
//! PersistentVolumeClaim "claim" --- the working folder: the suite, its snapshots, the parts' results
//!    |                  |
//!  pod 0 (part 1)     pod 1 (part 2) ...    completionMode: Indexed, JOB_COMPLETION_INDEX + 1 = part
//!    |
//!    +- container `sandbox`                 plays the part, offline
//!    +- container `engine`                  where sites run in containers: an engine of the pod's own
//!
//! NetworkPolicy                             nothing gets in; nothing gets out but to a model's API
//! ```
//!
//! *Invariant:* nothing here talks to a cluster.

use camino::Utf8Path;
use object_files::is_address;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::quoted;

/// The user of the published image.
const USER: u32 = 10001;
/// The path at which the claim is mounted.
const WORK: &str = "/work";
/// The folder of the engine's socket.
const ENGINE: &str = "/run/engine";
/// Exit code of a command with bad input, which is as bad in the next pod.
const BAD_INPUT: u32 = 2;
/// How many times a pod may die before its part is given up.
const TRIES: u32 = 5;
/// The label that the pods of a run share.
const LABEL: &str = "app.kubernetes.io/instance";

/// The content of a manifest.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// Name of the job and its policy: a DNS label. See [`job_name`].
    pub name: String,
    /// Image with `sandbox` and Chromium.
    pub image: String,
    /// The PersistentVolumeClaim that holds the working folder.
    pub claim: String,
    /// The words after the program, without those that tell the parts apart.
    pub arguments: Vec<String>,
    /// Folder of the run, below the working folder, or its address on an object store.
    pub output: String,
    /// How many parts there are.
    pub parts: u32,
    /// How many of them are played at once.
    pub parallel: u32,
    /// Parallel episodes of a part: each takes a CPU.
    pub workers: u32,
    /// Memory of a pod without its sites, in MiB.
    pub memory: u64,
    /// The Secret with the variables of the model's API, and those that agents are given.
    pub secret: Option<String>,
    /// TCP ports that pods may reach, wherever they are. Where there are some, DNS as well.
    pub ports: Vec<u16>,
    /// The engine for sites in containers.
    pub engine: Option<EngineSidecar>,
}

/// A container engine beside each part.
#[derive(Debug, Clone)]
pub struct EngineSidecar {
    /// Image with `dockerd`, such as `docker:dind`.
    pub image: String,
    /// File with the sites' images, below the working folder.
    pub images: Option<String>,
    /// Memory of the sites, in MiB.
    pub memory: u64,
}

impl Manifest {
    /// The objects of the manifest: a NetworkPolicy and a Job.
    pub fn objects(&self) -> [Value; 2] {
        [self.policy(), self.job()]
    }

    fn metadata(&self) -> Value {
        json!({ "name": self.name, "labels": self.labels() })
    }

    fn labels(&self) -> Value {
        json!({ "app.kubernetes.io/name": "sandbox", LABEL: self.name })
    }

    fn policy(&self) -> Value {
        // A model's API, and the names to find it by.
        let tcp = self.ports.iter().map(|port| json!({ "protocol": "TCP", "port": port }));
        let dns = ["UDP", "TCP"].map(|protocol| json!({ "protocol": protocol, "port": 53 }));
        let ports: Vec<Value> = dns.into_iter().chain(tcp).collect();
        let egress = if self.ports.is_empty() { json!([]) } else { json!([{ "ports": ports }]) };
        json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": self.metadata(),
            "spec": {
                "podSelector": { "matchLabels": { LABEL: self.name } },
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [],
                "egress": egress,
            },
        })
    }

    fn job(&self) -> Value {
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": self.metadata(),
            "spec": {
                "completionMode": "Indexed",
                "completions": self.parts,
                "parallelism": self.parallel.min(self.parts),
                "backoffLimitPerIndex": TRIES,
                "podFailurePolicy": { "rules": [
                    // A node is drained, or the pod makes room for another: not one of its tries.
                    {
                        "action": "Ignore",
                        "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }],
                    },
                    {
                        "action": "FailIndex",
                        "onExitCodes": { "containerName": "sandbox", "operator": "In", "values": [BAD_INPUT] },
                    },
                ]},
                "template": { "metadata": { "labels": self.labels() }, "spec": self.pod() },
            },
        })
    }

    fn pod(&self) -> Value {
        let mut pod = json!({
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            // Its first process collects those whose parents have gone, as browsers leave them.
            "shareProcessNamespace": true,
            "securityContext": {
                "fsGroup": USER,
                "fsGroupChangePolicy": "OnRootMismatch",
                "seccompProfile": { "type": "RuntimeDefault" },
            },
            "containers": [self.container()],
            "volumes": [
                { "name": "work", "persistentVolumeClaim": { "claimName": self.claim } },
                { "name": "tmp", "emptyDir": {} },
            ],
        });
        if let Some(engine) = &self.engine {
            pod["initContainers"] = json!([engine.container()]);
            for name in ["engine", "images"] {
                pod["volumes"].as_array_mut().into_iter().for_each(|volumes| {
                    volumes.push(json!({ "name": name, "emptyDir": {} }));
                });
            }
        }
        pod
    }

    fn container(&self) -> Value {
        let resources =
            json!({ "cpu": self.workers.to_string(), "memory": format!("{}Mi", self.memory) });
        let mut environment = vec![
            json!({ "name": "HOME", "value": "/tmp" }),
            json!({ "name": "SANDBOX_DATA", "value": "/tmp/sandbox" }),
            // The pod is the boundary: it has no right to the namespaces of Chromium's own sandbox.
            json!({ "name": "SANDBOX_CHROMIUM_SANDBOX", "value": "off" }),
        ];
        let mut mounts = vec![
            json!({ "name": "work", "mountPath": WORK }),
            json!({ "name": "tmp", "mountPath": "/tmp" }),
        ];
        if self.engine.is_some() {
            environment.push(
                json!({ "name": "DOCKER_HOST", "value": format!("unix://{ENGINE}/docker.sock") }),
            );
            mounts.push(json!({ "name": "engine", "mountPath": ENGINE }));
        }
        let mut container = json!({
            "name": "sandbox",
            "image": self.image,
            "workingDir": WORK,
            "command": ["/bin/sh", "-c", self.script()],
            "env": environment,
            "resources": { "requests": resources, "limits": { "memory": resources["memory"] } },
            "securityContext": {
                "runAsNonRoot": true,
                "runAsUser": USER,
                "runAsGroup": USER,
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            },
            "volumeMounts": mounts,
        });
        if let Some(secret) = &self.secret {
            container["envFrom"] = json!([{ "secretRef": { "name": secret } }]);
        }
        container
    }

    /// Returns the script of a pod. It gets its number, from 0 on, in a variable. A pod that
    /// replaces a dead one resumes its part.
    ///
    /// A part with an episode that ended in an error (exit code 1) is complete: the record is in
    /// its results, and another try would repeat nothing. A signal to end reaches the program,
    /// which finishes what it is writing.
    fn script(&self) -> String {
        let words: Vec<String> = self.arguments.iter().map(|word| quoted(word)).collect();
        let load = self.engine.as_ref().and_then(|engine| engine.images.as_ref());
        let load = load
            .map(|file| {
                format!(
                    "attend sandbox images load {}\n[ \"$code\" -eq 0 ] || exit \"$code\"\n",
                    quoted(file)
                )
            })
            .unwrap_or_default();
        let (words, parts) = (words.join(" "), self.parts);
        let folder = quoted(&format!("{}/parts", self.output));
        // At an address, that begins a part which is not there.
        let resume = match is_address(Utf8Path::new(&self.output)) {
            true => "resume=--resume",
            false => "resume=\n[ ! -f \"$output/run.json\" ] || resume=--resume",
        };
        format!(
            r#"part=$((JOB_COMPLETION_INDEX + 1))
output={folder}/$part
{resume}
{ATTEND}{load}attend sandbox {words} --shard "$part/{parts}" --output "$output" $resume
[ "$code" -ne 1 ] || exit 0
exit "$code"
"#
        )
    }
}

/// Runs a program, and hands on the signal to end. `wait` ends with each signal, too; asked again,
/// it says how the program ended, or 127 if it has said so already.
const ATTEND: &str = r#"child= told= interrupted=
trap 'told=1 interrupted=1; [ -z "$child" ] || kill -TERM "$child"' TERM
attend() {
    "$@" &
    child=$!
    [ -z "$told" ] || kill -TERM "$child"
    interrupted=
    wait "$child"
    code=$?
    while [ -n "$interrupted" ]; do
        interrupted=
        wait "$child"
        last=$?
        [ "$last" -eq 127 ] || code=$last
    done
    child=
}
"#;

impl EngineSidecar {
    /// Starts before the part, and ends after it. The image's own entrypoint prepares control
    /// groups for containers in a container. Files that sites are given are in `/tmp`, in both
    /// containers.
    fn container(&self) -> Value {
        let socket = format!("unix://{ENGINE}/docker.sock");
        json!({
            "name": "engine",
            "image": self.image,
            "restartPolicy": "Always",
            "args": ["dockerd", format!("--host={socket}"), format!("--group={USER}")],
            "startupProbe": {
                "exec": { "command": ["docker", format!("--host={socket}"), "version"] },
                "periodSeconds": 1,
                "failureThreshold": 60,
            },
            "resources": { "requests": { "memory": format!("{}Mi", self.memory) } },
            // An engine makes namespaces and mounts.
            "securityContext": { "privileged": true, "runAsUser": 0 },
            "volumeMounts": [
                { "name": "engine", "mountPath": ENGINE },
                { "name": "images", "mountPath": "/var/lib/docker" },
                { "name": "tmp", "mountPath": "/tmp" },
            ],
        })
    }
}

/// Returns a name for the job of a run in this folder, by its path from the working folder:
/// lower-case letters, digits and hyphens, at most 50 of them, since Kubernetes adds the number of
/// the pod. A longer path is cut and gets a digest, so that names stay distinct.
pub fn job_name(folder: &str) -> String {
    const LONGEST: usize = 50;
    const DIGEST: usize = 8;
    let words = folder
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let words: Vec<String> =
        ["sandbox".to_owned()].into_iter().chain(words.map(str::to_ascii_lowercase)).collect();
    let name = words.join("-");
    if name.len() <= LONGEST {
        return name;
    }
    let digest = hex::encode(Sha256::digest(folder));
    let (start, digest) = (&name[..LONGEST - DIGEST - 1], &digest[..DIGEST]);
    format!("{}-{digest}", start.trim_end_matches('-'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use k8s_openapi::api::batch::v1::Job;
    use k8s_openapi::api::networking::v1::NetworkPolicy;
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            name: job_name("runs/demo-oracle-2026"),
            image: "registry.test/sandbox:1".to_owned(),
            claim: "work".to_owned(),
            arguments: ["run", "tasks/it's", "--agent", "oracle"].map(str::to_owned).to_vec(),
            output: "runs/demo".to_owned(),
            parts: 3,
            parallel: 8,
            workers: 2,
            memory: 2048,
            secret: None,
            ports: Vec::new(),
            engine: None,
        }
    }

    fn with_all() -> Manifest {
        let engine = EngineSidecar {
            image: "docker:dind".to_owned(),
            images: Some("images.tar".to_owned()),
            memory: 4096,
        };
        let secret = Some("model".to_owned());
        Manifest { secret, ports: vec![443, 8000], engine: Some(engine), ..manifest() }
    }

    /// Checks an object against the types of the published schema. They drop unknown keys, which
    /// would then be missing.
    fn is_of_the_schema<T: Serialize + DeserializeOwned>(object: &Value) {
        let read: T = serde_json::from_value(object.clone()).unwrap();
        assert_eq!(&serde_json::to_value(read).unwrap(), object);
    }

    #[test]
    fn every_field_is_one_of_the_published_schema() {
        for manifest in [manifest(), with_all()] {
            let [policy, job] = manifest.objects();
            is_of_the_schema::<NetworkPolicy>(&policy);
            is_of_the_schema::<Job>(&job);
        }
    }

    #[test]
    fn nothing_gets_out_unless_a_model_is_asked() {
        let egress = |manifest: Manifest| manifest.objects()[0]["spec"]["egress"].clone();
        assert_eq!(egress(manifest()), json!([]));
        let ports = egress(with_all())[0]["ports"].clone();
        let ports: Vec<&Value> = ports.as_array().unwrap().iter().map(|one| &one["port"]).collect();
        assert_eq!(ports, [53, 53, 443, 8000]);
        let [policy, job] = manifest().objects();
        let selected = &policy["spec"]["podSelector"]["matchLabels"][LABEL];
        assert_eq!(selected, &job["spec"]["template"]["metadata"]["labels"][LABEL]);
        assert_eq!(job["spec"]["parallelism"], 3, "no more pods than parts");
    }

    /// A shell that runs the script, with this program in the place of ours.
    fn pod(manifest: &Manifest, folder: &std::path::Path, program: &str) -> Command {
        let path = folder.join("sandbox");
        std::fs::write(&path, format!("#!/bin/sh\n{program}")).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let [_, job] = manifest.objects();
        let words = job["spec"]["template"]["spec"]["containers"][0]["command"].clone();
        let words: Vec<String> = serde_json::from_value(words).unwrap();
        let mut command = Command::new(&words[0]);
        let path = format!("{}:/usr/bin:/bin", folder.display());
        command.args(&words[1..]).env("PATH", path).env("JOB_COMPLETION_INDEX", "2");
        command
    }

    #[test]
    fn each_pod_plays_its_part() {
        let folder = tempfile::tempdir().unwrap();
        let said = |manifest: &Manifest| {
            let output =
                pod(manifest, folder.path(), "printf '%s|' \"$@\"; echo\n").output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let output = folder.path().join("my runs").to_str().unwrap().to_owned();
        let first = Manifest { output: output.clone(), ..manifest() };
        let part = format!("run|tasks/it's|--agent|oracle|--shard|3/3|--output|{output}/parts/3|");
        assert_eq!(said(&first), format!("{part}\n"));
        assert_eq!(
            said(&Manifest { output: output.clone(), ..with_all() }),
            format!("images|load|images.tar|\n{part}\n")
        );
        std::fs::create_dir_all(format!("{output}/parts/3")).unwrap();
        std::fs::write(format!("{output}/parts/3/run.json"), "{}").unwrap();
        assert_eq!(said(&first), format!("{part}--resume|\n"), "after a pod that died");
    }

    #[test]
    fn a_pod_fails_for_what_another_try_or_a_person_can_mend() {
        let folder = tempfile::tempdir().unwrap();
        let code = |manifest: &Manifest, program: &str| {
            pod(manifest, folder.path(), program).output().unwrap().status.code()
        };
        for (ended, expected) in [(0, 0), (1, 0), (2, 2), (3, 3), (4, 4), (70, 70)] {
            assert_eq!(code(&manifest(), &format!("exit {ended}\n")), Some(expected), "{ended}");
        }
        assert_eq!(code(&manifest(), "kill -KILL $$\n"), Some(137));
        let no_images = "[ \"$2\" != load ] || exit 1\n";
        assert_eq!(code(&with_all(), no_images), Some(1), "nothing is played without its images");
        let rules = manifest().objects()[1]["spec"]["podFailurePolicy"]["rules"].clone();
        assert_eq!(rules[0]["action"], "Ignore");
        assert_eq!(rules[1]["onExitCodes"]["values"], json!([2]));
    }

    /// Kubernetes asks the first process of a container alone.
    #[test]
    fn a_signal_to_end_reaches_the_program() {
        let folder = tempfile::tempdir().unwrap();
        // `wait` looks for signals that have come before it sleeps.
        let program = "sleep 60 & trap 'kill $!; echo told; exit 4' TERM\necho ready\nwait\n";
        let mut command = pod(&manifest(), folder.path(), program);
        command.stdout(Stdio::piped());
        // Now the program ends while the shell still hears of the signal, now after that.
        for _ in 0..50 {
            let mut child = command.spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            assert_eq!(lines.next().unwrap().unwrap(), "ready");
            let told =
                Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
            assert!(told.success());
            assert_eq!(lines.next().unwrap().unwrap(), "told");
            assert_eq!(
                child.wait().unwrap().code(),
                Some(4),
                "as the program ends, not as the signal does"
            );
        }
    }

    /// The files of sites have the same path for the engine that mounts them.
    #[test]
    fn the_engine_sees_the_files_of_sites() {
        let [_, job] = with_all().objects();
        let spec = &job["spec"]["template"]["spec"];
        let (part, engine) = (&spec["containers"][0], &spec["initContainers"][0]);
        let mount = |container: &Value, path: &str| {
            let mounts = container["volumeMounts"].as_array().unwrap();
            mounts
                .iter()
                .find(|mount| mount["mountPath"] == path)
                .map(|mount| mount["name"].clone())
        };
        let data = part["env"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "SANDBOX_DATA")
            .unwrap();
        assert!(data["value"].as_str().unwrap().starts_with("/tmp/"));
        for path in ["/tmp", ENGINE] {
            assert!(
                mount(part, path).is_some() && mount(part, path) == mount(engine, path),
                "{path}"
            );
        }
        assert!(engine.get("command").is_none(), "the entrypoint of the image stays");
    }

    #[test]
    fn a_name_is_a_dns_label() {
        assert_eq!(job_name("./runs/Demo_oracle.2026/"), "sandbox-runs-demo-oracle-2026");
        assert_ne!(job_name("monday/demo"), job_name("tuesday/demo"));
        let long = |end: &str| job_name(&format!("{}{end}", "x-".repeat(60)));
        assert!(long("a").len() <= 50 && long("a") != long("b"), "{}", long("a"));
    }
}
