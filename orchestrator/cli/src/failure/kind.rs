//! What the errors of libraries ask of the user.
//!
//! No match has a wildcard: an error that is new gets its kind, and so its exit code, on purpose.

use std::io::ErrorKind;

use super::Failure;

/// The variant of a failure that a text becomes.
type Kind = fn(String) -> Failure;

/// What to do about a container engine that does not answer.
pub(crate) const ENGINE_CURE: &str =
    "start it again, and the sites come up by themselves, or end them with `sandbox down`";

/// The sentence that tells an error with its causes, and what to do about it where that is known.
fn failure(kind: Kind, error: &dyn std::error::Error, cure: Option<&str>) -> Failure {
    let cure = cure.map(|cure| format!("; {cure}")).unwrap_or_default();
    kind(format!("failed to {}{cure}", error_text::with_causes(error)))
}

impl From<play::Error> for Failure {
    fn from(error: play::Error) -> Failure {
        use play::Error;
        let mut cure = None;
        let kind: Kind = match error {
            Error::Results(error) => return error.into(),
            Error::Pack(error) => return error.into(),
            Error::Suite(error) => return error.into(),
            Error::UnknownTask(_)
            | Error::Attached
            | Error::Cassette { .. }
            | Error::Manifests { .. }
            | Error::Task { .. }
            | Error::NothingToPlay { .. }
            | Error::Unstartable { .. }
            | Error::NotAgreed { .. }
            | Error::Snapshots { .. } => Failure::Input,
            Error::Sites { ref source } => {
                cure = source.cure();
                Failure::Environment
            }
            Error::Started { .. } | Error::Agreements { .. } | Error::World { .. } => {
                Failure::Environment
            }
        };
        failure(kind, &error, cure)
    }
}

/// A model's server that cannot be asked.
impl From<agents::llm::ServerError> for Failure {
    fn from(error: agents::llm::ServerError) -> Failure {
        use agents::llm::ServerError;
        let kind: Kind = match &error {
            ServerError::NoVariable { .. } | ServerError::NoServer => Failure::Environment,
            ServerError::Settings { .. } => Failure::Input,
        };
        failure(kind, &error, None)
    }
}

/// A suite that cannot be loaded is the user's to mend.
impl From<play::suites::SuiteError> for Failure {
    fn from(error: play::suites::SuiteError) -> Failure {
        use play::suites::SuiteError;
        let kind: Kind = match &error {
            SuiteError::NotThere { .. }
            | SuiteError::Load { .. }
            | SuiteError::NoVersion { .. }
            | SuiteError::NoTime
            | SuiteError::Undated { .. }
            | SuiteError::NoSnapshots { .. }
            | SuiteError::Unrecorded { .. }
            | SuiteError::Snapshot { .. } => Failure::Input,
        };
        failure(kind, &error, None)
    }
}

impl From<results::Error> for Failure {
    fn from(error: results::Error) -> Failure {
        use results::Error;
        let kind: Kind = match error {
            Error::NewerFormat { .. }
            | Error::Occupied { .. }
            | Error::InUse { .. }
            | Error::Exists { .. }
            | Error::OutputExists { .. }
            | Error::NotARun { .. }
            | Error::DifferentRun { .. }
            | Error::NothingInCommon { .. }
            | Error::DifferentSnapshots { .. }
            | Error::NothingToMerge
            | Error::DifferentParts { .. }
            | Error::TwiceInParts { .. }
            | Error::UnknownTask(_)
            | Error::UnknownEpisode { .. }
            | Error::Malformed { .. } => Failure::Input,
            Error::Write { .. }
            | Error::Read { .. }
            | Error::Misplaced { .. }
            | Error::Encode { .. }
            | Error::Listen { .. }
            | Error::Template { .. } => Failure::Environment,
        };
        failure(kind, &error, None)
    }
}

impl From<results::pack::Error> for Failure {
    fn from(error: results::pack::Error) -> Failure {
        use results::pack::Error;
        let kind: Kind = match error {
            Error::Run(error) => return error.into(),
            Error::Interrupted => {
                return Failure::Interrupted("interrupted; nothing was written".to_owned());
            }
            Error::Differs { .. } => Failure::Negative,
            Error::Unfinished { .. }
            | Error::NoSuite { .. }
            | Error::Suite { .. }
            | Error::SuiteChanged { .. }
            | Error::Remote { .. }
            | Error::Changing { .. }
            | Error::UnfitName { .. }
            | Error::Outside { .. }
            | Error::LeadsOut { .. }
            | Error::NotPacked { .. }
            | Error::NewerFormat { .. }
            | Error::Damaged { .. }
            | Error::Hostile { .. }
            | Error::NoSnapshot { .. } => Failure::Input,
            Error::NoRoom { .. } => Failure::Environment,
        };
        failure(kind, &error, None)
    }
}

