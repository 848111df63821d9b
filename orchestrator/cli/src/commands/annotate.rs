//! `sandbox annotate`: a person shows in a browser how a task is done, and it becomes a task.

use annotate::{
    Annotation, Draft, DraftOptions, Ending, FirstPage, Journal, LiveOptions, NewDraft, Source,
    Status, TaskFolder, TaskWorld, Web,
};
use browser::{Capture, Session};
use camino::{Utf8Path, Utf8PathBuf};
use processes::desktop;
use recorder::web_address;
use results::counted;
use url::Url;

use crate::commands::replay;
use crate::commands::show;
use crate::failure::{Failure, OrFail as _, Outcome};
use crate::finish::{self, EmptyRecording};
use crate::options::DataFolder;
use crate::options::gateway_options::{self, RecordedWeb, RedactOptions};
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

/// Make a task by doing it: a browser opens, and what you do in it becomes the task's solution
///
/// Each click, text, choice and page is a step, with its element and a picture. In the panel, a
/// page that opens beside the browser, write the goal, mend the steps, and mark those that matter
/// as key nodes (the rule of Mind2Web-Live). "Save" writes the task, the suite where it is new, and
/// the task in Mind2Web-Live's own form. A URL is visited live and recorded into a snapshot of the
/// suite; a snapshot is played offline. To edit a task, name its file with --output, or its id with
/// --task. Ctrl-C keeps the draft, and --resume goes on with it. What is typed into password fields
/// is never stored.
#[derive(clap::Args)]
pub(crate) struct Annotate {
    /// First page of the live web, or a snapshot (WACZ, WARC, ARC); by default the world of the
    /// suite
    #[arg(value_name = "URL|SNAPSHOT")]
    web: Option<String>,
    /// Folder of the suite, new or existing; or the file of a task, which is edited
    #[arg(short, long, value_name = "DIR|FILE")]
    output: Utf8PathBuf,
    /// Edit this task of the suite
    #[arg(long, value_name = "ID", conflicts_with_all = ["resume", "id"])]
    task: Option<String>,
    /// Id of the new task [default: made of the host of its first page]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// First page of a snapshot [default: the first of its page list]
    #[arg(long, value_name = "URL", value_parser = web_address)]
    url: Option<Url>,
    /// Go on with the unfinished annotation in the folder
    #[arg(long, conflicts_with_all = ["web", "url", "id"])]
    resume: bool,
    /// Copy the snapshot into the suite, instead of naming it where it is
    #[arg(long)]
    copy_snapshot: bool,
    /// Open no window: drive the browser over the DevTools address that is printed
    #[arg(long)]
    headless: bool,

    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    recorded: RecordedWeb,
}

/// How an annotation went, before anything is written.
struct CaptureResult {
    ending: Ending,
    annotation: Annotation,
}

impl Annotate {
    /// Captures until the person ends it, and writes what came of it.
    pub(crate) async fn run(mut self) -> Outcome {
        let (mut place, edited) = annotate::load(&self.output, self.task.as_deref())?;
        let (draft, left) = if self.resume {
            let (journal, draft) = Journal::resume(&place.folder)?;
            let own = draft.edited.as_deref().and_then(Utf8Path::file_name);
            place.taken.retain(|_, file| Some(file.as_str()) != own);
            let mut draft = annotate::resumed(draft);
            draft.options = self.options_with(draft.options);
            (draft, Some(journal))
        } else {
            let open = |files: &[Utf8PathBuf]| replay::open(files, &self.data);
            let (web, id, url) = (self.web.clone(), self.id.clone(), self.url.clone());
            let mut draft = NewDraft { web, id, url }.draft(&place, edited, open)?;
            draft.options = self.options_with(DraftOptions::default());
            (draft, None)
        };
        if !self.headless && !desktop::has_display() {
            return Err(browser::Error::NoDisplay)
                .or_environment("open a browser (or use --headless)");
        }
        let (journal, begun) = match left {
            Some(journal) => (journal, None),
            None => (Journal::begin(&place.folder, &draft)?, Some(draft.clone())),
        };
        self.begin(draft, begun.as_ref(), &journal, &place).await
    }

