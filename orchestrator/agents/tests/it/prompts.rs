//! Tests of each agent's exact prompts over three steps, and of how it reads the replies.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agents::llm::PRESETS;
use agents::{ActionFormat, AgentSpec, EpisodeContext, Goal, Reply, Role, Utterance, View};
use fake_model::{Server, walker};
use llm_client::{Cassette, Client, Model, Part, Settings};
use observation::{Element, Field, Html, Observation, Tab};
use scoring::Scorer;
use tasks::{GoalText, Task};

type Tested = Result<(), Box<dyn std::error::Error>>;

const GOAL: &str = "When does the first train leave?";

fn task() -> Result<Task, Box<dyn std::error::Error>> {
    let node = serde_json::json!({ "mind2web_live": { "nodes": [{ "url_included_match": { "reference": "rail.test/times" } }] } });
    let scorer: Scorer = serde_json::from_value(node)?;
    Ok(Task {
        max_steps: 9,
        ..Task::new("rail".to_owned(), GoalText::Words(GOAL.to_owned()), scorer)
    })
}

fn page(url: &str, title: &str) -> Observation {
    let element = |bid: &str, role: &str, name: &str| Element {
        bid: bid.to_owned(),
        role: role.to_owned(),
        name: name.to_owned(),
    };
    let field = |name: &str, kind: &str, html: &str| Field {
        name: name.to_owned(),
        kind: kind.to_owned(),
        html: Some(html.to_owned()),
    };
    Observation {
        url: url.to_owned(),
        title: title.to_owned(),
        axtree: format!(
            "RootWebArea '{title}'\n\t[3] link 'Timetable', clickable\n\t[4] textbox 'From'"
        ),
        webarena: Some(format!(
            "Tab 0 (current): {title}\n\n[3] link 'Timetable'\n[4] textbox 'From'"
        )),
        visualwebarena: Some("[3] [A] [Timetable]\n[4] [INPUT] [From]".to_owned()),
        webcanvas: Some(format!("{title}\n  [3] link 'Timetable'\n  [4] input 'From'")),
        turkingbench: Some(vec![
            field("word", "text", "<p>\n<input type=\"text\" name=\"word\">"),
            field("tone", "radio", "<input type=\"radio\" name=\"tone\" value=\"rude\">"),
        ]),
        html: Some(vec![Html {
            frame: String::new(),
            url: url.to_owned(),
            html: "<input name=\"word\"><input type=\"radio\" name=\"tone\" value=\"rude\">"
                .to_owned(),
        }]),
        tabs: vec![Tab { url: url.to_owned(), title: title.to_owned() }],
        elements: vec![
            element("3", "link", "Timetable"),
            element("4", "textbox", "From"),
            element("5", "heading", title),
        ],
        ..Observation::default()
    }
}

/// Plays three steps. Returns all chats with their replies, and the agent's replies.
async fn played(
    kind: &str,
    model: Model,
    repeat: u32,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut kind: AgentSpec = kind.parse()?;
    kind.connect(&mut |_| Ok::<_, std::convert::Infallible>(model.clone()))?;
    let (task, folder) = (task()?, tempfile::tempdir()?);
    let screenshot = folder.path().join("step.png");
    std::fs::write(&screenshot, b"a picture")?;
    let speech = ActionFormat::default();
    let stderr = PathBuf::from("/dev/null");
    let answer_within = Duration::from_secs(9);
    let casting = EpisodeContext {
        task: &task,
        repeat,
        seed: 7,
        stderr,
        answer_within,
        speech,
        variables: &[],
        confined: None,
    };
    let mut agent = kind.agent(&casting);
    let goal = Goal::of(&task, GOAL.to_owned(), Vec::new());
    agent.begin(&goal).await?;
    let pages = [
        page("https://rail.test/", "Rail"),
        page("https://rail.test/times", "Times"),
        Observation {
            notices: vec!["status: 12 trains found".to_owned()],
            ..page("https://rail.test/times", "Times")
        },
    ];
    let chat = [Utterance { role: Role::User, text: GOAL.to_owned() }];
    let mut text = String::new();
    for (place, page) in pages.iter().enumerate() {
        let error = (place == 2).then_some("failed to click: it is hidden");
        let step = u32::try_from(place)? + 1;
        let view = View {
            step,
            observation: page,
            chat: &chat,
            last_action_error: error,
            screenshot: Some(&screenshot),
        };
        let reply = agent.next(&goal, view).await?;
        for call in agent.take_calls() {
            text.push_str(&format!("##### step {step}, {} #####\n", call.prompt));
            for message in &call.chat.messages {
                text.push_str(&format!("--- {:?}\n", message.role));
                for part in &message.content {
                    match part {
                        Part::Text { text: words } => text.push_str(&format!("{words}\n")),
                        Part::ImageUrl { image_url } => {
                            text.push_str(&format!("({})\n", image_url.url))
                        }
                    }
                }
            }
            text.push_str(&format!("--- the model says\n{}\n", call.reply));
        }
        let format = kind.action_format(speech);
        let told = match &reply {
            Reply::Act { text, reason, actions } => {
                assert_eq!(&format.read(text), actions, "it is read by others as by the agent");
                format!("Act {{ action: {text:?}, reason: {reason:?} }}")
            }
            Reply::Stop { .. } => format!("{reply:?}"),
        };
        text.push_str(&format!("##### step {step}: {told} in {:?} #####\n", format.dialect));
        if matches!(reply, Reply::Stop { .. }) {
            break;
        }
    }
    agent.end("stopped").await;
    Ok(text)
}

