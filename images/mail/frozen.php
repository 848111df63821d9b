<?php
// PHP's own uniqid() waits for the microsecond to change, which it never does under a clock that stands still.
function uniqid(string $prefix = '', bool $more_entropy = false): string
{
    static $count = 0;
    $id = sprintf('%s%08x%05x', $prefix, time(), (getmypid() * 1021 + $count++) & 0xfffff);
    return $more_entropy ? $id . sprintf('.%08d', random_int(0, 99999999)) : $id;
}