    /// `begun` is what this run has begun; a draft that is the same still holds nobody's work.
    async fn begin(
        &mut self,
        draft: Draft,
        begun: Option<&Draft>,
        journal: &Journal,
        place: &TaskFolder,
    ) -> Outcome {
        let web = match self.open_web(&draft, place).await {
            Ok(web) => web,
            Err(error) => {
                if begun.is_some() {
                    journal.remove()?;
                }
                return Err(error);
            }
        };
        match self.capture(&web, draft, journal, place).await {
            Ok(CaptureResult { ending: Ending::Save, annotation }) => {
                self.save(web, &annotation, journal, place).await
            }
            Ok(CaptureResult { ending: Ending::Discard, annotation }) => {
                web.discard().await?;
                journal.remove()?;
                annotation.workbench.set_status(Status::Discarded);
                annotation.workbench.last_look().await;
                eprintln!("discarded; nothing was written");
                Ok(())
            }
            Ok(CaptureResult { ending: Ending::Keep, annotation })
                if begun == Some(&annotation.workbench.draft()) =>
            {
                web.discard().await?;
                journal.remove()?;
                annotation.workbench.set_status(Status::Discarded);
                annotation.workbench.last_look().await;
                Err(Failure::Interrupted("nothing was done yet; nothing was written".to_owned()))
            }
            Ok(CaptureResult { ending: Ending::Keep, annotation }) => {
                web.keep().await?;
                let resume = self.resume_command(place);
                annotation.workbench.set_status(Status::Kept { resume: resume.clone() });
                annotation.workbench.last_look().await;
                let steps = counted(annotation.workbench.draft().step_count() as u64, "step");
                let missing = annotation.workbench.missing().join(" ");
                let missing = if missing.is_empty() {
                    String::new()
                } else {
                    format!(" What is missing: {missing}")
                };
                Err(Failure::Interrupted(format!(
                    "the task is not written; the draft with {steps} is kept: go on with `{resume}`.{missing}"
                )))
            }
            Err(error) if begun.is_some() && journal.left_over()?.as_ref() == begun => {
                web.discard().await?;
                journal.remove()?;
                Err(error)
            }
            Err(error) => {
                web.keep().await?;
                Err(error)
            }
        }
    }

    /// Opens the recording or the snapshots of a draft.
    async fn open_web(&mut self, draft: &Draft, place: &TaskFolder) -> Result<Web, Failure> {
        let mut gateway = gateway_options::config(&self.data)?;
        std::mem::take(&mut self.recorded.live).apply(&mut gateway);
        self.recorded.deadline.apply(&mut gateway);
        match &draft.source {
            Source::Live(path) => {
                let options = LiveOptions {
                    gateway,
                    redact: std::mem::take(&mut self.recorded.redact).into_redact(),
                    body_cap: self.recorded.max_body,
                    ask_again: self.recorded.ask_again,
                    resume: self.resume,
                };
                Ok(Web::record(draft, path, options).await?)
            }
            Source::Snapshots(files) => {
                let world = TaskWorld::of(draft, files, place)?;
                let set = replay::open(files, &self.data)?;
                Ok(Web::replay(world, draft.clock, set, gateway, &self.data.indexes()?).await?)
            }
        }
    }

