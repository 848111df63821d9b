//! A site of several ports, each under a name of its own.

use std::sync::Arc;

use daemon::SiteRoutes;
use gateway::{CertificateAuthority, Config, Gateway, Routes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::harness::Bench;

#[tokio::test]
async fn each_name_leads_to_its_port() {
    let bench = Bench::new();
    let folder = bench.manifest("command: [/site, '8000,8081']\nreset: spare");
    let text = std::fs::read_to_string(folder.join("site.yaml")).unwrap();
    let hosts = "hosts: [small.test, {host: 'small.test:3000', port: 8081}, {host: tiles.test, port: 8081}]";
    std::fs::write(folder.join("site.yaml"), text.replace("hosts: [small.test]", hosts)).unwrap();
    let running = bench.group_of(&folder, 1).await;
    let lease = running.lease().await;

    let to_site = SiteRoutes::new(&lease, &[]).unwrap();
    let mut routes = Routes::new();
    to_site.add_to(&mut routes).unwrap();
    let authority = Arc::new(CertificateAuthority::in_memory().unwrap());
    let gateway = Gateway::start(Config::for_everybody(authority, routes)).await.unwrap();
    let ask = async |line: &str| {
        let mut stream =
            tokio::net::TcpStream::connect(gateway.local_addr().unwrap()).await.unwrap();
        let host = line.split('/').nth(2).unwrap();
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    };
    assert_eq!(ask("GET http://small.test/port").await, "8000");
    assert_eq!(ask("GET http://small.test:3000/port").await, "8081");
    assert_eq!(ask("GET http://tiles.test/port").await, "8081");
    assert!(!to_site.changed());
    assert_eq!(ask("POST http://tiles.test/port").await, "8081");
    assert!(to_site.changed(), "a change through any of its ports is one");
    gateway.shutdown().await;
    running.group.stop().await.unwrap();
}
