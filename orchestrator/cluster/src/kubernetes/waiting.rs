//! The command line with which a user waits for the job.

/// Returns a shell command that ends when the job does, in success or failure, or is gone. A single
/// `kubectl wait` waits for only one of these ends.
pub fn waiting(job: &str) -> String {
    format!(
        "while kubectl get job/{job} && ! kubectl wait --for=condition=complete --timeout=60s job/{job} && \
         ! kubectl wait --for=condition=failed --timeout=1s job/{job}; do :; done 2>/dev/null"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A stand-in for `kubectl` knows a job that is in this state.
    #[test]
    fn the_printed_line_waits_for_both_ends() {
        let folder = tempfile::tempdir().unwrap();
        let script = "#!/bin/sh\ncase $1:$2 in get:*) [ $STATE != gone ] ;; *:--for=condition=$STATE) ;; *) exit 1 ;; esac\n";
        let program = folder.path().join("kubectl");
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        for state in ["complete", "failed", "gone"] {
            let path = format!("{}:/usr/bin:/bin", folder.path().display());
            let mut shell = std::process::Command::new("timeout");
            shell
                .args(["20", "sh", "-c", &waiting("sandbox-runs-demo")])
                .env("PATH", path)
                .env("STATE", state);
            assert!(shell.status().unwrap().success(), "{state}");
        }
    }
}
