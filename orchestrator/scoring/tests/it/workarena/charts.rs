//! Values and labels that are read off charts.

use super::*;

fn charts() -> Value {
    let point = |category: &str, name: &str, original: &str, count: f64, percent: Option<f64>| json!({"category": category, "name": name, "original": original, "count": count, "percent": percent});
    json!([
        {"title": "Open tools. Highcharts interactive chart.", "types": ["pie"], "series": [{"name": "Tools", "points": [
            point("", "Hammers 2", " Hammers 2 kg ", 12.0, Some(60.0)), point("", "Saws", "xyz", 8.0, Some(40.0)),
            point("", "Files", "", 0.0, None)]}]},
        {"title": "Rooms", "types": ["column", "column"], "series": [
            {"name": "Old", "points": [point("North", "x", "", 1234.5, None), point("South", "y", "", 3.0, None)]},
            {"name": "New", "points": [point("North", "x", "", 3.0, None), point("South", "y", "", 3.0, None)]}]},
    ])
}

#[test]
fn chart() {
    let prepare: fn(&mut Desk) = |desk| desk.page.charts = charts();
    let url =
        "/now/nav/ui/classic/params/target/report.do%3Fq=REPORT_DATE_FILTER,REPORT_TIME_FILTER";
    for (title, series, question) in [
        ("", "", json!("max")),
        ("open TOOLS", "", json!("min")),
        ("Open tools", "", json!({"value": {"unit": "percent", "label": "Hammers 2 kg"}})),
        ("Open tools", "", json!({"value": {"unit": "percent", "label": "Files"}})),
        ("Rooms", "Old", json!({"value": {"unit": "count", "label": "North"}})),
        ("Rooms", "New", json!("max")),
    ] {
        let task =
            json!({"chart": {"url": url, "title": title, "series": series, "question": question}});
        check(
            &config(task),
            prepare,
            &[
                (
                    "another number",
                    |desk, _, _| desk.said = Some("Hammers 2 kg, North, Files: 777".to_owned()),
                    true,
                ),
                (
                    "two numbers",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        desk.said = desk.said.take().map(|said| said + " or 777");
                    },
                    true,
                ),
                ("no number", |desk, _, _| desk.said = Some("Hammers".to_owned()), false),
                (
                    "another page",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        go(desk, "/now/nav/ui/home");
                    },
                    false,
                ),
            ],
        );
    }
}

#[test]
fn of_several_extremes_any_label_will_do() {
    let task = config(
        json!({"chart": {"url": "/report.do", "title": "Rooms", "series": "New", "question": "max"}}),
    );
    let mut desk = Desk::new();
    desk.page.charts = charts();
    let visit = desk.begin(&task).unwrap();
    for (said, reward) in [
        ("north 3", 1.0),
        ("South: 3.0", 1.0),
        ("3", 0.0),
        ("South 3.1", 0.0),
        ("South 3,000", 0.0),
    ] {
        desk.said = Some(said.to_owned());
        assert_eq!(desk.validate(&task, &visit).unwrap().reward, reward, "{said}");
    }
}

#[test]
fn what_the_published_code_raises_on_is_no_verdict() {
    let task = config(
        json!({"chart": {"url": "/report.do", "title": "Cellars", "series": "", "question": "max"}}),
    );
    let mut desk = Desk::new();
    desk.page.charts = charts();
    let visit = desk.begin(&task).unwrap();
    desk.said = Some("3".to_owned());
    assert_eq!(desk.validate(&task, &visit).unwrap_err(), Failure::Raised("ValueError"));
    for (types, expect) in
        [(json!(["pie", "bar"]), "NotImplementedError"), (json!(["map"]), "NotImplementedError")]
    {
        desk.page.charts[0]["title"] = json!("Cellars");
        desk.page.charts[0]["types"] = types;
        assert_eq!(desk.validate(&task, &visit).unwrap_err(), Failure::Raised(expect));
    }
}
