# The tickets: each kind of request of kinds.txt happens several times, to different people, and is carried on by the desk.
use strict;
use warnings;

my %words;
my $serial = 0;

sub fill {
    my ($text, $slots) = @_;
    $text =~ s/\{(\w+)\}/$slots->{$1} \/\/ die "no word for $1"/ge;
    return $text;
}

sub kinds {
    my @plan;
    for (@_) {
        my ($head, $body) = @$_;
        my %lines;
        for (split /\n/, $body) { push @{ $lines{$1} }, $2 if /^([SQCARF]): (.*)/ }
        push @plan, map { { queue => $head->[0], impact => $head->[1], turn => $_, lines => \%lines } } 0 .. 2 * $head->[2] - 1;
    }
    return @plan;
}

sub message {
    my ($text, $who) = @_;
    return MIME::Entity->build(Type => 'text/plain', Charset => 'UTF-8', Encoding => '8bit',
        Data => [Encode::encode('UTF-8', "$text\n\n$who\n")], 'X-Mailer' => undef);
}

sub make_tickets {
    my ($root, $queue, $cf, $name, $staff, $ok, $blocks) = @_;
    open my $in, '<:encoding(UTF-8)', '/build/words.txt' or die $!;
    while (<$in>) { chomp; my ($slot, $list) = split /: /, $_, 2; $words{$slot} = [split /; /, $list] }
    my %agents = (Network => 'jonas', Accounts => 'mira', Purchasing => 'felix');
    my @plan = kinds($blocks->('kinds.txt'));
    # Mixed by the fixed generator, so that queues alternate.
    for my $i (reverse 1 .. $#plan) { my $j = Fixed::draw($i + 1); @plan[$i, $j] = @plan[$j, $i] }
    my $start = Time::Local::timegm(0, 5, 8, 20, 1, 2023);
    my $end   = Time::Local::timegm(0, 40, 8, 15, 5, 2023);
    my $step  = ($end - $start) / @plan;
    for my $case (@plan) {
        my $when = int($start + $step * $serial++ + Fixed::draw(3000));
        $when = working($when);
        one_ticket($root, $queue, $cf, $name, $staff, $ok, $case, $agents{ $case->{queue} } // Fixed::pick(qw(noor felix)), $when, $end);
    }
}

# The same minute in the next working hour.
sub working {
    my $when = shift;
    my ($hour, $weekday) = (gmtime $when)[2, 6];
    $when += 3600 * ($hour < 8 ? 8 - $hour : 32 - $hour) if $hour < 8 || $hour > 17;
    $weekday = (gmtime $when)[6];
    $when += 86400 * ($weekday == 6 ? 2 : $weekday == 0 ? 1 : 0);
    return $when;
}

sub current {
    my $user = RT::CurrentUser->new(RT->SystemUser);
    $user->Load(shift);
    return $user;
}

sub one_ticket {
    my ($root, $queue, $cf, $name, $staff, $ok, $case, $agent, $when, $end) = @_;
    my $asker = $staff->[($case->{turn} * 3 + $serial) % @$staff];
    my $other = $staff->[($case->{turn} + 4 + $serial) % @$staff];
    my %slots = (name => $name->{$other}, map { $_ => $words{$_}[($serial + $case->{turn}) % @{ $words{$_} }] } keys %words);
    my $lines = $case->{lines};
    my $line = sub { my $set = $lines->{ $_[0] } or return; return fill($set->[ ($case->{turn}) % @$set ], \%slots) };
    $Fixed::now = $when;
    my $ticket = RT::Ticket->new(current('root'));
    my $place = $slots{room} =~ s/^the //r;
    my %priority = ('One person' => 20, 'A team' => 50, 'Everybody' => 80);
    $ok->($ticket->Create(
        Queue => $case->{queue}, Subject => ucfirst $line->('S'), Requestor => "$asker\@corvane.test", Priority => $priority{ $case->{impact} },
        InitialPriority => $priority{ $case->{impact} }, MIMEObj => message($line->('Q'), $name->{$asker}),
        ($serial % 4 == 0 ? (Due => RT::Date->new(RT->SystemUser) && stamp($when + 86400 * 5)) : ()),
        'CustomField-' . $cf->{impact}->Id => $case->{impact}, 'CustomField-' . $cf->{place}->Id => ucfirst $place,
    ));
    my $age = ($end - $when) / 86400;
    # Recent tickets are still on their way; old ones are nearly all done.
    my $steps = $age > 12 ? ($serial % 17 == 0 ? 2 : 4) : $age > 5 ? Fixed::pick(2, 3, 4, 4) : Fixed::pick(0, 0, 1, 2, 3);
    my @history = grep { $lines->{$_} } qw(C A R F);
    my $t = RT::Ticket->new(current($agent));
    my $later = sub { $Fixed::now = working($Fixed::now + 600 + Fixed::draw($_[0]));
        $Fixed::now = $end if $Fixed::now > $end; $t->Load($ticket->Id) };
    return if $steps == 0;
    $later->(5400);
    $ok->($t->SetOwner($agent)) if $steps > 0;
    for my $mark (@history) {
        my $rank = { C => 1, A => 2, R => 3, F => 4 }->{$mark};
        last if $rank > $steps;
        $later->($mark eq 'F' ? 90000 : 14000);
        if ($mark eq 'C') {
            $ok->($t->Comment(MIMEObj => message($line->('C'), $name->{$agent}), TimeTaken => 5 * (1 + Fixed::draw(5))));
        } elsif ($mark eq 'R') {
            my $own = RT::Ticket->new(current($asker));
            $own->Load($ticket->Id);
            $ok->($own->Correspond(MIMEObj => message($line->('R'), $name->{$asker})));
        } else {
            $ok->($t->Correspond(MIMEObj => message($line->($mark), $name->{$agent}), TimeTaken => 5 * (1 + Fixed::draw(8))));
        }
    }
    if ($steps == 4) {
        my $cause = RT::CustomField->new($root);
        $t->Load($ticket->Id);
        my @causes = ('Wear', 'Wrong setting', 'Fault of a supplier', 'Missing explanation', 'Unknown');
        $ok->($t->AddCustomFieldValue(Field => $cf->{cause}->Id, Value => $causes[$serial % 5]));
        $ok->($t->SetStatus($serial % 29 == 0 ? 'rejected' : 'resolved'));
    } elsif ($steps == 2 && $serial % 3 == 0) {
        $t->Load($ticket->Id);
        $ok->($t->SetStatus('stalled'));
    }
}

sub stamp {
    my @t = gmtime shift;
    return sprintf '%04d-%02d-%02d %02d:%02d:%02d', $t[5] + 1900, $t[4] + 1, @t[3, 2, 1, 0];
}

1;