impl From<container_images::Error> for Failure {
    fn from(error: container_images::Error) -> Failure {
        use container_images::Error;
        let mut cure = None;
        let kind: Kind = match &error {
            Error::Engine(engine) => {
                cure = Some(engine.cure().to_owned());
                Failure::Environment
            }
            Error::Changed { image, .. } => {
                cure = Some(format!(
                    "if you trust the new content, accept it with `sandbox images pull --update {image}`"
                ));
                Failure::Negative
            }
            Error::Step { .. } => Failure::Negative,
            Error::Malformed { .. } | Error::Exists(_) | Error::Unknown { .. } => Failure::Input,
            Error::Io { error, .. } if error.kind() == ErrorKind::NotFound => Failure::Input,
            Error::DiskFull { .. } => {
                cure = Some(
                    "`docker system df` says what takes the space, `docker image prune` frees what has no name"
                        .to_owned(),
                );
                Failure::Environment
            }
            Error::Refused { .. }
            | Error::Io { .. }
            | Error::Missing { .. }
            | Error::Program { .. } => Failure::Environment,
        };
        failure(kind, &error, cure.as_deref())
    }
}

impl From<daemon::Error> for Failure {
    fn from(error: daemon::Error) -> Failure {
        use daemon::Error;
        match error {
            Error::Images(error) => error.into(),
            Error::NotUp => Failure::Environment(
                "failed to reach the sites: none are up; start them with `sandbox up`".to_owned(),
            ),
            Error::AlreadyUp => Failure::Environment(
                "failed to start the sites: others are up already; stop them with `sandbox down`"
                    .to_owned(),
            ),
            Error::Lacks(_) => failure(Failure::Environment, &error, Some(ENGINE_CURE)),
            Error::Refused(_) => failure(Failure::Negative, &error, None),
            Error::Sites(ref sites) => failure(Failure::Environment, &error, sites.cure()),
            Error::PathTooLong { .. } => failure(Failure::Input, &error, None),
            Error::File { .. }
            | Error::Listen { .. }
            | Error::Open { .. }
            | Error::NoImages { .. }
            | Error::NotSwept { .. }
            | Error::Sweep { .. }
            | Error::Gateway(_)
            | Error::Header(_)
            | Error::Host(_)
            | Error::Process { .. }
            | Error::Ended { .. }
            | Error::NotSettled { .. }
            | Error::NotEnded { .. }
            | Error::Talk(_) => failure(Failure::Environment, &error, None),
        }
    }
}

/// A run on a cluster that cannot be submitted, followed or played.
impl From<cluster::Error> for Failure {
    fn from(error: cluster::Error) -> Failure {
        use cluster::Error;
        let kind: Kind = match error {
            Error::Runs(error) => return error.into(),
            Error::Results(error) => return error.into(),
            Error::Images(error) => return error.into(),
            Error::Mirror(error) => return error.into(),
            Error::Over(why) => return Failure::Interrupted(why),
            Error::Reserved { .. }
            | Error::Unfit { .. }
            | Error::NewerFormat { .. }
            | Error::Malformed { .. }
            | Error::FolderName { .. }
            | Error::PlayedByJobs { .. }
            | Error::AtAddress { .. }
            | Error::VariableValue { .. }
            | Error::SharedCassette
            | Error::NoPart { .. }
            | Error::EpisodeName { .. }
            | Error::Inputs { .. }
            | Error::Address { .. }
            | Error::PodsLack { .. }
            | Error::OutsideClaim { .. }
            | Error::ManifestExists { .. } => Failure::Input,
            Error::Missing { .. }
            | Error::Refused { .. }
            | Error::Unreachable { .. }
            | Error::Output { .. }
            | Error::Write { .. }
            | Error::Read { .. }
            | Error::Machine { .. }
            | Error::NotUtf8 { .. }
            | Error::BrokeDown { .. }
            | Error::Busy { .. }
            | Error::UnfitNode { .. }
            | Error::Loading { .. } => Failure::Environment,
        };
        failure(kind, &error, error.cure())
    }
}

/// A gym that cannot be served.
impl From<gym::server::Error> for Failure {
    fn from(error: gym::server::Error) -> Failure {
        use gym::server::Error;
        match error {
            Error::Played(error) => error.into(),
            Error::Listen { .. } => failure(Failure::Environment, &error, None),
        }
    }
}

/// A balancer that cannot serve, or a gym that cannot join one.
impl From<gym::balancer::Error> for Failure {
    fn from(error: gym::balancer::Error) -> Failure {
        use gym::balancer::Error;
        let kind = match &error {
            Error::Url { .. } | Error::Unfit { .. } => Failure::Input,
            Error::Listen { .. } | Error::Key { .. } | Error::Join { .. } => Failure::Environment,
        };
        failure(kind, &error, None)
    }
}

