<?php
// deliver FROM TO...: puts the message on standard input into the mailboxes, as if it had come from outside.
require '/usr/share/roundcube/plugins/postroom/delivery.php';
umask(0);
if ($argc < 3) {
    fwrite(STDERR, "usage: deliver FROM TO... < message\n");
    exit(2);
}
$delivery = new Delivery('/state/mail');
$raw = preg_replace('/\r?\n/', "\r\n", stream_get_contents(STDIN));
$delivery->hand_over($raw, $argv[1], array_slice($argv, 2), $delivery->next());