fn live(server: &Server, cassette: Option<Arc<Cassette>>) -> Result<Model, llm_client::Error> {
    let client = Client::new(&Settings {
        key: Some("secret".to_owned()),
        within: Duration::from_secs(20),
        ..Settings::to(server.base_url())
    })?;
    Ok(Model { name: Some("fake".to_owned()), cassette, client: Some(client), ..Model::default() })
}

#[tokio::test]
async fn every_agent_asks_what_it_is_known_to_ask() -> Tested {
    let server = Server::start(walker::script)?;
    for (name, _) in PRESETS {
        let text = played(name, live(&server, None)?, 1).await?;
        insta::assert_snapshot!(*name, text);
    }
    assert!(server.requests().iter().all(|request| request.key.as_deref() == Some("secret")));
    Ok(())
}

#[tokio::test]
async fn a_cassette_plays_every_agent_alike_without_the_server() -> Tested {
    let folder = tempfile::tempdir()?;
    let path = camino::Utf8PathBuf::try_from(folder.path().join("all.jsonl"))?;
    let names: Vec<&str> =
        PRESETS.iter().map(|(name, _)| *name).chain(["see-plan-act->closed-book"]).collect();
    let mut first = Vec::new();
    {
        let server = Server::start(walker::script)?;
        let cassette = Arc::new(Cassette::record(&path)?);
        for name in &names {
            first.push(played(name, live(&server, Some(cassette.clone()))?, 1).await?);
        }
    }
    let recorded = std::fs::read(&path)?;
    let offline = Model { cassette: Some(Arc::new(Cassette::open(&path)?)), ..Model::default() };
    for (name, first) in names.iter().zip(&first) {
        assert_eq!(&played(name, offline.clone(), 1).await?, first, "{name}");
    }
    assert_eq!(std::fs::read(&path)?, recorded);
    // Another repeat is another sample; the miss says so.
    let error = played("cot", offline, 2).await.err().ok_or("no error")?.to_string();
    assert!(error.contains("belongs to another repeat of the run"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_changed_prompt_is_a_miss_that_says_where_it_differs() -> Tested {
    let folder = tempfile::tempdir()?;
    let path = camino::Utf8PathBuf::try_from(folder.path().join("one.jsonl"))?;
    let server = Server::start(walker::script)?;
    played("closed-book", live(&server, Some(Arc::new(Cassette::record(&path)?)))?, 1).await?;
    let prompts = folder.path().join("prompts");
    std::fs::create_dir(&prompts)?;
    std::fs::write(prompts.join("closed-book.jinja"), "=== user\nAnswer the riddle: {{ goal }}\n")?;
    let mine = folder.path().join("mine.yaml");
    std::fs::write(
        &mine,
        "agent:\n  closed-book: {}\nmodel: {temperature: 0.0, max_tokens: 1024}\ntemplates: prompts\n",
    )?;
    let offline = Model { cassette: Some(Arc::new(Cassette::open(&path)?)), ..Model::default() };
    let error = played(mine.to_str().ok_or("UTF-8")?, offline, 1)
        .await
        .err()
        .ok_or("no error")?
        .to_string();
    assert!(
        error.contains("continues with \"question from what you know")
            && error.contains("where this one has \"riddle: When"),
        "{error}"
    );
    Ok(())
}

#[tokio::test]
async fn a_page_is_cut_to_what_a_prompt_may_have() -> Tested {
    let folder = tempfile::tempdir()?;
    let mine = folder.path().join("mine.yaml");
    std::fs::write(&mine, "agent:\n  generic: {}\nmodel: {max_prompt_tokens: 520}\n")?;
    let server = Server::start(walker::script)?;
    let text = played(mine.to_str().ok_or("UTF-8")?, live(&server, None)?, 1).await?;
    assert!(text.contains("(The rest of the page is left out.)"), "{text}");
    Ok(())
}
