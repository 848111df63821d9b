//! A script that plays each of the built-in agents: it uses the first thing on the page and then
//! says that it is done. It knows the agents by the words of their prompts, and keeps nothing in
//! mind from one request to the next, so that it replies alike however often it is asked.

use crate::{ModelRequest, Reply};

/// The script.
pub fn script(request: &ModelRequest) -> Reply {
    Reply::Says(say(&request.words(), &request.last(), request.messages()))
}

fn say(words: &str, last: &str, messages: usize) -> String {
    if words.contains("\"status\": \"doing\"") {
        return fenced(r#"{"status": "doing", "score": 4, "reason": "a link was used"}"#);
    }
    if words.contains("\"action_input\"") {
        return fenced(&plan_of_webcanvas(last));
    }
    if words.contains("the uppercase letter of your choice") {
        let begun = !words.contains("Actions so far:\nnone");
        let (element, action) = if begun { ("None", "TERMINATE") } else { ("A", "CLICK") };
        return format!("ELEMENT: {element}\nACTION: {action}\nVALUE: None");
    }
    if words.contains("Go through these in your reply") {
        return "This is a page with links. I use the first one.\nPLAN: use the first link, then answer"
            .to_owned();
    }
    if words.contains("What was found:") {
        return "nothing in particular".to_owned();
    }
    if words.contains("between two runs of three backticks") {
        return webarena(last);
    }
    if words.contains("self.actions.") {
        return form(last);
    }
    if words.contains("<action>") {
        return generic(words, messages);
    }
    if words.contains("\"Search:\"") {
        return if last.contains("\nSearch:") {
            "The results say so.\nAnswer: 7".to_owned()
        } else {
            "I have to look it up.\nSearch: first train".to_owned()
        };
    }
    "I seem to remember.\nAnswer: 7".to_owned()
}

fn fenced(text: &str) -> String {
    format!("```\n{text}\n```")
}

/// The id of the first link, `[12] link` or `[12] [A]`.
fn first_link(page: &str) -> Option<String> {
    let line = page.lines().find(|line| line.contains("] link") || line.contains("] [A]"))?;
    let (_, rest) = line.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

fn webarena(last: &str) -> String {
    let begun = !last.contains("ACTION BEFORE: none");
    match first_link(last).filter(|_| !begun) {
        Some(id) => {
            format!(
                "There is a link. In summary, the next action I will perform is ```click [{id}]```"
            )
        }
        None => "I have seen enough. In summary, the next action I will perform is ```stop [7]```"
            .to_owned(),
    }
}

fn plan_of_webcanvas(last: &str) -> String {
    let page = last.split("ELEMENTS OF THE PAGE:").last().unwrap_or_default();
    match first_link(page).filter(|_| last.contains("No step has been taken yet.")) {
        Some(id) => format!(
            r#"{{"thought": "a link", "action": "click", "action_input": "", "element_id": "{id}", "description": "use it"}}"#
        ),
        None => r#"{"thought": "done", "action": "get_final_answer", "action_input": "7", "element_id": "", "description": "answer"}"#
            .to_owned(),
    }
}

/// The first reply to a prompt lacks its tags, so that it has to be asked for again.
fn generic(words: &str, messages: usize) -> String {
    if messages < 4 {
        return "I would use the first link.".to_owned();
    }
    let page = words.split("## Accessibility tree").nth(1).unwrap_or_default();
    let action = match first_link(page).filter(|_| !words.contains("# What you have done")) {
        Some(id) => format!("click('{id}')"),
        None => "send_msg_to_user('7')".to_owned(),
    };
    format!("<think>\nthe first thing there is\n</think>\n<action>\n{action}\n</action>")
}

/// Fills a field in by the kind that its HTML shows.
fn form(last: &str) -> String {
    let field = last.lines().find_map(|line| line.strip_prefix("FIELD: ")).unwrap_or_default();
    let own =
        last.lines().find(|line| line.contains(&format!("name=\"{field}\""))).unwrap_or_default();
    let value = own.split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("1");
    let call = if own.contains("radio") {
        "modify_radio"
    } else if own.contains("checkbox") {
        "modify_checkbox"
    } else if own.contains("<select") {
        "modify_select"
    } else if own.contains("range") {
        "modify_range"
    } else {
        return format!("self.actions.modify_text(\"{field}\", \"words\")");
    };
    format!("self.actions.{call}(\"{field}\", \"{value}\")")
}