/// A recording that cannot begin, by what is there already or by the machine.
impl From<recorder::Error> for Failure {
    fn from(error: recorder::Error) -> Failure {
        use recorder::Error;
        let kind = match &error {
            Error::Snapshot(snapshot) => of_snapshot(snapshot),
            Error::Gateway(_)
            | Error::Browser(_)
            | Error::Journal { .. }
            | Error::Join { .. }
            | Error::File { .. }
            | Error::Reload(_)
            | Error::Closed => Failure::Environment,
        };
        failure(kind, &error, None)
    }
}

/// A recording that has become no snapshot.
impl From<recorder::finish::FinishError> for Failure {
    fn from(error: recorder::finish::FinishError) -> Failure {
        use recorder::finish::FinishError;
        let kind: Kind = match &error {
            FinishError::Nothing { .. } => Failure::Negative,
            FinishError::Discard { .. }
            | FinishError::Lost { .. }
            | FinishError::Unfinished { .. } => Failure::Environment,
        };
        failure(kind, &error, None)
    }
}

/// A browser that cannot visit through a recording.
impl From<recorder::TourError> for Failure {
    fn from(error: recorder::TourError) -> Failure {
        use recorder::TourError;
        let kind: Kind = match &error {
            TourError::Start(_)
            | TourError::Close(_)
            | TourError::Write { .. }
            | TourError::Visit { .. } => Failure::Environment,
        };
        failure(kind, &error, None)
    }
}

/// An annotation that cannot begin or be written.
impl From<annotate::Error> for Failure {
    fn from(error: annotate::Error) -> Failure {
        use annotate::Error;
        let kind: Kind = match error {
            Error::Recording(error) => return error.into(),
            Error::World(error) => return (*error).into(),
            Error::Read { ref source, .. } if source.kind() == ErrorKind::NotFound => {
                Failure::Input
            }
            Error::Malformed { .. }
            | Error::HasSites { .. }
            | Error::NoSuite { .. }
            | Error::OpenSnapshot { .. }
            | Error::Address { .. }
            | Error::NoPages { .. }
            | Error::EditedTask { .. }
            | Error::NoTask { .. }
            | Error::Suite(_)
            | Error::Task(_)
            | Error::Unfit { .. }
            | Error::Unfinished { .. }
            | Error::InUse { .. }
            | Error::NothingToResume { .. }
            | Error::NewerFormat { .. }
            | Error::CopyExists { .. }
            | Error::Exists { .. } => Failure::Input,
            Error::Read { .. }
            | Error::Write { .. }
            | Error::Copy { .. }
            | Error::Listen { .. }
            | Error::Template(_)
            | Error::Browser(_)
            | Error::Gateway { .. }
            | Error::Restore { .. }
            | Error::Close { .. }
            | Error::Remove { .. }
            | Error::Open { .. }
            | Error::Encode { .. } => Failure::Environment,
        };
        failure(kind, &error, None)
    }
}

fn of_snapshot(error: &snapshots::Error) -> Kind {
    use snapshots::Error;
    match error {
        Error::Remote(error) => of_remote(error),
        Error::Io { .. } => Failure::Environment,
        Error::UnknownFormat { .. }
        | Error::Damaged { .. }
        | Error::NoSuchSegment { .. }
        | Error::Container { .. }
        | Error::Collection { .. }
        | Error::IsCollection { .. }
        | Error::Line { .. }
        | Error::Http(_)
        | Error::TooLarge { .. }
        | Error::Exists { .. }
        | Error::LeftOver { .. }
        | Error::Verification { .. }
        | Error::Date { .. } => Failure::Input,
    }
}

/// A snapshot that cannot be uploaded.
impl From<snapshots::push::PushError> for Failure {
    fn from(error: snapshots::push::PushError) -> Failure {
        use snapshots::push::PushError;
        let kind: Kind = match error {
            PushError::Remote(error) => return error.into(),
            PushError::Snapshot { .. } | PushError::Read { .. } | PushError::Occupied { .. } => {
                Failure::Input
            }
            PushError::Upload(_) => Failure::Environment,
        };
        failure(kind, &error, None)
    }
}

impl From<object_files::Error> for Failure {
    fn from(error: object_files::Error) -> Failure {
        failure(of_remote(&error), &error, None)
    }
}

fn of_remote(error: &object_files::Error) -> Kind {
    use object_files::{Error, Reason};
    match error {
        Error::Address { .. } | Error::Server { why: Reason::NotFound, .. } => Failure::Input,
        Error::Server {
            why: Reason::Denied(_) | Reason::Changed | Reason::NoParts | Reason::Other(_),
            ..
        }
        | Error::Local { .. }
        | Error::Client(_) => Failure::Environment,
    }
}
