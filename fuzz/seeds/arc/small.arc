http://c.test/ 10.0.0.1 20080430204826 text/html 51
HTTP/1.0 200 OK
Content-Type: text/html

<p>hello</p>

http://c.test/two 10.0.0.1 20080430204827 text/html 200 abc - 0 x.arc 5
hello