    async fn capture(
        &self,
        web: &Web,
        draft: Draft,
        journal: &Journal,
        place: &TaskFolder,
    ) -> Result<CaptureResult, Failure> {
        let spinner = progress::spinner("starting Chromium");
        let cancel = interrupt::token();
        let (capture, mut events) = Capture::new();
        let mut launch = web.launch();
        launch.headless = self.headless;
        launch.capture = Some(capture);
        let first = match (&draft.source, draft.edited.is_some() || self.resume) {
            (Source::Snapshots(_), true) => FirstPage::AfterSteps,
            _ => FirstPage::LastUrl,
        };
        let mut session = Session::start(&launch).await.or_environment("start the browser")?;
        web.restore(&mut session).await?;
        let in_flight = web.in_flight();
        let mut annotation =
            Annotation::open(draft, journal.clone(), place.taken.clone(), in_flight).await?;
        spinner.finish_and_clear();
        if self.headless {
            let address =
                session.serve_devtools().await.or_environment("serve the browser's DevTools")?.url;
            println!("devtools {address}");
        }
        println!("panel {}", annotation.panel.url());
        eprintln!("do the task in the browser, and write its goal and key nodes in the panel");
        eprintln!("\"Save\" in the panel writes the task; Ctrl-C keeps the draft");
        if !self.headless {
            tokio::spawn(show::in_browser(annotation.panel.url().to_owned()));
        }
        let ending = annotation.capture(&mut session, &mut events, first, &cancel).await;
        let closed = session.close().await.or_environment("close the browser");
        let ending = ending?;
        closed?;
        Ok(CaptureResult { ending, annotation })
    }

    async fn save(
        &self,
        web: Web,
        annotation: &Annotation,
        journal: &Journal,
        place: &TaskFolder,
    ) -> Outcome {
        annotation.workbench.set_status(Status::Saving);
        let saved = self.write(web, annotation, journal, place).await;
        match &saved {
            Ok(saved) => {
                let words = ["sandbox", "run", place.folder.as_str(), "--agent", "oracle"];
                let play = out::command_line(words);
                let file = saved.task.to_string();
                annotation.workbench.set_status(Status::Saved { file, play: play.clone() });
                annotation.workbench.last_look().await;
                let (steps, nodes) = saved.counts;
                println!(
                    "{}: {}, {}",
                    saved.task,
                    counted(steps as u64, "step"),
                    counted(nodes as u64, "key node")
                );
                if saved.lost_comments > 0 {
                    out::warn(&format!(
                        "{} of the file are not in it any more: only those at its head are kept",
                        counted(saved.lost_comments as u64, "comment")
                    ));
                }
                eprintln!("play its solution: {play}");
            }
            Err(error) => {
                let why = format!("{error}; the draft is kept: {}", self.resume_command(place));
                annotation.workbench.set_status(Status::Failed { why });
                annotation.workbench.last_look().await;
            }
        }
        saved.map(drop)
    }

    async fn write(
        &self,
        web: Web,
        annotation: &Annotation,
        journal: &Journal,
        place: &TaskFolder,
    ) -> Result<annotate::SaveReport, Failure> {
        if let Some((studio, path)) = web.into_recording().await {
            let finished = finish::finish(studio, &path, &[], EmptyRecording::Failure).await?;
            eprintln!("{}", finish::summary(&finished));
        }
        let mut draft = annotation.workbench.draft();
        if self.copy_snapshot {
            annotate::copy_snapshots(&mut draft, &place.folder)?;
        }
        let saved = annotate::save(&draft, journal, place)?;
        journal.remove()?;
        Ok(saved)
    }

    /// These options as well as those that an earlier command had. From now on they are in force.
    fn options_with(&mut self, earlier: DraftOptions) -> DraftOptions {
        let RedactOptions { credentials, headers, cookies } = &mut self.recorded.redact;
        *credentials |= earlier.redact_credentials;
        headers.extend(earlier.redact_headers);
        cookies.extend(earlier.redact_cookies);
        for names in [&mut *headers, &mut *cookies] {
            names.sort();
            names.dedup();
        }
        self.copy_snapshot |= earlier.copy_snapshot;
        DraftOptions {
            redact_credentials: *credentials,
            redact_headers: headers.clone(),
            redact_cookies: cookies.clone(),
            copy_snapshot: self.copy_snapshot,
        }
    }

    fn resume_command(&self, place: &TaskFolder) -> String {
        let mut words = vec!["sandbox", "annotate", "--resume", "-o", place.folder.as_str()];
        if self.headless {
            words.push("--headless");
        }
        out::command_line(words)
    }
}
