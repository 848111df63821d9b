//! The browser's popups on top of a page, and its prompts for the user. The accessibility tree
//! shows them, keys work on them, a screenshot of the page can be taken, and the episode goes on.
//! Every test runs in the headless shell and, through the last one, in Chromium.

use actions::Dialect;

use crate::bench::{Bench, LOG};

/// A list with a log of its events, and another element.
const LIST: &str = "<select id=fruit aria-label=Fruit><option value=a>Apple<option value=b>Banana<option value=c>Cherry<option disabled>Date
    <option value=e>Elder</select> <button onclick='say(`pressed`)'>Elsewhere</button>";
const LISTEN: &str =
    "<script>for (const type of ['focus', 'click', 'input', 'change', 'keydown', 'keyup', 'blur'])
    fruit.addEventListener(type, e => say(`${type}${e.key ? ' ' + e.key : ''}: ${fruit.value}`))</script>";

async fn open(page: &str, others: &[(&str, &str)]) -> Bench {
    let page = format!("<!doctype html><title>Popups</title>{page}{LOG}");
    let pages = [&[("localhost/", &*page)], others].concat();
    Bench::open(Dialect::BrowserGym, &pages).await
}

/// One step of an episode: acts, observes, and takes a screenshot. Returns the text of the tree.
async fn step(bench: &mut Bench, action: &str) -> String {
    bench.act(action).await;
    let seen = bench.session.observe().await.unwrap();
    assert!(bench.session.screenshot().await.unwrap().starts_with(b"\x89PNG"), "{action}");
    seen.axtree
}

#[tokio::test]
async fn a_list_opens_by_a_click_and_keys_choose_in_it() {
    let mut bench = open(&format!("{LIST}{LISTEN}"), &[]).await;
    let closed = bench.session.screenshot().await.unwrap();
    let seen = step(&mut bench, "click('{Fruit}')").await;
    assert!(
        seen.contains("combobox 'Fruit' value='Apple', focused, hasPopup='menu', expanded=True"),
        "{seen}"
    );
    assert!(seen.contains("option 'Banana', selected=False"), "{seen}");
    let open = bench.session.screenshot().await.unwrap();
    assert!(open != closed, "a picture shows the list");
    assert!(bench.session.screenshot().await.unwrap() == open, "the picture repeats");
    assert_eq!(bench.said().await, ["focus: a", "click: a"]);
    // The value changes only when an option is chosen.
    step(&mut bench, "keyboard_press('ArrowDown')").await;
    step(&mut bench, "keyboard_press('ArrowDown')").await;
    assert!(bench.said().await.is_empty());
    let seen = step(&mut bench, "keyboard_press('Enter')").await;
    assert!(
        seen.contains("combobox 'Fruit' value='Cherry', focused, hasPopup='menu', expanded=False"),
        "{seen}"
    );
    assert_eq!(bench.said().await, ["input: c", "change: c", "click: c", "keyup Enter: c"]);
    // A click on it closes the list, and so does one elsewhere.
    for closing in ["{Fruit}", "{Elsewhere}"] {
        assert!(step(&mut bench, "click('{Fruit}')").await.contains("expanded=True"));
        assert!(
            step(&mut bench, &format!("click('{closing}')")).await.contains("expanded=False"),
            "{closing}"
        );
    }
    assert!(bench.said().await.contains(&"pressed".to_owned()));
}

