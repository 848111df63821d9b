//! Dashboards and reports.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::visitor::{Visitor, copy};

/// The charts that a page gives to its script.
fn charts(body: &str) -> Value {
    let rest = body.split_once("<script id=\"charts\"").unwrap_or_else(|| panic!("{body}")).1;
    let json = rest.split_once('>').unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(json).unwrap()
}

#[tokio::test]
async fn a_dashboard_has_its_charts() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    for place in ["/$pa_dashboard.do", "/%24pa_dashboard.do"] {
        let body = admin.get(&format!("{place}?sysparm_dashboard=tickets")).await.body;
        let charts = charts(&body);
        assert_eq!(charts[0]["title"], "Incidents by month");
        assert_eq!(charts[0]["series"][1]["name"], "Closed");
        assert_eq!(charts[0]["series"][1]["points"][0], json!(["January", 24]));
        assert_eq!(charts[2]["shape"], "pie");
        let label = "id=\"chart-2\" role=\"region\" \
                     aria-label=\"Problems by state. Highcharts interactive chart.\"";
        assert!(body.contains(label), "{body}");
    }
    let list = admin.get("/$pa_dashboard.do").await.body;
    assert!(list.contains(">Assets</a>") && list.contains(">Tickets</a>"), "{list}");
    let nowhere = admin.get("/$pa_dashboard.do?sysparm_dashboard=x").await;
    assert_eq!(nowhere.status, StatusCode::NOT_FOUND);
    assert!(nowhere.body.contains("not found"));
}

#[tokio::test]
async fn a_report_counts_what_people_see() {
    let copy = copy();
    let mut program = Visitor::admin(&copy);
    let mara = program.table("sys_user?sysparm_query=user_name%3Dmara.lindqvist").await;
    for (title, user) in
        [("#one a", &mara[0]["sys_id"]), ("#one b", &mara[0]["sys_id"]), ("#one c", &json!(""))]
    {
        let fields = json!({"short_description": title, "assigned_to": user});
        program.make("incident", fields).await;
    }
    let report = program
        .make(
            "sys_report",
            json!({"title": "Mine </script>", "table": "incident", "field": "assigned_to",
                   "type": "bar", "filter": "short_descriptionLIKE#one"}),
        )
        .await;
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let id = report["sys_id"].as_str().unwrap();
    let body = admin.get(&format!("/sys_report_template.do?jvar_report_id={id}")).await.body;
    let chart = &charts(&body)[0];
    assert_eq!((&chart["title"], &chart["shape"]), (&"Mine </script>".into(), &"bar".into()));
    assert_eq!(chart["series"][0]["points"], json!([["Mara Lindqvist", 2], ["(empty)", 1]]));
    // As the package writes it: records from before a moment, of which none is of today.
    let query = "sys_created_on<javascript:gs.dateGenerate('2025-03-03','00:00:00')^EQ"
        .replace('<', "%3C")
        .replace('\'', "%27")
        .replace('^', "%5E");
    let address = format!(
        "/sys_report_template.do?sysparm_field=impact&sysparm_type=pie&sysparm_table=incident\
         &sysparm_from_list=true&sysparm_query={query}"
    );
    let chart = &charts(&admin.get(&address).await.body)[0];
    assert_eq!((&chart["title"], &chart["shape"]), (&"Incidents by Impact".into(), &"pie".into()));
    let points = chart["series"][0]["points"].as_array().unwrap();
    let sum: u64 = points.iter().map(|point| point[1].as_u64().unwrap()).sum();
    let all = program.table("incident?sysparm_query=sys_created_on%3C2025-03-03%2000:00:00").await;
    assert_eq!(sum, all.as_array().unwrap().len() as u64);
    assert!(points.iter().any(|point| point[0] == "1 - High"), "{points:?}");
}

#[tokio::test]
async fn reports_that_are_stored_with_their_numbers() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let place = "/sys_report_template.do?jvar_report_id=visits-by-room";
    let chart = &charts(&admin.get(place).await.body)[0];
    assert_eq!(chart["series"][0]["points"][2], json!(["Hall", 34]));
    let nothing = "/sys_report_template.do?sysparm_table=incident&sysparm_field=state\
                   &sysparm_query=number%3Dnone";
    assert_eq!(charts(&admin.get(nothing).await.body)[0]["series"][0]["points"], json!([]));
    for unknown in
        ["", "?jvar_report_id=x", "?sysparm_table=incident", "?sysparm_table=x&sysparm_field=y"]
    {
        let answer = admin.get(&format!("/sys_report_template.do{unknown}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{unknown}");
    }
}
