//! Tests of unexpected replies, and of prompts that are too long for the model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agents::{ActionFormat, AgentSpec, Call, EpisodeContext, Goal, Reply, Role, Utterance, View};
use camino::Utf8PathBuf;
use fake_model::{ModelRequest, Reply as Answer, Server};
use llm_client::{Cassette, Client, Fault, Model, Settings};
use observation::Observation;
use scoring::Scorer;
use serde_json::json;
use tasks::{GoalText, Task};

type Tested = Result<(), Box<dyn std::error::Error>>;

const GOAL: &str = "When does the first train leave?";

struct Step {
    reply: Result<Reply, agents::Error>,
    calls: Vec<Call>,
}

/// The agent's first action on a page of this many lines, within this time.
async fn step(
    kind: &str,
    model: Model,
    lines: usize,
    within: Duration,
) -> Result<Step, Box<dyn std::error::Error>> {
    let mut kind: AgentSpec = kind.parse()?;
    kind.connect(&mut |_| Ok::<_, std::convert::Infallible>(model.clone()))?;
    let scorer: Scorer = serde_json::from_value(json!({ "page": { "reward": "1" } }))?;
    let task = Task {
        max_steps: 9,
        ..Task::new("rail".to_owned(), GoalText::Words(GOAL.to_owned()), scorer)
    };
    let casting = EpisodeContext {
        task: &task,
        repeat: 1,
        seed: 7,
        stderr: PathBuf::from("/dev/null"),
        answer_within: within,
        speech: ActionFormat::default(),
        variables: &[],
        confined: None,
    };
    let mut agent = kind.agent(&casting);
    let goal = Goal::of(&task, GOAL.to_owned(), Vec::new());
    agent.begin(&goal).await?;
    let page = "[3] link 'Timetable'\n".repeat(lines);
    let observation =
        Observation { axtree: page.clone(), webarena: Some(page), ..Observation::default() };
    let chat = [Utterance { role: Role::User, text: GOAL.to_owned() }];
    let view = View {
        step: 1,
        observation: &observation,
        chat: &chat,
        last_action_error: None,
        screenshot: None,
    };
    let reply = match tokio::time::timeout(within, agent.next(&goal, view)).await {
        Ok(reply) => reply,
        Err(_) => Err(agents::Error::Timeout {
            message_type: "observe",
            who: "the test".to_owned(),
            after: within,
        }),
    };
    Ok(Step { reply, calls: agent.take_calls() })
}

const LONG: Duration = Duration::from_secs(20);

fn model(server: &Server, cassette: Option<Arc<Cassette>>) -> Result<Model, llm_client::Error> {
    let client = Client::new(&Settings::to(server.base_url()))?;
    Ok(Model { name: Some("fake".to_owned()), cassette, client: Some(client), ..Model::default() })
}

async fn live(
    kind: &str,
    lines: usize,
    script: impl Fn(&ModelRequest) -> Answer + Send + Sync + 'static,
) -> Result<Step, Box<dyn std::error::Error>> {
    let server = Server::start(script)?;
    step(kind, model(&server, None)?, lines, LONG).await
}

fn action(step: &Step) -> Option<&str> {
    match &step.reply {
        Ok(Reply::Act { text, .. }) => Some(text),
        _ => None,
    }
}

#[tokio::test]
async fn thoughts_before_the_words_are_not_acted_on() -> Tested {
    let thinks = |_: &ModelRequest| {
        Answer::Says("<think>\nI could do ```click [3]```\n</think>\n```stop [7]```".to_owned())
    };
    let played = live("cot", 1, thinks).await?;
    assert_eq!(action(&played), Some("stop [7]"));
    assert!(played.calls[0].reply.contains("click [3]"), "it is kept");
    // Reasoning without an end has no text after it.
    let endless = |_: &ModelRequest| Answer::Says("<think>I could do ```click [3]```".to_owned());
    assert_eq!(action(&live("cot", 1, endless).await?), Some(""));
    let drafts = |_: &ModelRequest| {
        Answer::Says(
            "<think>is it <action>click('3')</action>?</think><action>send_msg_to_user('7')</action>"
                .to_owned(),
        )
    };
    let played = live("generic", 1, drafts).await?;
    assert_eq!(action(&played), Some("send_msg_to_user('7')"));
    let cut = |_: &ModelRequest| {
        let message = json!({ "content": "<think>is it <action>click('3')</action>? or" });
        Answer::choice(json!({ "message": message, "finish_reason": "length" }))
    };
    let played = live("generic", 1, cut).await?;
    assert_eq!((action(&played), played.calls.len()), (None, 4), "{:?}", played.reply);
    Ok(())
}

