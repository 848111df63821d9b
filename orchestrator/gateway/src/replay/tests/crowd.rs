//! Many large responses at the same time.

use super::*;

#[test]
fn bodies_on_their_way_share_a_budget() {
    let world = World::new();
    let body: Vec<u8> = (0..1_200_000_u32).map(|n| (n ^ (n >> 7)) as u8).collect();
    let urls: Vec<String> = (0..12).map(|n| format!("https://a.test/{n}")).collect();
    for (n, url) in urls.iter().enumerate() {
        world.get(url, 200, &[], &[&[n as u8], &body[..]].concat());
    }
    let mut client = Client::with(&world, ReplayOptions { cache: 0, ..ReplayOptions::default() });
    client.replay.bodies = Budget::new(5 * (body.len() + 1));
    let ask =
        |url: &String| client.replay.answer(&head("GET", url, &[]), &Bytes::new(), &client.episode);
    // No response is read, as with clients whose window is closed.
    let waiting: Vec<Reply> = urls.iter().map(ask).collect();
    assert!(client.replay.bodies.take(1).is_none(), "all that may be held is held");
    assert!(waiting.iter().all(|reply| reply.headers[header::CONTENT_LENGTH] == "1200001"));
    for reply in waiting {
        assert!(read(reply).body[1..] == body, "whether it was held or read as it is taken");
    }
    assert!(client.replay.bodies.take(5 * body.len()).is_some(), "all of it came back");
}
