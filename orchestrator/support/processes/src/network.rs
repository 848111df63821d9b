//! What programs are told of the network, and the loopback of a new namespace.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType};

type Variables = Vec<(OsString, OsString)>;

/// The variables by which programs find their proxy, for all that they ask.
pub fn proxies(url: &str) -> Variables {
    let url = OsString::from(url);
    let named =
        ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    named.into_iter().map(|name| (name.into(), url.clone())).collect()
}

/// The variables by which OpenSSL, Python's `requests`, curl and Node find the authorities that
/// they believe.
pub fn authorities(file: &Path) -> Variables {
    let named = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];
    named.into_iter().map(|name| (name.into(), file.into())).collect()
}

/// Brings the loopback interface of this namespace up by `RTM_NEWLINK` of rtnetlink(7).
///
/// # Errors
/// When this process may not configure the network of its namespace.
pub fn raise_loopback() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const LENGTH: u32 = 32;
    // The first interface of every namespace.
    const LOOPBACK: i32 = 1;
    const UP: u32 = 1;
    // `struct nlmsghdr`, then `struct ifinfomsg`.
    let mut message = Vec::with_capacity(LENGTH as usize);
    message.extend(LENGTH.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    // Its protocol is number 0, that of routes.
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    rustix::net::send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    let (_, length) = rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // `struct nlmsghdr`, then the error as a negative number.
    match answer[..length]
        .get(16..20)
        .and_then(|bytes| bytes.try_into().ok())
        .map(i32::from_ne_bytes)
    {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_finds_the_proxy_and_the_authority() {
        let proxies = proxies("http://127.0.0.1:8080");
        assert!(
            proxies.iter().all(|(_, url)| url == "http://127.0.0.1:8080") && proxies.len() == 6
        );
        let authorities = authorities(Path::new("/ca.pem"));
        assert!(authorities.iter().all(|(_, file)| file == "/ca.pem") && authorities.len() == 4);
    }
}
