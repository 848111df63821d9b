# Leaves in the database only what repeats, and packs it.
use strict;
use warnings;
use DBI;

my $db = DBI->connect("dbi:SQLite:dbname=$ENV{RT_DATABASE}", '', '', { RaiseError => 1 });
$db->do("update Users set LastUpdated = Created, AuthToken = null");
$db->do("delete from sessions") if grep { /sessions/ } $db->tables;
$db->do(q{delete from Attributes where Name = 'UpgradeHistory'}); # carries random numbers
$db->do('vacuum');