#[tokio::test]
async fn a_list_opens_by_keys_and_letters_choose_in_it() {
    let mut bench = open(&format!("{LIST}{LISTEN}"), &[]).await;
    for opening in ["Space", "Enter", "Alt+ArrowDown", "F4"] {
        let seen = step(&mut bench, &format!("press('{{Fruit}}', '{opening}')")).await;
        assert!(seen.contains("expanded=True"), "{opening}: {seen}");
        let seen = step(&mut bench, "keyboard_press('Escape')").await;
        assert!(
            seen.contains("value='Apple', focused, hasPopup='menu', expanded=False"),
            "{opening}: {seen}"
        );
    }
    bench.said().await;
    step(&mut bench, "press('{Fruit}', 'Enter')").await;
    step(&mut bench, "keyboard_press('c')").await;
    let seen = step(&mut bench, "keyboard_press('Tab')").await;
    assert!(seen.contains("value='Cherry'") && seen.contains("expanded=False"), "{seen}");
    // A closed list takes keys, too.
    bench.said().await;
    step(&mut bench, "press('{Fruit}', 'ArrowUp')").await;
    assert_eq!(
        bench.said().await,
        ["keydown ArrowUp: c", "input: b", "change: b", "keyup ArrowUp: b"]
    );
    step(&mut bench, "keyboard_type('e')").await;
    assert_eq!(bench.said().await, ["keydown e: b", "input: e", "change: e", "keyup e: e"]);
}

#[tokio::test]
async fn options_are_selected_whether_a_list_is_open_or_not() {
    let mut bench = open(&format!("{LIST}{LISTEN}"), &[]).await;
    step(&mut bench, "click('{Fruit}')").await;
    bench.said().await;
    let seen = step(&mut bench, "select_option('{Fruit}', 'Banana')").await;
    assert!(seen.contains("value='Banana'"), "{seen}");
    assert_eq!(bench.said().await, ["input: b", "change: b"]);
    step(&mut bench, "select_option('{Fruit}', 'c')").await;
    assert_eq!(bench.said().await, ["input: c", "change: c"]);
}

#[tokio::test]
async fn lists_open_in_frames_and_in_shadow_roots() {
    let page = "<p>Above</p><iframe src=http://inner.test/ width=300 height=150></iframe><div id=host></div><script>
        host.attachShadow({ mode: 'open' }).innerHTML = '<select aria-label=Shade><option>Dark<option>Light</select>';
        host.shadowRoot.firstChild.onchange = e => say(`shade ${e.target.value}`); onmessage = e => say(e.data);</script>";
    let inner = "<select aria-label=Inner onchange='parent.postMessage(`inner ${value}`, `*`)'><option>One<option>Two</select>";
    let mut bench = open(page, &[("inner.test/", inner)]).await;
    for list in ["Inner", "Shade"] {
        assert!(
            step(&mut bench, &format!("click('{{{list}}}')")).await.contains("expanded=True"),
            "{list}"
        );
        step(&mut bench, "keyboard_press('End')").await;
        assert!(
            !step(&mut bench, "keyboard_press('Enter')").await.contains("expanded=True"),
            "{list}"
        );
    }
    assert_eq!(bench.said().await, ["inner Two", "shade Light"]);
}

#[tokio::test]
async fn an_open_list_does_not_outlive_its_page() {
    let mut bench = open(LIST, &[("localhost/next", "<title>Next</title><p>Next</p>")]).await;
    step(&mut bench, "click('{Fruit}')").await;
    let seen = step(&mut bench, "goto('http://localhost/next')").await;
    assert!(seen.contains("Next") && !seen.contains("Banana"), "{seen}");
    step(&mut bench, "go_back()").await;
    step(&mut bench, "click('{Fruit}')").await;
    step(&mut bench, "new_tab()").await;
    step(&mut bench, "tab_focus(0)").await;
    step(&mut bench, "click('{Fruit}')").await;
    step(&mut bench, "tab_close()").await;
    step(&mut bench, "goto('http://localhost/')").await;
    step(&mut bench, "click('{Fruit}')").await;
    bench.session.reset(Some(crate::bench::world())).await.unwrap();
    let seen = step(&mut bench, "goto('http://localhost/')").await;
    assert!(seen.contains("expanded=False"), "{seen}");
}

#[tokio::test]
async fn a_list_that_changes_or_goes_while_it_is_open_is_seen_as_it_is() {
    let page = "<select aria-label=Fruit id=fruit onmousedown='setTimeout(change, 200)'><option>Apple<option>Banana</select>
        <script>let change = () => { fruit.options[1].text = 'Quince'; change = () => fruit.remove(); };</script>";
    let mut bench = open(page, &[]).await;
    let seen = step(&mut bench, "click('{Fruit}')").await;
    assert!(seen.contains("option 'Quince'") && seen.contains("expanded=True"), "{seen}");
    step(&mut bench, "click('{Fruit}')").await;
    let seen = step(&mut bench, "noop()").await;
    assert!(!seen.contains("Fruit"), "{seen}");
}

