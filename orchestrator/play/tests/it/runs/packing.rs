//! The files of a run that are packed, and those that a user has to name first.

use std::sync::Arc;

use fake_model::{Reply, Server};
use llm_client::{Cassette, Client, Model, Settings};
use play::consent::Agreed;
use results::pack::{self, Part, Snapshots, Sources};

use super::*;

const PLAIN: &str = "scorer: {equals: oak}";
/// The reference of this task stands in the chats of the judge.
const JUDGED: &str = "scorer: {webarena: {eval_types: [string_match], reference_answers: {fuzzy_match: [the gold bicycle]}}}";

/// A suite on disk with one task.
fn suite_in(
    folder: &Utf8Path,
    world: &str,
    task: &str,
) -> Result<Suite, Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    let world = format!("world: {{clock: 2026-03-12T08:30:00Z{world}}}\n");
    std::fs::write(folder.join("suite.yaml"), world)?;
    let task = format!("id: one\ngoal: Say oak.\nstart_url: https://shop.test/1\n{task}\n");
    std::fs::write(folder.join("one.yaml"), task)?;
    Ok(Suite::load(folder)?)
}

/// Plays it with an agent that answers at once.
async fn played(suite: &Suite, out: &Utf8Path, judge: Model) -> Tested {
    let options = Options { judge, agreed: Agreed::to_all(), ..into(out) };
    let agent: AgentSpec = replying(&["send_msg_to_user('a bicycle')"]).parse()?;
    let bring_up = move |_| Fake::bring_up(Mood::default());
    let stop = CancellationToken::new();
    play::run_in(HostFacts::default(), bring_up, suite, &agent, &options, stop, play::silent())
        .await?;
    Ok(())
}

fn sources(run: &Utf8Path) -> Sources {
    Sources {
        run: run.to_owned(),
        suite: None,
        cassette: None,
        snapshots: Snapshots::Inside,
        without_solutions: false,
        include: Vec::new(),
    }
}

/// Packs a run; gives the paths of the members, and where they are unpacked.
fn packed(sources: &Sources, folder: &Utf8Path) -> Result<(Vec<String>, Utf8PathBuf), pack::Error> {
    let (file, to) = (folder.join("x.run.tar.zst"), folder.join("unpacked"));
    let _ = std::fs::remove_dir_all(&to);
    let stop = CancellationToken::new();
    pack::write(sources, &file, true, &stop, &mut |_, _| {})?;
    std::fs::create_dir(&to)
        .map_err(|source| results::Error::Write { path: to.clone(), source })?;
    let manifest = pack::unpack(&file, &to, Part::All, &stop, &mut |_, _| {})?;
    Ok((manifest.members.into_iter().map(|member| member.path).collect(), to))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pack_without_solutions_has_no_reference_of_a_judged_task() -> Tested {
    let (temporary, run) = folder()?;
    let folder = Utf8PathBuf::try_from(temporary.path().to_owned())?;
    let (suite, cassette) = (folder.join("suite"), folder.join("suite/judge.cassette.jsonl"));
    let suite = suite_in(&suite, ", storage_state: state.json", JUDGED)?;
    std::fs::write(suite.folder.join("state.json"), r#"{"cookies": [], "origins": []}"#)?;
    {
        let server = Server::start(|_| Reply::Says("incorrect".to_owned()))?;
        let judge = Model {
            name: Some("judge-1".to_owned()),
            cassette: Some(Arc::new(Cassette::record(&cassette)?)),
            client: Some(Client::new(&Settings::to(server.base_url()))?),
            ..Model::default()
        };
        played(&suite, &run, judge).await?;
    }
    let gold = "the gold bicycle";
    assert!(std::fs::read_to_string(&cassette)?.contains(gold), "the judge was asked");
    let whole = Sources { cassette: Some(cassette.clone()), ..sources(&run) };
    let (members, to) = packed(&whole, &folder)?;
    assert!(std::fs::read_to_string(to.join("cassette.jsonl"))?.contains(gold));
    assert!(members.iter().any(|member| member == "state/state.json"), "{members:?}");
    let (members, to) = packed(&Sources { without_solutions: true, ..whole }, &folder)?;
    assert!(members.iter().any(|member| member == "run/run.json"), "{members:?}");
    for member in &members {
        let told =
            ["suite/", "sites/", "state/", "cassette"].iter().any(|part| member.starts_with(part));
        let text = String::from_utf8_lossy(&std::fs::read(to.join(member))?).into_owned();
        assert!(!told && !text.contains(gold), "{member}: {text}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_lies_outside_of_the_suite_is_packed_only_if_it_is_named() -> Tested {
    let (temporary, run) = folder()?;
    let folder = Utf8PathBuf::try_from(temporary.path().to_owned())?.canonicalize_utf8()?;
    let private = folder.join("private");
    std::fs::create_dir(&private)?;
    std::fs::write(private.join("state.json"), r#"{"cookies": [], "origins": []}"#)?;
    std::fs::write(private.join("id_rsa"), "a key")?;
    std::fs::create_dir(folder.join("suite"))?;
    std::os::unix::fs::symlink(private.join("state.json"), folder.join("suite/link.json"))?;
    for (world, task, file) in [
        (", storage_state: ../private/state.json", PLAIN.to_owned(), "state.json"),
        (", files: ../private", PLAIN.to_owned(), ""),
        ("", format!("storage_state: ../private/state.json\n{PLAIN}"), "state.json"),
        (", storage_state: link.json", PLAIN.to_owned(), "link.json"),
        (", snapshots: [../private/id_rsa]", PLAIN.to_owned(), "id_rsa"),
    ] {
        let _ = std::fs::remove_dir_all(&run);
        let suite = suite_in(&folder.join("suite"), world, &task)?;
        played(&suite, &run, Model::default()).await?;
        let refused = packed(&sources(&run), &folder).map(|(members, _)| members);
        assert!(
            matches!(&refused, Err(pack::Error::Outside { path, flag: "--include", .. }) if path.as_str().ends_with(file)),
            "{world}{task}: {refused:?}"
        );
        packed(&Sources { include: vec![private.clone()], ..sources(&run) }, &folder)?;
    }
    // A recording of the web needs no name, wherever it is.
    let demo = Utf8Path::new("../../snapshots/demo.wacz").canonicalize_utf8()?;
    let _ = std::fs::remove_dir_all(&run);
    let suite = suite_in(&folder.join("suite"), &format!(", snapshots: ['{demo}']"), PLAIN)?;
    played(&suite, &run, Model::default()).await?;
    let (members, _) = packed(&sources(&run), &folder)?;
    assert!(members.iter().any(|member| member == "snapshots/demo.wacz"), "{members:?}");
    Ok(())
}
