//! The results of the reference implementation for invented URLs.

use proptest::prelude::*;

use super::surt;

#[rustfmt::skip]
const KEYS: &[(&str, &str)] = &[
    ("https://harbour.test/", "test,harbour)/"),
    ("https://Harbour.test/Tide/Tables.HTML", "test,harbour)/tide/tables.html"),
    ("https://www.harbour.test/tides", "test,harbour)/tides"),
    ("https://www2.harbour.test/", "test,harbour)/"),
    ("https://wwwx.harbour.test/", "test,harbour,wwwx)/"),
    ("http://www/", "www)/"),
    ("https://harbour.test:443/a", "test,harbour)/a"),
    ("http://harbour.test:443/a", "test,harbour:443)/a"),
    ("http://harbour.test:80/", "test,harbour)/"),
    ("https://harbour.test:8443/a", "test,harbour:8443)/a"),
    ("http://harbour.test:/a", "test,harbour)/a"),
    ("http://harbour.test:0/a", "test,harbour)/a"),
    ("http://user:secret@harbour.test/", "test,harbour)/"),
    ("https://harbour.test/tides/?b=2&a=1", "test,harbour)/tides?a=1&b=2"),
    ("https://harbour.test/tides?", "test,harbour)/tides"),
    ("https://harbour.test/?&&", "test,harbour)/?&&"),
    ("https://harbour.test/?b&a=&a", "test,harbour)/?a&a=&b"),
    ("https://harbour.test/?a=2&a=1&A=0", "test,harbour)/?a=0&a=1&a=2"),
    ("https://harbour.test/?q=a+b%20c", "test,harbour)/?q=a+b%20c"),
    ("https://harbour.test/?a=%26&b=%3D", "test,harbour)/?&a=&b=="),
    ("https://harbour.test/?u=http://x.test/?y", "test,harbour)/?u=http://x.test/?y"),
    ("https://harbour.test/#top", "test,harbour)/"),
    ("https://harbour.test/a#b?c", "test,harbour)/a"),
    ("https://harbour.test?q", "test,harbour)/?q"),
    ("https://harbour.test/a//b///c/", "test,harbour)/a/b/c"),
    ("https://harbour.test//a/../b", "test,harbour)/b"),
    ("https://harbour.test/a/./b/../c", "test,harbour)/a/c"),
    ("https://harbour.test/../x", "test,harbour)/../x"),
    ("https://harbour.test/a/..", "test,harbour)/"),
    ("https://harbour.test/a/%2e%2e/b", "test,harbour)/b"),
    ("https://harbour.test/%7Efoo", "test,harbour)/~foo"),
    ("https://harbour.test/%257Efoo", "test,harbour)/~foo"),
    ("https://harbour.test/Bär", "test,harbour)/b%c3%a4r"),
    ("https://harbour.test/B%C3%A4r", "test,harbour)/b%c3%a4r"),
    ("https://harbour.test/%E4", "test,harbour)/%e4"),
    ("https://harbour.test/a%2Fb", "test,harbour)/a/b"),
    ("https://harbour.test/a%3Fb=1", "test,harbour)/a?b=1"),
    ("https://harbour.test/a%23b", "test,harbour)/a%23b"),
    ("https://harbour.test/a b", "test,harbour)/a%20b"),
    ("https://harbour.test/x%zz%", "test,harbour)/x%25zz%25"),
    ("https://harbour.test/a\\b|c^d`{e}", "test,harbour)/a\\b|c^d`{e}"),
    ("https://harbour.test/%00", "test,harbour)/%00"),
    ("https://bücher.test/", "test,xn--bcher-kva)/"),
    ("https://B%C3%BCcher.test/", "test,xn--bcher-kva)/"),
    ("https://straße.test/", "test,strasse)/"),
    ("https://日本.test/", "test,xn--wgv71a)/"),
    ("https://%ff.test/", "test,%ff)/"),
    ("https://harbour..test./", "test,harbour)/"),
    ("http://127.0.0.1:3000/", "1,0,0,127:3000)/"),
    ("http://10.258/", "2,1,0,10)/"),
    ("http://010.1.1.1/", "1,1,1,8)/"),
    ("http://3232235777/", "1,1,168,192)/"),
    ("http://1.2.3.4.5/", "5,4,3,2,1)/"),
    ("http://[::1]:8080/x", "::1:8080)/x"),
    ("http://[FE80::1%25Eth0]/", "fe80::1%25eth0)/"),
    ("harbour.test/x", "test,harbour)/x"),
    ("harbour.test:80/x", "harbour.test:80/x"),
    ("//harbour.test/x", "test,harbour)/x"),
    ("http:////harbour.test/x", "test,harbour)/x"),
    ("http:harbour.test/x", "test,harbour)/x"),
    ("http://https://harbour.test/x", "test,harbour)/x"),
    ("HTTP://HARBOUR.TEST/X", "test,harbour)/x"),
    ("ftp://www.harbour.test/File", "test,harbour)/file"),
    ("ws://harbour.test/live?b&a", "test,harbour)/live?a&b"),
    ("data:text/plain,Hi", "data:text/plain,hi"),
    ("about:blank", "about:blank"),
    ("urn:pageinfo:https://Harbour.test/?b&a", "urn:pageinfo:https://harbour.test?a&b"),
    ("dns:www.harbour.test", "dns:www.harbour.test"),
    ("mailto:Captain@harbour.test", "mailto:captain@harbour.test"),
    ("javascript:void(0)", "javascript:void(0)"),
    ("filedesc://Tides.arc", "filedesc://Tides.arc"),
    ("http://harbour.test:port/", "http://harbour.test:port/"),
    ("http://harbour.test:70000/x", "http://harbour.test:70000/x"),
    ("http://", "http:"),
    ("http:///", "http:/"),
    ("http://?", "http:"),
    ("", "-"),
    ("  https://harbour.test/a\n/b  ", "test,harbour)/a/b"),
    ("https://harbour.test/?jsessionid=ab12ab12ab12ab12ab12ab12ab12ab12", "test,harbour)/"),
    ("https://harbour.test/?x=1&PHPSESSID=ab12ab12ab12ab12ab12ab12ab12ab12&y=2", "test,harbour)/?x=1&y=2"),
    ("https://harbour.test/?sid=ab12ab12ab12ab12ab12ab12ab12ab120", "test,harbour)/?sid=ab12ab12ab12ab12ab12ab12ab12ab120"),
    ("https://harbour.test/?mysid=ab12ab12ab12ab12ab12ab12ab12ab12&k=1", "test,harbour)/?myk=1"),
    ("https://harbour.test/?ASPSESSIONIDABCDEFGH=qqqqqqqqqqqqqqqqqqqqqqqq&z", "test,harbour)/?z"),
    ("https://harbour.test/?cfid=1&cftoken=2&x=3", "test,harbour)/?x=3"),
    ("https://harbour.test/(S(abcdefghij0123456789abcd))/Page.aspx?x", "test,harbour)/page.aspx?x"),
    ("https://harbour.test/(abcdefghij0123456789abcd)/page.aspx", "test,harbour)/page.aspx"),
    ("https://harbour.test/p?__wb_method=POST&Name=X", "test,harbour)/p?__wb_method=post&name=x"),
];

#[test]
fn keys_are_those_of_the_reference() {
    for (url, key) in KEYS {
        assert_eq!(surt(url), *key, "{url}");
    }
}

proptest! {
    #[test]
    fn any_text_has_a_key(url in ".{0,60}") {
        surt(&url);
    }

    #[test]
    fn any_url_has_a_key_without_a_space(url in "(http|https|ws)://[ -~é日]{0,50}") {
        prop_assert!(!surt(&url).contains(' ') || surt(&url) == url);
    }
}