#[tokio::test]
async fn pickers_open_by_clicks_keys_and_scripts_and_close() {
    let mut page = String::new();
    let kinds = [
        ("color", "#336699"),
        ("date", "2026-03-04"),
        ("time", "10:30"),
        ("month", "2026-03"),
        ("week", "2026-W10"),
        ("datetime-local", "2026-03-04T10:30"),
    ];
    for (kind, value) in kinds {
        page += &format!(
            "<p><input type={kind} id={kind} aria-label='Field {kind}' value='{value}' onchange='say(value)'>
            <button onclick='this.parentNode.firstElementChild.showPicker(); say(`shown`)'>Show {kind}</button>"
        );
    }
    let mut bench = open(&page, &[]).await;
    let closed = bench.session.screenshot().await.unwrap();
    for (kind, value) in kinds {
        for opening in [
            format!("click('{{Show {kind}}}')"),
            format!("press('{{Field {kind}}}', 'Alt+ArrowDown')"),
        ] {
            step(&mut bench, &opening).await;
            assert!(bench.session.screenshot().await.unwrap() != closed, "{opening}");
            step(&mut bench, "keyboard_press('Escape')").await;
        }
        let text = |seen: &str| {
            seen.lines().find(|line| line.contains(&format!("'Field {kind}'"))).map(str::to_owned)
        };
        let seen = step(&mut bench, "keyboard_press('Escape')").await;
        assert!(text(&seen).is_some(), "{kind}: {seen}");
        bench.said().await;
        step(&mut bench, &format!("click('{{Show {kind}}}')")).await;
        let other = value
            .replace("03-04", "03-05")
            .replace("-03\"", "-04")
            .replace("30", "45")
            .replace("336699", "ff0000");
        step(&mut bench, &format!("fill('{{Field {kind}}}', '{other}')")).await;
        assert_eq!(bench.said().await, ["shown".to_owned(), other], "{kind}");
    }
}

#[tokio::test]
async fn suggestions_of_the_browser_do_not_end_an_episode() {
    let page = "<input list=names aria-label=Name oninput='say(value)'><datalist id=names><option>alpha<option>beta</datalist>
        <input name=email autocomplete=email aria-label=Mail><textarea spellcheck=true aria-label=Text>mispeled wrods</textarea>
        <button onclick='document.querySelector(`input`).showPicker()'>Show</button>";
    let mut bench = open(page, &[]).await;
    for action in [
        "click('{Name}')",
        "keyboard_type('b')",
        "keyboard_press('ArrowDown')",
        "keyboard_press('Enter')",
        "keyboard_press('Escape')",
        "click('{Show}')",
        "keyboard_press('ArrowDown')",
        "click('{Text}', button='right')",
        "keyboard_press('Escape')",
        "keyboard_press('ContextMenu')",
        "keyboard_press('Shift+F10')",
    ] {
        step(&mut bench, action).await;
    }
    assert_eq!(bench.said().await, ["b"]);
}

#[tokio::test]
async fn lists_that_are_always_open_are_used_by_mouse_and_keys() {
    let page = "<select multiple aria-label=Many id=many onchange='say([...selectedOptions].map(o => o.text).join())'><option>One<option>Two<option>Three</select>
        <select size=3 aria-label=Tall onchange='say(value)'><option>Red<option>Green</select>";
    let mut bench = open(page, &[]).await;
    for (action, expected) in [
        ("click('{Two}')", "Two"),
        ("click('{Three}', modifiers=['Shift'])", "Two,Three"),
        ("select_option('{Many}', ['One', 'Three'])", "One,Three"),
        ("click('{Green}')", "Green"),
        ("keyboard_press('ArrowUp')", "Red"),
    ] {
        step(&mut bench, action).await;
        assert_eq!(bench.said().await, [expected], "{action}");
    }
}

