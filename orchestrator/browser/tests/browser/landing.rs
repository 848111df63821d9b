//! Presses reach the element that was meant, on pages that change when the mouse comes, and in the
//! trees of web components. Drags are followed by the page frame by frame.

use actions::Dialect;

use crate::bench::{Bench, LOG};

async fn open(page: &str) -> Bench {
    let page = format!("<!doctype html><title>Landing</title>{page}{LOG}");
    Bench::open(Dialect::BrowserGym, &[("landing.test/", &page)]).await
}

/// Menu entries; the one under the mouse is as high as three.
const ACCORDION: &str = "<style>.entry { height: 30px; width: 400px } .entry.open { height: 90px }
    button { height: 28px; margin-left: 150px }</style>
    <script>for (const name of ['Ada', 'Ben', 'Cleo', 'Dan', 'Eve', 'Flo']) document.write(`<div class=entry>${name}
    <button onclick='say(\"click ${name}\")' ondblclick='say(\"twice ${name}\")' oncontextmenu='say(\"menu ${name}\")'
    aria-label='Remove ${name}'>x</button></div>`);
    for (const entry of document.querySelectorAll('.entry')) {
        entry.onmouseenter = () => entry.classList.add('open');
        entry.onmouseleave = () => entry.classList.remove('open');
    }</script>";

#[tokio::test]
async fn the_mouse_follows_what_shifts_when_it_comes() {
    for (action, expected) in [
        ("click('{Remove Dan}')", vec!["click Dan"]),
        ("dblclick('{Remove Cleo}')", vec!["click Cleo", "click Cleo", "twice Cleo"]),
        ("click('{Remove Eve}', button='right')", vec!["menu Eve"]),
    ] {
        let mut bench = open(ACCORDION).await;
        bench.act("hover('{Remove Ada}')").await;
        bench.act(action).await;
        assert_eq!(bench.said().await, expected, "{action}");
    }
}

/// However a page comes to shift things, nothing does between the last look and the press.
#[tokio::test]
async fn nothing_comes_between_the_mouse_and_its_press() {
    for later in [
        "Promise.resolve().then(work)",
        "{ const { port1, port2 } = new MessageChannel(); port1.onmessage = work; port2.postMessage(0); }",
        "setTimeout(work)",
        "requestAnimationFrame(work)",
        "new ResizeObserver(work).observe(document.body)",
        "fetch('/late').then(work)",
        "{ const request = new XMLHttpRequest(); request.open('GET', '/late', false); request.send(); work(); }",
    ] {
        let page = ACCORDION
            .replace("onmouseenter = () => entry", "onmouseenter = () => later(() => entry")
            .replace("onmouseleave = () => entry", "onmouseleave = () => later(() => entry")
            .replace("('open');", "('open'));");
        let mut bench =
            open(&format!("<script>const later = (work) => {later};</script>{page}")).await;
        bench.act("hover('{Remove Ada}')").await;
        bench.act("click('{Remove Dan}')").await;
        bench.act("dblclick('{Remove Ben}')").await;
        let said = bench.said().await;
        assert_eq!(said, ["click Dan", "click Ben", "click Ben", "twice Ben"], "{later}");
    }
}

#[tokio::test]
async fn what_shifts_in_a_frame_and_in_a_scrolled_part_is_reached() {
    let inside = format!(
        "<!doctype html><script>const say = (text) => parent.postMessage(text, '*')</script>
        <div style='height: 700px'></div>{ACCORDION}<div style='height: 700px'></div>"
    );
    let page = format!(
        "<!doctype html><title>Landing</title><iframe src=/inside width=500 height=250 style='margin: 60px'></iframe>{LOG}
        <script>onmessage = (event) => say(event.data)</script>"
    );
    let pages = [("landing.test/", &*page), ("landing.test/inside", &*inside)];
    let mut bench = Bench::open(Dialect::BrowserGym, &pages).await;
    bench.act("hover('{Remove Ada}')").await;
    bench.act("click('{Remove Eve}')").await;
    bench.act("click('{Remove Ben}', button='right')").await;
    assert_eq!(bench.said().await, ["click Eve", "menu Ben"]);
}

