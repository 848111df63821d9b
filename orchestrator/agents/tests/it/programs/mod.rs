//! Tests of external agents, over standard input and output and over HTTP.

mod http;
mod stdio;

use std::path::Path;

use actions::Action;
use agents::program::Program;
use agents::{Agent as _, Error, Goal, Reply, View};
use observation::Observation;

/// All replies of an episode of three steps, up to its end or first error.
async fn play_through(mut agent: Program) -> Vec<Result<Reply, Error>> {
    let goal = Goal {
        task: "rail-01".to_owned(),
        images: Vec::new(),
        text: "When?".to_owned(),
        start_url: Some("https://rail.test/".to_owned()),
        max_steps: 3,
    };
    let page = Observation {
        url: "https://rail.test/".to_owned(),
        title: "Rail".to_owned(),
        axtree: "RootWebArea 'Rail'\n\t[3] link 'Timetable'".to_owned(),
        ..Observation::default()
    };
    let mut replies = Vec::new();
    for step in 1..=goal.max_steps {
        let view = View {
            step,
            observation: &page,
            chat: &[],
            last_action_error: None,
            screenshot: Some(Path::new("/tmp/step.png")),
        };
        let reply = agent.next(&goal, view).await;
        let last = !matches!(reply, Ok(Reply::Act { .. }));
        replies.push(reply);
        if last {
            break;
        }
    }
    agent.end("stopped").await;
    replies
}
