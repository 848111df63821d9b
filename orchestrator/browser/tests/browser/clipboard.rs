//! The clipboard's content stays within an episode.

use actions::Dialect;

use crate::bench::{Bench, LOG};

#[tokio::test]
async fn what_a_page_has_copied_is_gone_with_its_episode() {
    let page = format!(
        "<input aria-label=Words oninput='say(`now ${{value}}`)' onpaste='say(`pasted`)'>{LOG}"
    );
    let mut bench = Bench::open(Dialect::BrowserGym, &[("copy.test/", &page)]).await;
    bench.act("fill('{Words}', 'secret')").await;
    bench.act("press('{Words}', 'Control+a')").await;
    bench.act("keyboard_press('Control+c')").await;
    bench.act("press('{Words}', 'End')").await;
    bench.act("keyboard_press('Control+v')").await;
    assert_eq!(bench.said().await, ["now secret", "pasted", "now secretsecret"]);
    bench.session.reset(Some(crate::bench::world())).await.unwrap();
    bench.heard = 0;
    bench.act("goto('http://copy.test/')").await;
    bench.act("press('{Words}', 'Control+v')").await;
    assert_eq!(bench.said().await, ["pasted", "now "], "nothing is left to paste");
}

#[tokio::test]
async fn a_middle_click_pastes_nothing_of_another_episode() {
    let page = format!(
        "<input aria-label=Words oninput='say(`now ${{value}}`)' onpaste='say(`pasted`)'>{LOG}"
    );
    let mut bench = Bench::open(Dialect::BrowserGym, &[("copy.test/", &page)]).await;
    bench.act("fill('{Words}', 'secret')").await;
    bench.act("dblclick('{Words}')").await;
    bench.session.reset(Some(crate::bench::world())).await.unwrap();
    bench.heard = 0;
    bench.act("goto('http://copy.test/')").await;
    bench.act("click('{Words}', button='middle')").await;
    assert_eq!(bench.said().await, [""; 0]);
}