#[tokio::test]
async fn what_a_browser_would_ask_its_user_is_answered_at_once() {
    let ask = |name: &str, script: &str, answer: &'static str| {
        (name.to_owned(), format!("<button onclick='{script}'>{name}</button>\n"), answer)
    };
    let ask_promise = |name: &str, promise: &str, answer: &'static str| {
        ask(name, &format!("({promise}).then(() => say(`granted`), e => say(e.name))"), answer)
    };
    let payment = "new PaymentRequest([{ supportedMethods: `https://pay.test/` }], { total: { label: `x`, amount: { currency: `EUR`, value: `1` } } })";
    let cases = [
        ask(
            "Notices",
            "Notification.requestPermission().then(p => say(`${p} ${Notification.permission}`))",
            "denied denied",
        ),
        ask(
            "Place",
            "navigator.geolocation.getCurrentPosition(() => say(`here`), e => say(`code ${e.code}`))",
            "code 1",
        ),
        ask_promise(
            "Camera",
            "navigator.mediaDevices.getUserMedia({ video: true, audio: true })",
            "NotFoundError",
        ),
        ask_promise("Screen", "navigator.mediaDevices.getDisplayMedia()", "NotAllowedError"),
        ask_promise("Clipboard", "navigator.clipboard.readText()", "NotAllowedError"),
        ask_promise("Pick file", "showOpenFilePicker()", "AbortError"),
        ask_promise("Save file", "showSaveFilePicker()", "AbortError"),
        ask_promise("Pick folder", "showDirectoryPicker()", "AbortError"),
        ask_promise("Colour", "new EyeDropper().open()", "AbortError"),
        ask_promise("Usb", "navigator.usb.requestDevice({ filters: [] })", "NotFoundError"),
        ask_promise("Pay", &format!("{payment}.show()"), "AbortError"),
        ask_promise("Key", "navigator.credentials.get({ password: true })", "NotAllowedError"),
        ask_promise("Lock", "document.body.requestPointerLock()", "NotAllowedError"),
        ask_promise("Small window", "documentPictureInPicture.requestWindow()", "NotAllowedError"),
        ask_promise("Full", "document.documentElement.requestFullscreen()", "granted"),
        ask("Print", "print(); say(`printed`)", "printed"),
        ask("Find", "say(find(`nowhere at all`))", "false"),
        ask("Handler", "navigator.registerProtocolHandler(`web+x`, `/?%s`); say(`told`)", "told"),
        ask(
            "File",
            "const input = document.createElement(`input`); input.type = `file`; input.click(); say(`told`)",
            "told",
        ),
        ask("Mail", "location = `mailto:a@b.test`; say(`told`)", "told"),
    ];
    let page: String = cases.iter().map(|(_, button, _)| button.as_str()).collect();
    let mut bench = open(&page, &[]).await;
    for (name, _, answer) in &cases {
        step(&mut bench, &format!("click('{{{name}}}')")).await;
        assert_eq!(bench.said().await, [*answer], "{name}");
    }
    // Scripts that print the functions see the browser's own.
    let shown = bench
        .session
        .evaluate("'' + EyeDropper.prototype.open + Element.prototype.requestPointerLock.length")
        .await;
    assert_eq!(shown.unwrap(), "function open() { [native code] }0");
}

