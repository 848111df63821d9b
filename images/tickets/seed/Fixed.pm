# A clock and a source of chance that the seed moves by hand: loaded before RT, so that every row it writes repeats.
package Fixed;
use strict;
use warnings;

our $now;

BEGIN {
    require Time::Local;
    $now = Time::Local::timegm(0, 0, 8, 9, 0, 2023);
    no warnings 'once';
    *CORE::GLOBAL::time      = sub () { $Fixed::now };
    *CORE::GLOBAL::gmtime    = sub (;$) { CORE::gmtime(@_ && defined $_[0] ? $_[0] : $Fixed::now) };
    *CORE::GLOBAL::localtime = sub (;$) { CORE::localtime(@_ && defined $_[0] ? $_[0] : $Fixed::now) };
    srand(42);
}

# A generator of its own, since others draw from perl's.
my $state = 20230615;

sub draw {
    my $below = shift;
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return int($state / 65536) % $below;
}

sub pick { return $_[draw(scalar @_)] }

1;
