//! Images of submissions, drawn from their names: `mountains-<16 hex digits>.svg` is always the
//! same picture.

use std::fmt::Write;

use crate::dice::{Dice, seed_of};

const WIDTH: i64 = 640;
const HEIGHT: i64 = 480;

/// Skies from dawn to night: top and bottom colour.
const SKIES: [(&str, &str); 6] = [
    ("#4a78b0", "#f6d9b8"),
    ("#2b3a67", "#e8896b"),
    ("#6fa8dc", "#e9f3fb"),
    ("#1d2b53", "#7e6a9e"),
    ("#93b7c9", "#fbeee0"),
    ("#3d5a80", "#ee6c4d"),
];

/// The image of this name. `None` if the name is not valid.
pub(super) fn draw(name: &str) -> Option<String> {
    let (scene, digits) = name.strip_suffix(".svg")?.split_once('-')?;
    if digits.len() != 16 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let paint: fn(&mut Dice, &mut String) = match scene {
        "mountains" => mountains,
        "sea" => sea,
        "stars" => stars,
        "city" => city,
        "garden" => garden,
        "shelf" => shelf,
        "blocks" => blocks,
        "still" => still,
        "pet" => pet,
        _ => return None,
    };
    let mut dice = Dice::new(seed_of(name));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\">"
    );
    paint(&mut dice, &mut svg);
    svg.push_str("</svg>");
    Some(svg)
}

fn add(svg: &mut String, part: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = svg.write_fmt(part);
}

fn backdrop(svg: &mut String, (top, bottom): (&str, &str)) {
    add(
        svg,
        format_args!(
            "<defs><linearGradient id=\"s\" x2=\"0\" y2=\"1\"><stop stop-color=\"{top}\"/><stop offset=\"1\" stop-color=\"{bottom}\"/></linearGradient></defs><rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"url(#s)\"/>"
        ),
    );
}

fn disc(svg: &mut String, x: i64, y: i64, r: i64, fill: &str) {
    add(svg, format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\"/>"));
}

fn block(svg: &mut String, x: i64, y: i64, width: i64, height: i64, fill: &str) {
    add(
        svg,
        format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"
        ),
    );
}

fn sun(dice: &mut Dice, svg: &mut String) {
    let (x, y, r) = (dice.between(90, 550), dice.between(60, 190), dice.between(18, 42));
    disc(svg, x, y, r, dice.pick(&["#fff4d6", "#ffe0a3", "#fdf6ec"]));
}

/// A jagged line across the image, filled down to the lower edge.
fn ridge(dice: &mut Dice, svg: &mut String, base: i64, rough: i64, step: i64, fill: &str) {
    let mut points = format!("0,{HEIGHT} 0,{}", base + dice.between(-rough, rough));
    let mut x = 0;
    while x < WIDTH {
        x = (x + dice.between(step / 2, step)).min(WIDTH);
        let _ = write!(points, " {x},{}", base + dice.between(-rough, rough));
    }
    add(svg, format_args!("<polygon points=\"{points} {WIDTH},{HEIGHT}\" fill=\"{fill}\"/>"));
}

fn mountains(dice: &mut Dice, svg: &mut String) {
    backdrop(svg, dice.pick(&SKIES));
    sun(dice, svg);
    for (base, rough, step, fill) in [
        (240, 80, 120, "#7f93ab"),
        (300, 60, 100, "#5a7188"),
        (360, 40, 80, "#3c5262"),
        (420, 20, 60, "#24363b"),
    ] {
        ridge(dice, svg, base, rough, step, fill);
    }
}

fn sea(dice: &mut Dice, svg: &mut String) {
    backdrop(svg, dice.pick(&SKIES));
    sun(dice, svg);
    block(svg, 0, 290, WIDTH, 190, dice.pick(&["#2f5d7c", "#26506b", "#4a7c8c"]));
    for _ in 0..60 {
        let (x, y) = (dice.between(0, WIDTH), dice.between(300, 470));
        block(svg, x, y, 10 + (y - 290) / 3, 2, "#ffffff40");
    }
    let x = dice.between(120, 500);
    add(
        svg,
        format_args!(
            "<path d=\"M{x} 300l60 0l-12 16l-38 0z\" fill=\"#3b2a20\"/><path d=\"M{} 298l0 -70l34 62z\" fill=\"#f4efe6\"/>",
            x + 28
        ),
    );
    ridge(dice, svg, 455, 14, 70, "#2e2b28");
}

fn stars(dice: &mut Dice, svg: &mut String) {
    backdrop(svg, ("#060a1c", "#1c2748"));
    for _ in 0..220 {
        let (x, y, r) = (dice.between(0, WIDTH), dice.between(0, 400), dice.between(1, 2));
        disc(svg, x, y, r, dice.pick(&["#ffffff", "#cfe0ff", "#ffe9c9", "#ffffff80"]));
    }
    let (x, y, r) = (dice.between(180, 460), dice.between(120, 250), dice.between(30, 80));
    let colour = dice.pick(&["#d9a066", "#b9c4d6", "#c96f4a", "#8fb3c9"]);
    disc(svg, x, y, r, colour);
    disc(svg, x + r / 4, y - r / 4, r / 6, "#00000022");
    if dice.chance(40) {
        add(
            svg,
            format_args!(
                "<ellipse cx=\"{x}\" cy=\"{y}\" rx=\"{}\" ry=\"{}\" fill=\"none\" stroke=\"#e7d3b1\" stroke-width=\"6\" transform=\"rotate(-18 {x} {y})\"/>",
                r * 2,
                r / 3
            ),
        );
    }
    ridge(dice, svg, 430, 18, 60, "#05070f");
}

