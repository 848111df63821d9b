//! Checks the user's own options for `sbatch`.

use crate::Error;

/// Options that each submission sets itself: the long name, and the short one.
const RESERVED: [(&str, Option<char>); 14] = [
    ("--array", Some('a')),
    ("--chdir", Some('D')),
    ("--error", Some('e')),
    ("--export-file", None),
    ("--input", Some('i')),
    ("--job-name", Some('J')),
    ("--no-requeue", None),
    ("--open-mode", None),
    ("--output", Some('o')),
    ("--parsable", None),
    ("--requeue", None),
    ("--test-only", None),
    ("--wait", Some('W')),
    ("--wrap", None),
];

/// The options that are read here. `sbatch` accepts abbreviations of them, which are refused.
const READ: [&str; 3] = ["--cpus-per-task", "--exclude", "--partition"];
const ABBREVIATED: &str =
    "it may be one that `sandbox run` reads or sets itself; write its whole name";
const CLUSTERS: &str = "the jobs are followed by the controller of this cluster alone";
const ENVIRONMENT: &str = "the parts need this environment; write --export=ALL with what is added";

/// Options for `sbatch`, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SbatchOptions {
    words: Vec<String>,
    excluded: Vec<String>,
    partition: Option<String>,
    says_cpus: bool,
}

impl SbatchOptions {
    /// Checks the words of the user.
    ///
    /// # Errors
    /// When one is set for each submission anyway, or the parts could not be played or followed
    /// with it.
    pub fn new(words: &[String]) -> Result<SbatchOptions, Error> {
        let mut options = SbatchOptions::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let is = |long: &str, short: Option<char>| {
                let name = word.split('=').next().unwrap_or_default();
                let mut chars = word.chars();
                let first_two = (chars.next(), chars.next());
                name == long || short.is_some_and(|short| first_two == (Some('-'), Some(short)))
            };
            if RESERVED.iter().any(|(long, short)| is(long, *short)) {
                return Err(Error::Reserved { option: word.clone() });
            }
            let unfit = |why| Err(Error::Unfit { option: word.clone(), why });
            if is("--clusters", Some('M')) || is("--cluster", None) {
                return unfit(CLUSTERS);
            }
            if is("--export", None) {
                let next = value(word).is_none().then(|| rest.next().cloned()).flatten();
                let names = value(word).or_else(|| next.clone()).unwrap_or_default();
                if !names.split(',').any(|name| name == "ALL") {
                    return unfit(ENVIRONMENT);
                }
                options.words.push(word.clone());
                options.words.extend(next);
                continue;
            }
            if is_abbreviated(word) {
                return unfit(ABBREVIATED);
            }
            // Kept apart from the other words: `scontrol` replaces the whole list when another node
            // is left out, and must then name these again.
            if is("--exclude", Some('x')) {
                let value = value(word).or_else(|| rest.next().cloned()).unwrap_or_default();
                options.excluded.push(value);
                continue;
            }
            options.words.push(word.clone());
            if is("--partition", Some('p')) {
                let next = value(word).is_none().then(|| rest.next().cloned()).flatten();
                options.words.extend(next.clone());
                options.partition = value(word).or(next);
            }
            options.says_cpus |= is("--cpus-per-task", Some('c'));
        }
        Ok(options)
    }

    /// The words of the user without the excluded nodes.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Lists of nodes on which no job shall run.
    pub fn excluded(&self) -> &[String] {
        &self.excluded
    }

    /// The partition, if one is named.
    pub fn partition(&self) -> Option<&str> {
        self.partition.as_deref()
    }

    /// Whether they set the number of CPUs of a job.
    pub fn says_cpus(&self) -> bool {
        self.says_cpus
    }
}

/// Returns whether a word abbreviates an option that is set or read here.
fn is_abbreviated(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let others =
        RESERVED.iter().map(|(long, _)| *long).chain(READ).chain(["--clusters", "--export"]);
    let is_beginning = |long: &str| long.len() > name.len() && long.starts_with(name);
    name.len() > 2 && name.starts_with("--") && others.into_iter().any(is_beginning)
}

/// Returns the value within the word of an option; none if it is the next word.
fn value(word: &str) -> Option<String> {
    let value = match word.strip_prefix("--") {
        Some(long) => long.split_once('=').map(|(_, value)| value),
        None => word.get(2..).filter(|value| !value.is_empty()),
    };
    value.map(str::to_owned)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn options(words: &str) -> Result<SbatchOptions, Error> {
        SbatchOptions::new(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_each_submission_sets_is_refused() {
        for word in ["--array=1-3", "-a1-3", "-J", "--output=x", "--requeue", "-D", "--wrap=true"] {
            let error = options(&format!("--time=10 {word}")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("use the option {word}: ")), "{error}");
        }
        // An option that only begins in the same way is another.
        assert!(options("--array-inx=1 --account=me -A me").is_ok());
    }

    #[test]
    fn what_loses_the_environment_or_the_jobs_is_refused() {
        for (words, why) in [
            ("-M other", CLUSTERS),
            ("-Mother", CLUSTERS),
            ("--clusters=all", CLUSTERS),
            ("--export=NONE", ENVIRONMENT),
            ("--export NIL", ENVIRONMENT),
            ("--export=A,B=1", ENVIRONMENT),
            ("--arr=1-3", ABBREVIATED),
            ("--exclud=n1", ABBREVIATED),
            ("--part gpu", ABBREVIATED),
            ("--expor=NONE", ABBREVIATED),
        ] {
            let error = options(words).unwrap_err();
            assert!(
                matches!(error, Error::Unfit { why: found, .. } if found == why),
                "{words}: {error}"
            );
        }
        for words in
            ["--export=ALL", "--export ALL,A=1", "--exclusive", "--mem=2G --mail-user=me -n 1"]
        {
            assert_eq!(options(words).unwrap().words().join(" "), words);
        }
    }

    #[test]
    fn partition_cpus_and_nodes_to_leave_out_are_found_however_they_are_written() {
        for words in [
            "-p gpu -x n1 -c 4",
            "-pgpu -xn1 -c4",
            "--partition=gpu --exclude=n1 --cpus-per-task=4",
        ] {
            let read = options(words).unwrap();
            assert_eq!((read.partition(), read.says_cpus()), (Some("gpu"), true), "{words}");
            assert_eq!(read.excluded(), ["n1"]);
            assert!(!read.words().iter().any(|word| word.contains("n1")), "{words}");
        }
        let none = options("--time=10").unwrap();
        assert_eq!((none.partition(), none.says_cpus(), none.words().len()), (None, false, 1));
    }
}
