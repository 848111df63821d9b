# RT behind a proxy: the address of a request is what its Host and X-Forwarded-Proto say, whatever port we listen on.
use strict;
use warnings;

my $rt = do '/usr/share/request-tracker5/libexec/rt-server' or die "no application: $@ $!";
sub {
    my $env = shift;
    my $secure = ($env->{HTTP_X_FORWARDED_PROTO} // '') eq 'https';
    my ($port) = ($env->{HTTP_HOST} // '') =~ /:(\d+)$/;
    $env->{SERVER_PORT} = $port // ($secure ? 443 : 80);
    $env->{'psgi.url_scheme'} = $secure ? 'https' : 'http';
    $env->{HTTPS} = 'on' if $secure;
    return $rt->($env);
};
