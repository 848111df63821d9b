<?php
/**
 * Writes messages into Maildirs. File names are the clock's second and a counter kept beside the mail, hence the same on
 * every copy that gets the same messages, and put back with the rest.
 */
class Delivery
{
    const DOMAIN = 'corvane.test';

    public function __construct(private string $root)
    {
    }

    /** The next number, counted across processes. */
    public function next(): int
    {
        $file = fopen("$this->root/counter", 'c+');
        flock($file, LOCK_EX);
        $number = (int) stream_get_contents($file) + 1;
        rewind($file);
        fwrite($file, (string) $number);
        fclose($file);
        return $number;
    }

    /** Gives the random MIME boundaries of a message names that follow from its number. */
    public function settle(string $raw, int $number): string
    {
        $names = [];
        return preg_replace_callback('/=_[0-9a-f]{32}/', function ($found) use (&$names, $number) {
            $names[$found[0]] ??= sprintf('=_corvane_%06d_%d', $number, count($names));
            return $names[$found[0]];
        }, $raw);
    }

    /** Delivers to every recipient and keeps the sender's copy, which alone names the blind ones in its Bcc. */
    public function hand_over(string $raw, string $from, array $to, int $number): void
    {
        $unknown = [];
        [$head, $body] = explode("\r\n\r\n", $raw . "\r\n\r\n", 2);
        $open = preg_replace('/^Bcc:.*(\r\n[ \t].*)*\r\n/mi', '', $head . "\r\n") . "\r\n" . substr($body, 0, -4);
        foreach (array_unique($to) as $address) {
            if (!str_ends_with($address, '@' . self::DOMAIN)) {
                $this->write("$this->root/outbox", 'new', $open, $number, '');
            } elseif ($box = $this->box($address)) {
                $this->write($box, 'new', $open, $number, '');
            } else {
                $unknown[] = $address;
            }
        }
        if (!$sender = $this->box($from)) {
            return;
        }
        $this->write("$sender/.Sent", 'cur', $raw, $number, ':2,S');
        if ($unknown) {
            $number = $this->next();
            $this->write($sender, 'new', $this->bounce($from, $unknown, $raw, $number), $number, '');
        }
    }

    private function box(string $address): ?string
    {
        [$name, $domain] = explode('@', $address . '@');
        $path = "$this->root/$name";
        return $domain === self::DOMAIN && preg_match('/^[a-z]+$/', $name) && is_dir("$path/cur") && $name !== 'outbox' ? $path : null;
    }

    private function write(string $box, string $sub, string $raw, int $number, string $flags): void
    {
        foreach (['tmp', 'new', 'cur'] as $dir) {
            is_dir("$box/$dir") || mkdir("$box/$dir", 0777, true);
        }
        $name = sprintf('%d.M%06dP2.corvane,S=%d%s', time(), $number, strlen($raw), $flags);
        file_put_contents("$box/tmp/$name", $raw);
        touch("$box/tmp/$name", time());
        rename("$box/tmp/$name", "$box/$sub/$name");
    }

    private function bounce(string $from, array $unknown, string $raw, int $number): string
    {
        preg_match('/^Subject: .*(\r?\n[ \t].*)*/mi', $raw, $subject);
        return 'From: Mail Delivery System <postmaster@' . self::DOMAIN . ">\r\nTo: $from\r\n"
            . "Subject: Undelivered mail returned to sender\r\nDate: " . gmdate('D, d M Y H:i:s') . " +0000\r\n"
            . 'Message-ID: <' . gmdate('YmdHis') . ".$number@" . self::DOMAIN . ">\r\n"
            . "Content-Type: text/plain; charset=utf-8\r\n\r\n"
            . "Your message could not be delivered to\r\n\r\n  " . implode("\r\n  ", $unknown)
            . "\r\n\r\nNobody of that name has a mailbox here.\r\n\r\n" . ($subject[0] ?? '') . "\r\n";
    }
}
