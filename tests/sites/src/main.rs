//! A site for tests, small enough to be understood at a glance and able to misbehave when told to.
//!
//! It keeps lines in a file of its state, says what it sees of its surroundings, tries to reach
//! what it must not reach, and eats memory or ends when asked. Plain threads and sockets, so that
//! nothing but it and its libraries is in its image.

mod hostile;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType};
use rustix::thread::UnshareFlags;

/// How long it tries to reach something.
const PATIENCE: Duration = Duration::from_secs(2);

fn main() -> std::io::Result<()> {
    println!("a small site begins");
    if std::env::var_os("SILENT").is_some() {
        println!("and keeps silent");
        loop {
            std::thread::park();
        }
    }
    let ports = std::env::args().nth(1).unwrap_or("8000".to_owned());
    let state = std::env::args().nth(2).unwrap_or("/state".to_owned());
    fs::create_dir_all(format!("{state}/lines"))?;
    let mut listening = Vec::new();
    for port in ports.split(',') {
        let (listener, state) = (TcpListener::bind(format!("0.0.0.0:{port}"))?, state.clone());
        listening.push(std::thread::spawn(move || serve(&listener, &state)));
    }
    listening.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
}

fn serve(listener: &TcpListener, state: &str) -> std::io::Result<()> {
    for stream in listener.incoming() {
        let (stream, state) = (stream?, state.to_owned());
        std::thread::spawn(move || answer(stream, &state));
    }
    Ok(())
}

fn answer(mut stream: TcpStream, state: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut line, mut length, mut fields) = (String::new(), 0, String::new());
    while reader.read_line(&mut line)? > 2 {
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
        fields.push_str(&line);
        line.clear();
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink())?;
    let target = first.split(' ').nth(1).unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let body = match path {
        "/fields" => Ok(fields),
        "/port" => stream.local_addr().map(|own| own.port().to_string()),
        _ => page(path, query, state),
    };
    let body = body.unwrap_or_else(|error| format!("error: {error}"));
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn page(path: &str, query: &str, state: &str) -> std::io::Result<String> {
    let lines = format!("{state}/lines/all");
    match path {
        "/" => Ok("a small site".to_owned()),
        "/lines" => Ok(fs::read_to_string(lines).unwrap_or_default()),
        "/add" => {
            let mut file = fs::File::options().create(true).append(true).open(lines)?;
            writeln!(file, "{query}")?;
            Ok("added".to_owned())
        }
        "/socket" => {
            let family = AddressFamily::from_raw(query.parse().unwrap_or_default());
            rustix::net::socket(family, SocketType::DGRAM, None)?;
            Ok("made".to_owned())
        }
        "/unshare" => {
            let flags = UnshareFlags::from_bits_retain(query.parse().unwrap_or_default());
            #[expect(
                deprecated,
                reason = "the other one is unsafe, for a flag that is not used here"
            )]
            rustix::thread::unshare(flags)?;
            Ok("made".to_owned())
        }
        "/list" => {
            let names = fs::read_dir(query)?.flatten().map(|entry| entry.file_name());
            let mut names: Vec<String> =
                names.map(|name| name.to_string_lossy().into_owned()).collect();
            names.sort();
            Ok(names.join(" "))
        }
        "/leave" => {
            // Another program than its own: the loader, which runs it once more.
            let maps = fs::read_to_string("/proc/self/maps")?;
            let loader = maps.split_whitespace().find(|word| word.contains("/ld-linux"));
            let loader = loader.ok_or(std::io::ErrorKind::NotFound)?;
            std::process::Command::new(loader).arg("/site").env("SILENT", "1").spawn()?;
            Ok("left".to_owned())
        }
        "/hostile" => {
            let (state, outside) = (state.to_owned(), query.to_owned());
            std::thread::spawn(move || hostile::plant_links(&state, &outside));
            Ok("planting".to_owned())
        }
        "/stray" => fs::write(format!("{state}/stray"), query).map(|()| "written".to_owned()),
        "/file" => fs::read_to_string(query),
        "/write" => fs::write(query, "x").map(|()| "written".to_owned()),
        "/tcp" => {
            let address = query.to_socket_addrs()?.next().ok_or(std::io::ErrorKind::NotFound)?;
            TcpStream::connect_timeout(&address, PATIENCE).map(|_| "reached".to_owned())
        }
        "/udp" => {
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            socket.set_read_timeout(Some(PATIENCE))?;
            socket.send_to(b"hello", query)?;
            socket.recv(&mut [0; 16]).map(|_| "reached".to_owned())
        }
        "/name" => (query, 80).to_socket_addrs().map(|found| format!("found {}", found.count())),
        "/say" => {
            println!("{query}");
            Ok("said".to_owned())
        }
        "/clock" => fs::read_to_string(std::env::var("SITE_CLOCK_FILE").unwrap_or_default()),
        "/fill" => {
            let mut file = fs::File::create(format!("{state}/fill"))?;
            loop {
                file.write_all(&vec![1_u8; 1 << 20])?;
            }
        }
        "/litter" => loop {
            static NUMBER: AtomicU64 = AtomicU64::new(0);
            fs::write(format!("{state}/litter-{}", NUMBER.fetch_add(1, Ordering::Relaxed)), "")?;
        },
        "/grow" => {
            let mut held = Vec::new();
            loop {
                held.push(vec![1_u8; 1 << 20]);
            }
        }
        "/end" => {
            println!("told to end");
            std::process::exit(query.parse().unwrap_or(0))
        }
        _ => Err(std::io::ErrorKind::NotFound.into()),
    }
}