#[tokio::test]
async fn a_field_and_a_file_that_shift_are_reached() {
    let page = "<style>#top { height: 40px; background: tan } #top:hover { height: 120px } label, input { display: block; height: 30px }</style>
        <div id=top role=group aria-label=Top>Top</div>
        <input type=file aria-label=First onchange='say(`first ${files[0].name}`)'><input type=file aria-label=Second onchange='say(`second ${files[0].name}`)'>
        <input type=checkbox aria-label=One onchange='say(`one`)'><input type=checkbox aria-label=Two onchange='say(`two`)'>
        <input type=checkbox aria-label=Three onchange='say(`three`)'>";
    for (action, expected) in [
        ("upload_file('{First}', 'mod.rs')", "first mod.rs"),
        ("check('{One}')", "one"),
        ("check('{Two}')", "two"),
    ] {
        let mut bench = open(page).await;
        bench.act("hover('{Top}')").await;
        bench.act(action).await;
        assert_eq!(bench.said().await, [expected], "{action}");
    }
}

#[tokio::test]
async fn what_is_covered_once_the_mouse_comes_is_not_pressed() {
    let page = "<style>#card { position: relative; width: 200px; height: 80px } #veil { display: none; position: absolute; inset: 0; background: tan }
        #card:hover #veil { display: block }</style>
        <div id=card><button onclick='say(`bought`)'>Buy</button><div id=veil onclick='say(`veil`)'>More</div></div>";
    let mut bench = open(page).await;
    let covered = bench.try_to("click('{Buy}')").await.unwrap_err();
    assert!(covered.contains(r#"<div id="veil">"#), "{covered}");
    assert_eq!(bench.said().await, [""; 0]);
    // That is what the hover leads to.
    bench.act("mouse_move(600, 400)").await;
    bench.act("hover('{Buy}')").await;
}

#[tokio::test]
async fn what_runs_from_the_mouse_is_given_up_and_nothing_else_is_pressed() {
    let page = "<style>button { position: absolute; width: 100px; height: 30px; left: 20px } #other { top: 20px } #shy { top: 20px }</style>
        <button id=other onclick='say(`other`)'>Other</button><button id=shy onclick='say(`shy`)'>Shy</button>
        <script>let n = 0; shy.onmousemove = () => { shy.style.left = `${20 + 30 * (++n % 9)}px`; shy.style.top = `${20 + 70 * (n % 3)}px`; };</script>";
    let mut bench = open(page).await;
    let error = bench.try_to("click('{Shy}', modifiers=['Shift'])").await;
    let error = match error {
        Ok(()) => panic!("{:?}", bench.said().await),
        Err(error) => error,
    };
    assert!(error.contains("it does not stay where it is"), "{error}");
    assert_eq!(bench.said().await, [""; 0]);
    // No key is left down, and no button.
    bench.act("mouse_click(70, 35)").await;
    assert_eq!(bench.said().await.len(), 1);
}

#[tokio::test]
async fn the_second_click_of_two_presses_nothing_else() {
    let page = "<div id=bar hidden style='height: 40px'>Selected</div>
        <script>for (const name of ['One', 'Two', 'Three']) document.write(`<button style='display: block; height: 40px'
        onclick='say(\"${name}\"); bar.hidden = false'>${name}</button>`)</script>
        <p><button id=edit onclick='if (event.detail === 1) outerHTML = `<input aria-label=Edited ondblclick=say(1) onclick=say(2)>`'>Edit</button>";
    let mut bench = open(page).await;
    let error = bench.try_to("dblclick('{Two}')").await.unwrap_err();
    assert!(error.contains("it does not stay where it is"), "{error}");
    assert_eq!(bench.said().await, ["Two"]);
    bench.act("dblclick('{Edit}')").await;
    assert!(bench.said().await.contains(&"2".to_owned()), "what replaces it gets the second click");
}

/// Buttons, fields and labels around what a page puts into their slots.
const COMPONENTS: &str = "<script>
    const component = (name, mode, html, wire) => customElements.define(name, class extends HTMLElement {
        connectedCallback() {
            const root = this.attachShadow({ mode });
            root.innerHTML = html;
            root.querySelector('button')?.addEventListener('click', () => dispatchEvent(new CustomEvent('told', { detail: this.id })));
        }
    });
    addEventListener('told', (event) => say(event.detail));
    const button = '<button style=\"padding: 8px 30px\"><slot></slot></button>';
    component('open-button', 'open', button);
    component('closed-button', 'closed', button);
    component('outer-button', 'closed', '<div><closed-button id=inner><slot></slot></closed-button></div>');
    component('named-button', 'closed', '<button><slot name=icon></slot><b><slot></slot></b></button>');
    component('tick-field', 'closed', '<label style=\"display: block; padding: 10px\"><slot></slot><i>?</i></label>');
    component('bare-button', 'closed', '<button style=\"width: 120px; height: 40px\"></button><slot></slot>');
    </script>
    <p><open-button id=a>Alpha text</open-button> <open-button id=b><span>Beta</span></open-button>
    <p><closed-button id=c>Gamma text</closed-button> <closed-button id=d><em>Delta</em></closed-button>
    <p><outer-button id=e>Epsilon text</outer-button> <outer-button id=f><u>Zeta</u></outer-button>
    <p><named-button id=g><svg slot=icon width=20 height=20><rect width=20 height=20 /></svg><span>Eta</span></named-button>
    <p><tick-field><input type=checkbox aria-label=News onchange='say(`news ${checked}`)'><span>by mail</span></tick-field>
    <p><closed-button id=h><span><b>Theta</b></span></closed-button>";

#[tokio::test]
async fn what_is_in_slots_of_any_root_belongs_to_what_shows_it() {
    let mut bench = open(COMPONENTS).await;
    for (name, expected) in [
        ("Alpha text", "a"),
        ("Beta", "b"),
        ("Gamma text", "c"),
        ("Delta", "d"),
        ("Epsilon text", "inner"),
        ("Zeta", "inner"),
        ("Eta", "g"),
        ("Theta", "h"),
    ] {
        bench.act(&format!("click('{{{name}}}')")).await;
        assert_eq!(bench.said().await, [expected], "{name}");
    }
    bench.act("check('{News}')").await;
    assert_eq!(bench.said().await, ["news true"]);
}

#[tokio::test]
async fn what_lies_over_a_part_of_a_component_is_in_front_of_it() {
    let page = "<script>
        customElements.define('price-tag', class extends HTMLElement {
            connectedCallback() {
                const root = this.attachShadow({ mode: 'closed' });
                root.innerHTML = `<div style='position: relative; width: 160px'><button style='width: 160px; height: 40px' aria-label=Pay></button>
                    <div style='position: absolute; inset: 0'><slot></slot></div></div>`;
                root.querySelector('button').onclick = () => say('paid');
            }
        });</script><price-tag><div id=over style='height: 40px' onclick='say(`over`)'>Sold out</div></price-tag>
        <price-tag>Sold out Sold out Sold out Sold out</price-tag>";
    let mut bench = open(page).await;
    let seen = bench.session.observe().await.unwrap();
    let pays: Vec<_> = seen.elements.iter().filter(|element| element.name == "Pay").collect();
    assert_eq!(pays.len(), 2, "{}", seen.axtree);
    for pay in pays {
        let covered = bench.try_to(&format!("click('{}')", pay.bid)).await.unwrap_err();
        assert!(covered.contains("in front of it"), "{covered}");
    }
    assert_eq!(bench.said().await, [""; 0]);
}

/// Cards that follow the pointer frame by frame.
const CARDS: &str = "<style>div.card { width: 120px; height: 40px; margin: 10px; border: 1px solid; user-select: none }</style>
    <div class=card id=card role=group aria-label=Card>card</div><div class=card role=group aria-label=Left id=left>left</div>
    <div class=card role=group aria-label=Right id=right>right</div><script>
    let dragging = false, at = null, places = [];
    const look = () => {
        if (!dragging) return;
        const under = at && document.elementFromPoint(...at)?.closest('.card')?.id;
        if (under && under !== places.at(-1)) places.push(under);
        requestAnimationFrame(look);
    };
    card.onpointerdown = (event) => { dragging = true; at = [event.clientX, event.clientY]; places = []; requestAnimationFrame(look); };
    addEventListener('pointermove', (event) => { if (dragging) requestAnimationFrame(() => { at = [event.clientX, event.clientY]; }); });
    addEventListener('pointerup', () => { if (dragging) say(places.join(' ')); dragging = false; });</script>";

#[tokio::test]
async fn a_page_that_looks_at_the_pointer_once_a_frame_sees_each_part_of_a_drag() {
    let mut bench = open(CARDS).await;
    bench.act("drag_and_drop('{Card}', '{Right}')").await;
    assert_eq!(bench.said().await, ["card right"]);
    let seen = bench.session.observe().await.unwrap();
    let centre = |name: &str| {
        let [x, y, width, height] =
            seen.boxes[&seen.find("group", name).unwrap().bid].map(f64::from);
        (x + width / 2.0, y + height / 2.0)
    };
    let (card, left) = (centre("Card"), centre("Left"));
    bench
        .act(&format!("mouse_drag_and_drop({}, {}, {}, {})", card.0, card.1, left.0, left.1))
        .await;
    assert_eq!(bench.said().await, ["card left"]);
    // Over three moves.
    let right = centre("Right");
    for action in [
        format!("mouse_down({}, {})", card.0, card.1),
        format!("mouse_move({}, {})", left.0, left.1),
        format!("mouse_move({}, {})", right.0, right.1),
        format!("mouse_move({}, {})", left.0, left.1),
        format!("mouse_up({}, {})", left.0, left.1),
    ] {
        bench.act(&action).await;
    }
    assert_eq!(bench.said().await, ["card left right left"]);
}

#[tokio::test]
async fn a_drag_of_the_browser_that_begins_in_a_timer_is_dropped() {
    let page = "<div draggable=true id=card role=group aria-label=Card>card</div>
        <div id=bin role=group aria-label=Bin style='width: 100px; height: 50px; background: tan'>bin</div><script>
        let ready = false, over = 0;
        card.ondragstart = (event) => { event.dataTransfer.setData('text/plain', 'card'); setTimeout(() => { ready = true; }); };
        bin.ondragenter = (event) => { if (ready) requestAnimationFrame(() => { over = 1; }); };
        bin.ondragover = (event) => { event.preventDefault(); if (over === 1) requestAnimationFrame(() => { over = 2; }); };
        bin.ondrop = (event) => { event.preventDefault(); say(`${event.dataTransfer.getData('text/plain')} ${over}`); };
        card.ondragend = () => say('end');</script>";
    let mut bench = open(page).await;
    bench.act("drag_and_drop('{Card}', '{Bin}')").await;
    assert!(bench.said().await.contains(&"card 2".to_owned()));
    // A card that moves when the mouse comes is grabbed where it is.
    let shifting = format!(
        "<style>#top {{ height: 30px }} #top:hover {{ height: 150px }}</style><div id=top role=group aria-label=Top>top</div>{CARDS}"
    );
    let mut bench = open(&shifting).await;
    bench.act("hover('{Top}')").await;
    bench.act("drag_and_drop('{Card}', '{Right}')").await;
    assert_eq!(bench.said().await, ["card right"]);
}

#[tokio::test]
async fn what_received_an_action_is_known() {
    let page = "<button id=save onclick='say(1)'><b>Save</b> all</button><input id=name aria-label=Name placeholder=Anyone>
        <label>Agree <input type=checkbox style='opacity: 0; position: absolute; pointer-events: none'></label>
        <iframe srcdoc='<button id=deep>Deep</button>' width=300 height=100></iframe>
        <div id=top style='height: 30px' onmouseenter='style.height = `90px`' role=group aria-label=Top>top</div>
        <form id=form aria-label=Form style='height: 40px'><input type=hidden name=id><input type=hidden name=labels>
        <input type=hidden name=textContent></form>";
    let mut bench = open(page).await;
    bench.act("mouse_move(1000, 700)").await;
    let seen = bench.session.observe().await.unwrap();
    let [x, y, width, height] =
        seen.boxes[&seen.find("button", "Save all").unwrap().bid].map(f64::from);
    let (x, y) = (x + width - 4.0, y + height / 2.0);
    for (action, expected) in [
        ("click('{Save all}')", r#"<b> "Save""#),
        (&format!("mouse_click({x}, {y})"), r#"<button id="save"> "Save all""#),
        (&format!("mouse_down({x}, {y})"), r#"<button id="save"> "Save all""#),
        (&format!("mouse_up({x}, {y})"), r#"<button id="save"> "Save all""#),
        ("fill('{Name}', 'secret')", r#"<input id="name"> "Name""#),
        ("keyboard_type('x')", r#"<input id="name"> "Name""#),
        ("check('{Agree}')", r#"<label> "Agree""#),
        ("click('{Deep}')", r#"<button id="deep"> "Deep""#),
        ("keyboard_press('Tab')", r#"<button id="deep"> "Deep""#),
        ("click('{Form}')", r#"<form id="form"> "Form""#),
        ("hover('{Top}')", r#"<div id="top"> "Top""#),
    ] {
        bench.act(action).await;
        assert_eq!(bench.session.receiver(), Some(expected), "{action}");
    }
    bench.act("noop()").await;
    assert_eq!(bench.session.receiver(), None);
    assert!(bench.try_to("click('{Nobody}')").await.is_err());
    assert_eq!(bench.session.receiver(), None);
}

#[test]
fn all_that_is_so_in_chromium_too() {
    crate::bench::again_in_chromium("landing", &["all_that_is_so_in_chromium_too"]);
}
