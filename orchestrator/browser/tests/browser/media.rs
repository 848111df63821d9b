//! Media elements and audio contexts have the page's time, however busy the machine is.

use actions::Dialect;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::bench::{Bench, LOG};

/// Three seconds, four frames a second, a key frame each second.
const FILM: &[u8] = include_bytes!("../../../../tests/still/film.webm");
/// Reports the events of `film`, with the positions, and with the page's time since the script
/// began.
const TELL: &str = "
    const begin = Date.now(), tell = (film, of = '') => {
        let half = 0;
        const now = () => `${film.currentTime.toFixed(1)} ${((Date.now() - begin) / 1000).toFixed(1)}`;
        for (const kind of ['loadeddata', 'canplay', 'play', 'playing', 'pause', 'seeking', 'seeked',
            'waiting', 'ended', 'ratechange'])
            film.addEventListener(kind, () => say(`${of}${kind} ${now()}`));
        film.addEventListener('timeupdate', () => {
            if (half < (half = Math.floor(film.currentTime * 2))) say(`${of}at ${now()}`);
        });
    };";

/// A page with this body and script, in which `FILM` is the film's URL.
async fn open(body: &str, script: &str) -> Bench {
    let film = format!("data:video/webm;base64,{}", STANDARD.encode(FILM));
    let page =
        format!("<!doctype html><title>Films</title>{body}{LOG}<script>{TELL}{script}</script>");
    let page = page.replace("FILM", &film);
    // As in a secure context.
    Bench::open(Dialect::BrowserGym, &[("localhost/", &page)]).await
}

/// The report of such a page.
async fn said(body: &str, script: &str) -> Vec<String> {
    let mut bench = open(body, script).await;
    let said = bench.said().await;
    bench.session.close().await.unwrap();
    said
}

#[tokio::test]
async fn a_film_plays_in_the_pages_time_and_ends() {
    let expected = [
        "loadeddata 0.0 0.0",
        "canplay 0.0 0.0",
        "play 0.0 0.0",
        "playing 0.0 0.0",
        "at 0.5 0.5",
        "at 1.0 1.0",
        "at 1.5 1.5",
        "at 2.0 2.0",
        "at 2.5 2.5",
        "at 3.0 3.0",
        "pause 3.0 3.0",
        "ended 3.0 3.0",
        "75 frames of 3 s, true true",
    ];
    let script = "
        const film = document.querySelector('video');
        tell(film);
        film.onended = () => {
            const { totalVideoFrames } = film.getVideoPlaybackQuality();
            say(`${totalVideoFrames} frames of ${film.duration} s, ${film.ended} ${film.paused}`);
        };";
    assert_eq!(said("<video muted autoplay src='FILM'></video>", script).await, expected);
}

#[tokio::test]
async fn a_page_moves_a_film_and_changes_its_rate() {
    let script = "
        const film = document.createElement('video');
        film.muted = true;
        tell(film);
        film.src = 'FILM';
        film.onloadeddata = async () => {
            film.playbackRate = 2;
            film.currentTime = 2;
            await film.play();
            say(`rate ${film.playbackRate} ${film.seeking}`);
        };";
    let said = said("", script).await.join("\n");
    insta::assert_snapshot!(said);
}

#[tokio::test]
async fn a_film_that_plays_again_and_again_has_its_pictures() {
    let script = "
        const film = document.querySelector('video'), canvas = new OffscreenCanvas(1, 1).getContext('2d');
        let last = '', times = 0;
        film.ontimeupdate = () => {
            canvas.drawImage(film, 0, 0, 1, 1);
            const colour = [...canvas.getImageData(0, 0, 1, 1).data].map(part => part >> 6).join('');
            if (colour !== last && ++times < 6) say(`${film.currentTime.toFixed(1)} ${last = colour}`);
        };";
    let said = said("<video muted autoplay loop src='FILM'></video>", script).await;
    let times: Vec<&str> = said.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(times, ["0.2", "1.2", "2.2", "0.2", "1.2"], "{said:?}");
}