fn city(dice: &mut Dice, svg: &mut String) {
    backdrop(svg, dice.pick(&SKIES));
    sun(dice, svg);
    for (low, high, fill) in [(180, 300, "#6b7f96"), (90, 220, "#2d3b4d")] {
        let mut x = -10;
        while x < WIDTH {
            let (width, height) = (dice.between(36, 84), dice.between(low, high));
            block(svg, x, HEIGHT - height, width, height, fill);
            for window in 0..height / 26 {
                if dice.chance(60) {
                    let across = dice.between(6, width - 14);
                    block(svg, x + across, HEIGHT - height + 10 + window * 26, 8, 12, "#ffdf8f");
                }
            }
            x += width + dice.between(0, 8);
        }
    }
}

fn garden(dice: &mut Dice, svg: &mut String) {
    backdrop(svg, ("#bfe0f2", "#f3f7e4"));
    ridge(dice, svg, 330, 16, 90, "#5d8a4a");
    for _ in 0..34 {
        let (x, y, r) = (dice.between(20, 620), dice.between(210, 420), dice.between(10, 22));
        block(svg, x - 1, y, 3, HEIGHT - y, "#3f6b35");
        let colour = dice.pick(&["#d9483b", "#f2b134", "#b65fa5", "#ef8f6b", "#f7f1d4"]);
        for (dx, dy) in [(0, -1), (1, 0), (0, 1), (-1, 0)] {
            disc(svg, x + dx * r / 2, y + dy * r / 2, r / 2, colour);
        }
        disc(svg, x, y, r / 3, "#7a4a12");
    }
}

fn shelf(dice: &mut Dice, svg: &mut String) {
    block(svg, 0, 0, WIDTH, HEIGHT, "#e9dfcf");
    for row in 0..3 {
        let floor = 150 + row * 155;
        let mut x = 20;
        while x < 600 {
            let (width, height) = (dice.between(14, 36), dice.between(84, 128));
            let colour = dice.pick(&[
                "#7b2d26", "#2f4858", "#86663a", "#33658a", "#5b7553", "#d8a657", "#4a3f55",
            ]);
            block(svg, x, floor - height, width, height, colour);
            block(svg, x + 3, floor - height + 14, width - 6, 4, "#f3e9d2");
            x += width + dice.between(1, 4);
        }
        block(svg, 0, floor, WIDTH, 14, "#8a6642");
    }
}

fn blocks(dice: &mut Dice, svg: &mut String) {
    block(svg, 0, 0, WIDTH, HEIGHT, "#151a2b");
    for column in 0..20 {
        for row in (15 - dice.between(2, 11))..15 {
            let colour = dice.pick(&["#3ddc97", "#46b1c9", "#f9c74f", "#f94144", "#9d4edd"]);
            block(svg, column * 32 + 2, row * 32 + 2, 28, 28, colour);
        }
    }
    disc(svg, dice.between(60, 580), dice.between(40, 120), 14, "#ffffff");
}

fn still(dice: &mut Dice, svg: &mut String) {
    backdrop(svg, ("#d8d2c4", "#f2ede2"));
    block(svg, 0, 340, WIDTH, 140, dice.pick(&["#9c7a52", "#7d8f69", "#b08968"]));
    for _ in 0..5 {
        let (x, width, height) =
            (dice.between(40, 520), dice.between(50, 110), dice.between(70, 190));
        let colour = dice.pick(&["#c8553d", "#588b8b", "#f28f3b", "#2d3047", "#e0e0d5"]);
        add(
            svg,
            format_args!(
                "<rect x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"{height}\" rx=\"14\" fill=\"{colour}\"/>",
                400 - height
            ),
        );
        block(svg, x + width / 4, 392 - height, width / 2, 10, "#3b3530");
    }
}

fn pet(dice: &mut Dice, svg: &mut String) {
    backdrop(svg, ("#f3e6d8", "#d9c3ab"));
    let fur = dice.pick(&["#8d6e63", "#4e4a46", "#d8a15d", "#b0aaa3", "#efe7dc"]);
    let (x, y) = (dice.between(250, 390), dice.between(210, 240));
    add(
        svg,
        format_args!(
            "<ellipse cx=\"{x}\" cy=\"{}\" rx=\"150\" ry=\"130\" fill=\"{fur}\"/>",
            y + 180
        ),
    );
    for side in [-1, 1] {
        let tip = x + side * 84;
        add(
            svg,
            format_args!(
                "<path d=\"M{} {}L{tip} {}L{} {}z\" fill=\"{fur}\"/>",
                x + side * 20,
                y - 70,
                y - 130,
                x + side * 90,
                y - 10
            ),
        );
    }
    disc(svg, x, y, 96, fur);
    for side in [-1, 1] {
        disc(svg, x + side * 36, y - 10, 15, "#fdfbf2");
        disc(svg, x + side * 36 + 3, y - 8, 8, "#1f1a17");
    }
    add(svg, format_args!("<path d=\"M{} {}l24 0l-12 14z\" fill=\"#c46a6a\"/>", x - 12, y + 22));
}

#[cfg(test)]
mod tests {
    use super::draw;

    #[test]
    fn a_name_is_always_the_same_picture() {
        for scene in
            ["mountains", "sea", "stars", "city", "garden", "shelf", "blocks", "still", "pet"]
        {
            let [one, same, other] = ["0000000000000001", "0000000000000001", "0000000000000002"]
                .map(|digits| draw(&format!("{scene}-{digits}.svg")).unwrap());
            assert_eq!(one, same);
            assert_ne!(one, other);
        }
        for foreign in [
            "",
            "x",
            "sea.svg",
            "sea-1.svg",
            "moon-0000000000000001.svg",
            "sea-000000000000000g.svg",
        ] {
            assert!(draw(foreign).is_none(), "{foreign}");
        }
    }
}
