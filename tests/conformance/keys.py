"""Prints SURT keys and folded requests as the Python tools make them, one JSON object a line, for invented input."""

import base64
import io
import json
import os
import random
import socket
import sys


def inet_only(host):
    """What the resolver says of a numeric host; no other name is ever looked up."""
    try:
        return host, [], [socket.inet_ntoa(socket.inet_aton(host.decode()))]
    except OSError as problem:
        raise socket.gaierror() from problem


socket.gethostbyname_ex = inet_only

import surt  # noqa: E402
from pywb.warcserver.inputrequest import MethodQueryCanonicalizer  # noqa: E402

HOSTS = """Example.test www.example.test www23.Shop.Example.test wwwx.test www. 10.0.0.1 010.1.1.1 10.258 3232235777
999.1.1.1 1.2.3.4.5 bücher.test straße.test 日本.test xn--bcher-kva.test a..b.test .dots.test. [::1] [FE80::1%25Eth0]
user:pw@host.test user@www.host.test h%6fst.test h%20x.test x_y.test www com EXAMPLE.TEST %ff.test b%C3%BCcher.test
σς.test a,b.test host.test%41 08.1.1.1 0x7f.1""".split() + ["", "a b.test"]
PORTS = ["", "", ":80", ":443", ":8080", ":", ":0", ":0080", ":99999", ":abc", "::", ":80:"]
SCHEMES = """http:// https:// HTTP:// http: ftp:// ws:// wss:// urn: dns: http://// http://https:// // mailto: about: data:
http:/ :// filedesc:// file:///""".split() + [""]
ID = "a1" * 16
PATHS = """ / /A/b/ //a//b /a/./b/../c /../x /a/.. /a/../.. /%7Efoo /%2541 /bär /a+b /x%zz /x% /(S(abcdefghij0123456789abcd))/p.aspx
/(abcdefghij0123456789abcd)/p.aspx /q/(a(abcdefghij0123456789abcd)f(abcdefghij0123456789abcd))/p.aspx/x /;jsessionid=ABC
/a%2Fb /a%3Fb=1 /a%23b /é? /./ /.. /x/. /a\\b /a|b^c`d{e} /%E4 /%00 /... /a/%2e%2e/b /A// //""".split() + ["", "/a b", "/a\tb"]
QUERIES = f"""? ?b=2&a=1 ?a&b=&a= ?z=1&Z=2 ?&& ?a=1& ?x ?? ?a=b=c&a=b ?jsessionid={ID} ?x=1&PHPSESSID={ID}&y=2 ?sid={ID} ?sid={ID}0
?ASPSESSIONIDABCDEFGH={"q" * 24}&z ?cfid=1&cftoken=2&x=3 ?a=%26&b=%3d ?q=a+b%20c ?q=ü ?u=http://x.test/?y#z ?%41=%62 ?a=1;b=2
?sid={ID}&sid={"e" * 32} ?mysid={ID}&k=1 ?_=123&b ?a=%2541""".split() + [""]
ODD = ["", " ", "-", "a", "http://", "http:///", "http://?", "http:", "a:b", ":", " http://x.test/ ", "http://x.test/a\nb", "1http://x"]


def urls(rng, count):
    yield from ODD
    for _ in range(count):
        scheme = rng.choice(SCHEMES if rng.random() < 0.5 else SCHEMES[:2])
        more = rng.choice(PATHS) if rng.random() < 0.3 else ""
        tail = rng.choice(["", "", "#x", "#a?b"])
        yield scheme + rng.choice(HOSTS) + rng.choice(PORTS) + rng.choice(PATHS) + more + rng.choice(QUERIES) + tail


def value(rng, depth=0):
    kind = rng.random()
    if depth < 4 and kind < 0.25:
        return {rng.choice(["a", "b", "id", "q r", "ä", "x.2_", ""]): value(rng, depth + 1) for _ in range(rng.randrange(4))}
    if depth < 4 and kind < 0.45:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    scalars = [None, True, False, 0, 1, -5, 10**18, 10**25, 1.5, 44.0, -0.0, 1e21, 1e23, 1.5e-7, 1e-5, 0.0001, 123456.789, 5e-324]
    return rng.choice(scalars + [1e300, 1e16, "", "x", "a b&c=d", "ü日", "\n", '"q"', "%41+"])


def parts(rng):
    body = b""
    for _ in range(rng.randrange(4)):
        name = rng.choice(["a", "na me", "ü", 'q\\"q', "x;y"]).encode()
        content = rng.choice([b"1", b"", b"two\r\nlines", b"\xff\xfe", "ä".encode(), b"a&b=c", b"line\n", b"\r\n"])
        file = rng.choice([b"", b'; filename="f.txt"\r\nContent-Type: text/plain'])
        body += b'--b0und\r\nContent-Disposition: form-data; name="' + name + b'"' + file + b"\r\n\r\n" + content + b"\r\n"
    return body + b"--b0und--\r\n"


def request(rng):
    kind = rng.random()
    if kind < 0.5:
        body = json.dumps(value(rng), ensure_ascii=rng.random() < 0.5).encode()
        return rng.choice(["application/json", "application/json; charset=utf-8", "text/plain;charset=UTF-8"]), body
    if kind < 0.65:
        forms = ["a=1&b=2", "a=%26&b=+x", "%e4=%zz", "a=ü", "", "x" * 5000, "a=%F0%9F%98%80", "%"]
        return "application/x-www-form-urlencoded", rng.choice(forms).encode()
    if kind < 0.85:
        return rng.choice(["multipart/form-data; boundary=b0und", 'multipart/form-data; boundary="b0und"']), parts(rng)
    size = rng.choice([0, 1, 5, 100, 4000])
    return rng.choice(["", "application/octet-stream", "multipart/form-data"]), bytes(rng.randrange(256) for _ in range(size))


def main():
    rng = random.Random(20261120)
    for url in urls(rng, 20000):
        try:
            key = surt.surt(url)
        except Exception:  # what the reference refuses is its own key
            key = url
        print(json.dumps({"url": url, "key": key}))
    sys.stderr = open(os.devnull, "w")
    for _ in range(4000):
        method = rng.choice(["POST", "POST", "PUT", "post", "DELETE", "OPTIONS", "GET", "HEAD"])
        url = rng.choice(["https://a.test/x", "https://a.test/x?y=1"])
        kind, body = request(rng)
        folded = MethodQueryCanonicalizer(method, kind, str(len(body)), io.BytesIO(body)).append_query(url)
        body = base64.b64encode(body).decode()
        print(json.dumps({"url": url, "method": method, "type": kind, "body": body, "folded": folded}))


if __name__ == "__main__":
    main()