#[tokio::test]
async fn what_a_script_appends_plays_as_far_as_it_reaches() {
    let script = "
        const film = document.querySelector('video'), source = new MediaSource();
        tell(film);
        film.src = URL.createObjectURL(source);
        source.onsourceopen = async () => {
            const buffer = source.addSourceBuffer('video/webm; codecs=\"vp8\"');
            const all = await (await fetch('FILM')).arrayBuffer();
            buffer.onupdateend = () => {
                say(`appended ${buffer.buffered.length && buffer.buffered.end(0)}`);
                if (buffer.buffered.length && buffer.buffered.end(0) === 3) source.endOfStream();
                else setTimeout(() => buffer.appendBuffer(all.slice(700)), 2000);
            };
            buffer.appendBuffer(all.slice(0, 700));
        };";
    let said = said("<video muted autoplay></video>", script).await.join("\n");
    insta::assert_snapshot!(said);
}

/// The last setting of a listener counts.
#[tokio::test]
async fn a_page_may_seek_in_any_listener() {
    let script = "
        const [part, again] = document.querySelectorAll('video');
        let times = 0, ends = 0;
        part.ontimeupdate = () => {
            if (part.currentTime >= 1.5) {
                part.currentTime = .5;
                if (++times === 3) { part.pause(); say(`three times, ${played(part)}`); }
            }
        };
        const played = ({ played }) => [...Array(played.length).keys()]
            .map(at => `${played.start(at).toFixed(1)} to ${played.end(at).toFixed(1)}`).join();
        again.onended = () => {
            say(`end ${++ends} ${again.ended} ${played(again)}`);
            if (ends === 1) { again.currentTime = 2; say(again.ended); again.play(); }
            if (ends === 2) again.currentTime = 0;
        };
        let all = '';
        const note = ({ type, target }) => { if (target === again) all += `${type} `; };
        for (const kind of ['play', 'pause']) document.addEventListener(kind, note, true);
        setTimeout(() => say(`${all}${again.currentTime} ${again.paused}`), 4800);";
    let expected = [
        "end 1 true 0.0 to 3.0",
        "false",
        "three times, 0.0 to 1.5",
        "end 2 true 0.0 to 3.0",
        "play pause play pause 0 true",
    ];
    let films = "<video muted autoplay src='FILM'></video>".repeat(2);
    assert_eq!(said(&films, script).await, expected);
}

#[tokio::test]
async fn films_take_turns() {
    let films = "<video muted autoplay src='FILM'></video>".repeat(4);
    let script =
        "[...document.querySelectorAll('video')].forEach((film, at) => tell(film, `${at} `));";
    let said = said(&films, script).await;
    let of = |at: char| {
        said.iter().filter(|line| line.starts_with(at)).map(|line| &line[2..]).collect::<Vec<_>>()
    };
    for at in ['1', '2', '3'] {
        assert_eq!(of(at), of('0'));
    }
    let order = |kind: &str| {
        said.iter()
            .filter(|line| line[2..].starts_with(kind))
            .map(|line| &line[..1])
            .collect::<String>()
    };
    for kind in ["loadeddata", "canplay", "playing", "at 1.0", "ended"] {
        assert_eq!(order(kind), "0123", "{kind}: {said:?}");
    }
}

#[tokio::test]
async fn sound_that_a_page_makes_has_its_time() {
    let script = "
        document.querySelector('button').onclick = async () => {
            const sound = new AudioContext();
            sound.onstatechange = () => say(`${sound.state} ${sound.currentTime.toFixed(1)}`);
            await sound.resume();
            const source = sound.createBufferSource();
            source.buffer = sound.createBuffer(1, 8360, 8000);
            source.onended = async event => {
                say(`ended ${sound.currentTime.toFixed(1)} ${event.target === source}`);
                source.stop();
                await sound.suspend();
                await new Promise(done => setTimeout(done, 500));
                say(`${sound.state} ${sound.currentTime.toFixed(1)} ${sound.getOutputTimestamp().contextTime.toFixed(1)}`);
                await sound.close();
            };
            source.start(sound.currentTime + .5);
        };";
    let mut bench = open("<button>Play</button>", script).await;
    bench.act("click('{Play}')").await;
    let expected =
        ["running 0.0", "ended 1.6 true", "suspended 1.6", "suspended 1.6 1.6", "closed 1.6"];
    assert_eq!(bench.said().await, expected);
    bench.session.close().await.unwrap();
}

#[test]
fn all_that_is_so_in_chromium_too() {
    crate::bench::again_in_chromium("media", &["all_that_is_so_in_chromium_too"]);
}