#[tokio::test]
async fn what_is_wrong_with_a_reply_is_kept_and_told() -> Tested {
    let cut = |request: &ModelRequest| match request.number {
        0 => {
            let message = json!({ "content": "<action>click('3", "reasoning_content": "a link" });
            Answer::choice(json!({ "message": message, "finish_reason": "length" }))
        }
        _ => Answer::Says("<action>send_msg_to_user('7')</action>".to_owned()),
    };
    let server = Server::start(cut)?;
    let played = step("generic", model(&server, None)?, 1, LONG).await?;
    assert_eq!(action(&played), Some("send_msg_to_user('7')"));
    let first = &played.calls[0];
    assert_eq!((first.fault, first.finish.as_deref()), (Some(Fault::Cut), Some("length")));
    assert_eq!(first.reasoning.as_deref(), Some("a link"));
    assert!(
        server.requests()[1].last().contains("the reply was cut"),
        "{}",
        server.requests()[1].last()
    );
    let refuses = |_: &ModelRequest| {
        Answer::choice(json!({ "message": { "content": null, "refusal": "I cannot" } }))
    };
    let call = &live("direct", 1, refuses).await?.calls[0];
    assert_eq!((call.fault, call.refusal.as_deref()), (Some(Fault::Refused), Some("I cannot")));
    Ok(())
}

/// Accepts prompts up to this many words, with llama.cpp's error for longer ones.
fn takes(most: usize) -> impl Fn(&ModelRequest) -> Answer + Send + Sync + 'static {
    move |request| {
        let had = request.words().split_whitespace().count();
        if had <= most {
            return Answer::Says("```stop [7]```".to_owned());
        }
        let message = format!(
            "request ({had} tokens) exceeds the available context size ({most} tokens), try increasing it"
        );
        Answer::json(
            400,
            json!({ "error": { "code": 400, "message": message, "type": "exceed_context_size_error" } }),
        )
    }
}

#[tokio::test]
async fn a_page_is_cut_until_the_model_takes_the_prompt() -> Tested {
    let folder = tempfile::tempdir()?;
    let path = Utf8PathBuf::try_from(folder.path().join("c.jsonl"))?;
    let first = {
        let server = Server::start(takes(900))?;
        let cassette = Arc::new(Cassette::record(&path)?);
        step("cot", model(&server, Some(cassette))?, 2_000, LONG).await?
    };
    assert_eq!(action(&first), Some("stop [7]"));
    let (last, before) = first.calls.split_last().ok_or("nothing was asked")?;
    assert!(!before.is_empty() && before.iter().all(|call| call.error.is_some()));
    let cut = serde_json::to_string(&last.chat)?;
    assert!(last.error.is_none() && cut.contains("(The rest of the page is left out.)"), "{cut}");
    // The cassette replays this without the server.
    let offline = Model { cassette: Some(Arc::new(Cassette::open(&path)?)), ..Model::default() };
    let again = step("cot", offline, 2_000, LONG).await?;
    let digests =
        |step: &Step| step.calls.iter().map(|call| call.digest.clone()).collect::<Vec<_>>();
    assert_eq!((action(&again), digests(&again)), (action(&first), digests(&first)));
    assert!(again.calls.iter().all(|call| call.model.as_deref() == Some("fake")));
    Ok(())
}

#[tokio::test]
async fn a_prompt_that_never_fits_names_the_setting() -> Tested {
    let played = live("cot", 10, takes(5)).await?;
    let error = played.reply.err().ok_or("it cannot fit")?.to_string();
    assert!(error.contains("max_prompt_tokens") && error.contains("webarena-cot"), "{error}");
    assert!(played.calls.len() < 12 && played.calls.iter().all(|call| call.error.is_some()));
    Ok(())
}

#[tokio::test]
async fn every_question_is_noted_also_where_nothing_was_said() -> Tested {
    let refused = live("direct", 1, |_| Answer::Fails(401)).await?;
    let call = refused.calls.first().ok_or("it is noted")?;
    assert!(call.error.as_ref().is_some_and(|error| error.contains("401")), "{call:?}");
    assert!(serde_json::to_string(&call.chat)?.contains(GOAL));
    let server = Server::start(|_| Answer::Hangs)?;
    let hangs = step("direct", model(&server, None)?, 1, Duration::from_millis(300)).await?;
    let call = hangs.calls.first().ok_or("it is noted")?;
    assert!(
        call.error.as_ref().is_some_and(|error| error.contains("--answer-timeout")),
        "{call:?}"
    );
    Ok(())
}

#[test]
fn settings_of_a_model_go_before_those_of_an_agent() -> Tested {
    use agents::llm::ModelSettings;
    let folder = tempfile::tempdir()?;
    let path = Utf8PathBuf::try_from(folder.path().join("m.yaml"))?;
    std::fs::write(
        &path,
        "base_url: http://127.0.0.1:9/v1\nkey_variable: MY_KEY\nmax_tokens: 9\nrequest_timeout: 30\n\
         headers: {x-team: web}\nprice: {prompt: 1, completion: 2, cached: 0.5}\n",
    )?;
    let mut kind: AgentSpec = "cot->generic".parse()?;
    kind.set(&ModelSettings::read(&path)?);
    let mut connected = Vec::new();
    kind.connect(&mut |settings| {
        connected.push((settings.max_tokens, settings.temperature, settings.key_variable.clone()));
        Ok::<_, std::convert::Infallible>(Model::default())
    })?;
    let key = Some("MY_KEY".to_owned());
    assert_eq!(connected, [(Some(9), Some(1.0), key.clone()), (Some(9), Some(0.1), key)]);
    Ok(())
}
