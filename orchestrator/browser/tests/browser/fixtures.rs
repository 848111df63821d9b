//! Widgets that are hard to see or to use: each is observed and operated.

use actions::Dialect;

use crate::bench::{Bench, LOG};

/// Serves a page with a log, and the other pages that it needs.
async fn open(page: &str, others: &[(&str, &str)]) -> Bench {
    let page = format!("<!doctype html><title>Fixture</title>{page}{LOG}");
    let pages = [&[("fixture.test/", &*page)], others].concat();
    Bench::open(Dialect::BrowserGym, &pages).await
}

async fn tree(bench: &mut Bench) -> String {
    bench.session.observe().await.unwrap().axtree
}

#[tokio::test]
async fn a_modal_dialog_hides_what_is_behind_it_until_it_is_answered() {
    let page = "<button onclick='say(`behind`)'>Behind</button><button onclick='ask.showModal()'>Ask</button>
        <dialog id=ask aria-label=Sure onclose='say(`answered ${returnValue}`)'><form method=dialog>
        <button value=yes>Yes</button><button value=no>No</button></form></dialog>";
    let mut bench = open(page, &[]).await;
    let behind =
        bench.session.observe().await.unwrap().find("button", "Behind").unwrap().bid.clone();
    bench.act("click('{Ask}')").await;
    let seen = tree(&mut bench).await;
    assert!(seen.contains("dialog 'Sure', modal=True") && !seen.contains("'Behind'"), "{seen}");
    let refused = bench.try_to(&format!("click('{behind}')")).await.unwrap_err();
    assert!(refused.contains("in front of it"), "{refused}");
    bench.act("click('{Yes}')").await;
    bench.act("click('{Behind}')").await;
    assert_eq!(bench.said().await, ["answered yes", "behind"]);
}

#[tokio::test]
async fn a_canvas_is_used_by_coordinates() {
    let page = "<canvas id=board width=300 height=200 style='position: absolute; left: 400px; top: 50px'></canvas><script>
        const places = [];
        board.onpointerdown = e => board.setPointerCapture(e.pointerId);
        board.onpointermove = e => { if (e.buttons) places.push([e.offsetX, e.offsetY]); };
        board.onpointerup = e => say(`line to ${e.offsetX},${e.offsetY} by way of ${places.length > 0}`);
        board.onclick = e => say(`dot ${e.offsetX},${e.offsetY}`);</script>";
    let mut bench = open(page, &[]).await;
    bench.act("mouse_click(450, 100)").await;
    bench.act("mouse_drag_and_drop(410, 60, 600, 200)").await;
    let said = bench.said().await;
    assert_eq!(
        said[..3],
        ["line to 50,50 by way of false", "dot 50,50", "line to 200,150 by way of true"]
    );
}

#[tokio::test]
async fn editable_text_is_replaced_and_typed_into() {
    let page =
        "<div contenteditable role=textbox aria-label=Letter oninput='say(textContent)'>Dear <b>Ann</b></div>
        <p contenteditable=plaintext-only aria-label=Plain role=textbox oninput='say(innerHTML)'></p>";
    let mut bench = open(page, &[]).await;
    bench.act("fill('{Letter}', 'Hello')").await;
    bench.act("press('{Letter}', 'End')").await;
    bench.act("keyboard_type('!')").await;
    bench.act("fill('{Plain}', '<i>')").await;
    let said = bench.said().await;
    assert_eq!([&said[said.len() - 2], &said[said.len() - 1]], ["Hello!", "&lt;i&gt;"]);
}

#[tokio::test]
async fn suggestions_come_by_typing_and_are_chosen() {
    let page = "<input id=city role=combobox aria-label=City aria-controls=list autocomplete=off>
        <ul id=list role=listbox></ul><script>
        const cities = ['Berlin', 'Bern', 'Bonn'];
        let typing;
        city.addEventListener('keyup', () => {
            clearTimeout(typing);
            typing = setTimeout(() => {
                list.replaceChildren(...cities.filter(c => c.startsWith(city.value)).map(c => {
                    const option = Object.assign(document.createElement('li'), { role: 'option', textContent: c });
                    option.onmousedown = e => { e.preventDefault(); city.value = c; list.replaceChildren(); say(`chosen ${c}`); };
                    return option;
                }));
            }, 300);
        });</script>";
    let mut bench = open(page, &[]).await;
    bench.act("fill('{City}', 'Ber', enable_autocomplete_menu=True)").await;
    let seen = tree(&mut bench).await;
    assert!(seen.contains("option 'Berlin'") && !seen.contains("option 'Bonn'"), "{seen}");
    bench.act("click('{Bern}')").await;
    assert_eq!(bench.said().await, ["chosen Bern"]);
}

