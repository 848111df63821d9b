//! A run as an Indexed Job of Kubernetes: the manifest that the user applies. Each pod plays one part.
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

use serde_json::{Value, json};

use crate::quoted;

/// The user of the published image.
const USER: u32 = 10001;
/// Where the claim is mounted.
const WORK: &str = "/work";
/// The folder of the engine's socket.
const ENGINE: &str = "/run/engine";
/// Exit code of a run with an episode that ended in an error. Playing the part again repeats nothing.
const HAS_ERRORS: u32 = 1;
/// How many times a pod may die before its part is given up.
const TRIES: u32 = 5;
/// The label that the pods of a run share.
const LABEL: &str = "app.kubernetes.io/instance";

/// What a run needs of a cluster.
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
    /// Folder of the run, below the working folder.
    pub output: String,
    /// How many parts there are.
    pub parts: u32,
    /// How many of them are played at once.
    pub parallel: u32,
    /// Parallel episodes of a part: each takes a CPU.
    pub workers: u32,
    /// Memory of a pod without its sites, in MiB.
    pub memory: u64,
    /// The Secret with the variables of the model's API; the pods may then reach it.
    pub secret: Option<String>,
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
        let egress = if self.secret.is_none() {
            json!([])
        } else {
            json!([{ "ports": [
                { "protocol": "UDP", "port": 53 },
                { "protocol": "TCP", "port": 53 },
                { "protocol": "TCP", "port": 443 },
            ]}])
        };
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
                "podFailurePolicy": { "rules": [{
                    "action": "FailIndex",
                    "onExitCodes": { "containerName": "sandbox", "operator": "In", "values": [HAS_ERRORS] },
                }]},
                "template": { "metadata": { "labels": self.labels() }, "spec": self.pod() },
            },
        })
    }

    fn pod(&self) -> Value {
        let mut pod = json!({
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
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
        let resources = json!({ "cpu": self.workers.to_string(), "memory": format!("{}Mi", self.memory) });
        let mut environment = vec![
            json!({ "name": "HOME", "value": "/tmp" }),
            json!({ "name": "SANDBOX_DATA", "value": "/tmp/sandbox" }),
        ];
        let mut mounts =
            vec![json!({ "name": "work", "mountPath": WORK }), json!({ "name": "tmp", "mountPath": "/tmp" })];
        if self.engine.is_some() {
            environment
                .push(json!({ "name": "DOCKER_HOST", "value": format!("unix://{ENGINE}/docker.sock") }));
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

    /// What a pod runs. It gets its number, from 0 on, in a variable. One that takes the place of a
    /// pod that died goes on with its part.
    fn script(&self) -> String {
        let words: Vec<String> = self.arguments.iter().map(|word| quoted(word)).collect();
        let load = self.engine.as_ref().and_then(|engine| engine.images.as_ref());
        let load = load.map(|file| format!("sandbox load {} || exit\n", quoted(file))).unwrap_or_default();
        let (words, parts) = (words.join(" "), self.parts);
        let folder = quoted(&format!("{}/parts", self.output));
        format!(
            r#"part=$((JOB_COMPLETION_INDEX + 1))
output={folder}/$part
resume=
[ ! -f "$output/run.json" ] || resume=--resume
{load}exec sandbox {words} --shard "$part/{parts}" --output "$output" $resume
"#
        )
    }
}

impl EngineSidecar {
    /// Starts before the part, and ends after it.
    fn container(&self) -> Value {
        let socket = format!("unix://{ENGINE}/docker.sock");
        json!({
            "name": "engine",
            "image": self.image,
            "restartPolicy": "Always",
            "command": ["dockerd", format!("--host={socket}"), format!("--group={USER}"), "--iptables=true"],
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
            ],
        })
    }
}

/// A name for the job of a run in this folder: lower-case letters, digits and hyphens, at most 50 of
/// them, since Kubernetes adds the number of the pod.
pub fn job_name(folder: &str) -> String {
    const LONGEST: usize = 50;
    let last = folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let name: String = last.chars().map(plain).collect();
    let name: String = format!("sandbox-{}", name.trim_matches('-')).chars().take(LONGEST).collect();
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
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
            engine: None,
        }
    }

    fn with_all() -> Manifest {
        let engine = EngineSidecar {
            image: "docker:dind".to_owned(),
            images: Some("images.tar".to_owned()),
            memory: 4096,
        };
        Manifest { secret: Some("model".to_owned()), engine: Some(engine), ..manifest() }
    }

    /// The types come from the published schema, and pass over what they do not know: it would be
    /// missing afterwards.
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
        assert_eq!(egress(with_all())[0]["ports"][2]["port"], 443);
        let [policy, job] = manifest().objects();
        let selected = &policy["spec"]["podSelector"]["matchLabels"][LABEL];
        assert_eq!(selected, &job["spec"]["template"]["metadata"]["labels"][LABEL]);
        assert_eq!(job["spec"]["parallelism"], 3, "no more pods than parts");
    }

    /// The script is run by a shell, with a program in the place of ours.
    #[test]
    fn each_pod_plays_its_part() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("sandbox");
        std::fs::write(&program, "#!/bin/sh\nprintf '%s|' \"$@\"; echo\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).unwrap();
        let said = |manifest: &Manifest| {
            let [_, job] = manifest.objects();
            let words = job["spec"]["template"]["spec"]["containers"][0]["command"].clone();
            let words: Vec<String> = serde_json::from_value(words).unwrap();
            let path = format!("{}:/usr/bin:/bin", folder.path().display());
            let mut command = std::process::Command::new(&words[0]);
            command.args(&words[1..]).env("PATH", path).env("JOB_COMPLETION_INDEX", "2");
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        let output = folder.path().join("my runs").to_str().unwrap().to_owned();
        let first = Manifest { output: output.clone(), ..manifest() };
        let part = format!("run|tasks/it's|--agent|oracle|--shard|3/3|--output|{output}/parts/3|");
        assert_eq!(said(&first), format!("{part}\n"));
        assert_eq!(
            said(&Manifest { output: output.clone(), ..with_all() }),
            format!("load|images.tar|\n{part}\n")
        );
        std::fs::create_dir_all(format!("{output}/parts/3")).unwrap();
        std::fs::write(format!("{output}/parts/3/run.json"), "{}").unwrap();
        assert_eq!(said(&first), format!("{part}--resume|\n"), "after a pod that died");
    }

    #[test]
    fn a_name_is_a_dns_label() {
        assert_eq!(job_name("runs/Demo_oracle.2026/"), "sandbox-demo-oracle-2026");
        let long = job_name(&"x-".repeat(60));
        assert!(long.len() <= 50 && !long.ends_with('-'), "{long}");
    }
}