#[tokio::test]
async fn what_a_page_opens_by_itself_is_seen_and_closed() {
    let page = "<form onsubmit='say(`sent`); return false'><input required aria-label=Needed><button>Send</button></form>
        <button popovertarget=pop>Menu</button><div popover id=pop><button onclick='say(`in the menu`)'>Inside</button></div>
        <button onclick='say(confirm(`Sure?`)); alert(`Well`); say(prompt(`Name?`))'>Ask</button>
        <details><summary>More</summary><p>Told</p></details>
        <button onclick='window.open(`/small`, ``, `width=200,height=200`)'>Open</button>
        <button onclick='onbeforeunload = e => e.preventDefault(); location = `/small`'>Leave</button>";
    let mut bench = open(page, &[("localhost/small", "<title>Small</title><p>Small</p>")]).await;
    let seen = step(&mut bench, "click('{Send}')").await;
    assert!(seen.contains("alert 'Please fill out this field."), "{seen}");
    step(&mut bench, "fill('{Needed}', 'x')").await;
    step(&mut bench, "keyboard_press('Enter')").await;
    assert_eq!(bench.said().await, ["sent"]);
    assert!(step(&mut bench, "click('{Menu}')").await.contains("button 'Inside'"));
    step(&mut bench, "click('{Inside}')").await;
    assert!(!step(&mut bench, "keyboard_press('Escape')").await.contains("button 'Inside'"));
    step(&mut bench, "click('{Ask}')").await;
    assert_eq!(bench.said().await, ["in the menu", "false", "null"]);
    assert!(step(&mut bench, "click('{More}')").await.contains("Told"));
    let seen = step(&mut bench, "click('{Open}')").await;
    assert!(seen.contains("Small"), "{seen}");
    step(&mut bench, "tab_close()").await;
    let seen = step(&mut bench, "click('{Leave}')").await;
    assert!(seen.contains("Small"), "{seen}");
}

#[tokio::test]
async fn tabs_that_open_at_once_are_all_shown() {
    let page = "<a href=/small target=_blank>Small</a> <a href=http://nowhere.test/ target=_blank>Nowhere</a>
        <button onclick='for (let n = 0; n < 3; n++) window.open(`/small?${n}`)'>Three</button>
        <button onclick='window.open(`about:blank`); window.open()'>Empty</button> <button onclick='window.open(`/small`).close()'>Brief</button>";
    let mut bench = open(page, &[("localhost/small", "<title>Small</title><p>Small</p>")]).await;
    let mut counts = Vec::new();
    for action in [
        "dblclick('{Small}')",
        "dblclick('{Nowhere}')",
        "click('{Three}')",
        "click('{Empty}')",
        "click('{Brief}')",
        "click('{Small}', button='middle')",
        "click('{Small}', modifiers=['Control'])",
        "click('{Small}', modifiers=['Shift'])",
        "click('{Small}', modifiers=['Control', 'Shift'])",
        "click('{Small}', modifiers=['Alt'])",
    ] {
        step(&mut bench, action).await;
        let tabs = bench.session.observe().await.unwrap().tabs.len();
        for index in (*counts.last().unwrap_or(&1)..tabs).chain([0]) {
            step(&mut bench, &format!("tab_focus({index})")).await;
        }
        counts.push(tabs);
    }
    assert_eq!(counts, [3, 5, 8, 10, 10, 11, 12, 13, 14, 14]);
}

#[tokio::test]
async fn a_tab_that_leads_to_another_program_is_empty() {
    let page =
        "<a href=mailto:a@b.test>Mail</a> <a href=mailto:a@b.test target=_blank>Mail elsewhere</a>
        <a href='unknown:x' target=_blank>Unknown</a>";
    let mut bench = open(page, &[]).await;
    for (action, tabs) in [
        ("dblclick('{Mail}')", 1),
        ("click('{Mail elsewhere}')", 2),
        ("dblclick('{Mail elsewhere}')", 4),
        ("click('{Unknown}')", 5),
    ] {
        step(&mut bench, action).await;
        let seen = bench.session.observe().await.unwrap();
        assert_eq!(seen.tabs.len(), tabs, "{action}");
        assert_eq!(seen.url == "about:blank", tabs > 1, "{action}: {}", seen.url);
        step(&mut bench, "tab_focus(0)").await;
    }
}

/// Links to other programs are left out: Chromium itself waits for a user then.
#[test]
fn all_that_is_so_in_chromium_too() {
    crate::bench::again_in_chromium(
        "popups",
        &["all_that_is_so_in_chromium_too", "a_tab_that_leads_to_another_program"],
    );
}