#[tokio::test]
async fn a_checkbox_under_its_own_label_is_ticked_and_one_under_a_banner_is_not() {
    let page = "<style>label { position: relative; display: block; width: 200px; height: 24px } label input { opacity: 0; position: absolute }
        label span { position: absolute; inset: 0; background: white } #banner { position: fixed; inset: 100px 0 0 0; background: tan }</style>
        <label><input type=checkbox aria-label=News onchange='say(`news ${checked}`)'><span>News by mail</span></label>
        <p style='margin-top: 200px'><input type=checkbox aria-label=Terms onchange='say(`terms ${checked}`)'></p>
        <div id=banner><button onclick='banner.remove()'>Dismiss</button></div>";
    let mut bench = open(page, &[]).await;
    bench.act("check('{News}')").await;
    let covered = bench.try_to("check('{Terms}')").await.unwrap_err();
    assert!(covered.contains(r#"<div id="banner"> is in front of it"#), "{covered}");
    bench.act("click('{Dismiss}')").await;
    bench.act("check('{Terms}')").await;
    assert_eq!(bench.said().await, ["news true", "terms true"]);
}

#[tokio::test]
async fn a_very_long_page_is_seen_whole_and_used_at_its_end() {
    let page = "<script>for (let n = 0; n < 4000; n++) document.write(`<p>Line ${n} <button onclick='say(${n})'>Take ${n}</button></p>`);</script>";
    let mut bench = open(page, &[]).await;
    let seen = bench.session.observe().await.unwrap();
    assert!(seen.find("button", "Take 0").is_some() && seen.find("button", "Take 3999").is_some());
    bench.act("click('{Take 3999}')").await;
    bench.act("click('{Take 7}')").await;
    assert_eq!(bench.said().await, ["3999", "7"]);
}

#[tokio::test]
async fn text_from_right_to_left_is_read_and_written() {
    let page =
        "<div dir=rtl lang=ar><h1>مرحبا بالعالم</h1><input aria-label='الاسم' oninput='say(value)'>
        <button onclick='say(`تم`)'>إرسال</button></div>";
    let mut bench = open(page, &[]).await;
    assert!(tree(&mut bench).await.contains("heading 'مرحبا بالعالم'"));
    bench.act("fill('{الاسم}', 'ليلى 12')").await;
    bench.act("press('{الاسم}', 'Home')").await;
    bench.act("keyboard_type('أ')").await;
    bench.act("click('{إرسال}')").await;
    let said = bench.said().await;
    assert_eq!(said[said.len() - 2..], ["أليلى 12", "تم"]);
}

#[tokio::test]
async fn frames_in_frames_of_other_hosts_are_seen_and_used() {
    let page = "<iframe src=http://second.test/ width=600 height=400></iframe><script>onmessage = e => say(e.data)</script>";
    let second = "<p>Second</p><iframe src=http://third.test/ width=500 height=300></iframe>
        <script>onmessage = e => parent.postMessage(`second heard ${e.data}`, '*')</script>";
    let third = "<div style='height: 900px'>Third</div><button onclick=\"parent.postMessage('press', '*')\">Deep</button>
        <input aria-label=Depth oninput=\"parent.postMessage(this.value, '*')\">";
    let mut bench = open(page, &[("second.test/", second), ("third.test/", third)]).await;
    let deep = bench.session.observe().await.unwrap().find("button", "Deep").unwrap().bid.clone();
    assert!(deep.starts_with("aa"), "{deep}");
    bench.act("click('{Deep}')").await;
    bench.act("fill('{Depth}', 'three')").await;
    assert_eq!(bench.said().await, ["second heard press", "second heard three"]);
}
