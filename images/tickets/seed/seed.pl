# Fills RT with the service desk of Corvane Instruments: people, queues, fields, articles, assets, and two hundred tickets.
use strict;
use warnings;
use lib '/build';
use Fixed;
use lib '/usr/share/request-tracker5/lib';
use RT -init;
use RT::Interface::Email;
use Time::Local qw(timegm);

{
    no warnings 'redefine';
    my $number = 0;
    *RT::Interface::Email::GenMessageId = sub { return sprintf '<ticket-%06d@corvane.test>', ++$number };
}

my $root = RT::CurrentUser->new(RT->SystemUser);
$root->Load('root');
my $PASSWORD = 'quayside-2023';

sub ok {
    my ($id, @rest) = @_;
    die "failed: @rest" unless $id;
    return $id;
}

sub blocks {
    my $file = shift;
    open my $in, '<:encoding(UTF-8)', "/build/$file" or die "$file: $!";
    local $/;
    my @blocks = split /^## /m, <$in>;
    shift @blocks;
    return map { my ($head, $body) = split /\n/, $_, 2; [[split / \| /, $head], $body] } @blocks;
}

# --- people -----------------------------------------------------------------------------------------------------------
my @STAFF = (
    [emma => 'Emma Whitlock', 'Head of Operations'], [bob => 'Bob Tanner', 'Sales'], [priya => 'Priya Nair', 'Software and Test'],
    [tomas => 'Tomas Lindgren', 'Finance'], [grace => 'Grace Okafor', 'Office and People'], [lena => 'Lena Brandt', 'Workshop'],
    [kofi => 'Kofi Mensah', 'Workshop'], [anja => 'Anja Ziegler', 'Sales'], [sven => 'Sven Aalto', 'Boat crew'], [marta => 'Marta Ruiz', 'Software and Test'],
);
my @DESK = ([noor => 'Noor Haddad', 'Service desk lead'], [felix => 'Felix Moreau', 'Service desk'], [jonas => 'Jonas Hale', 'Networks'], [mira => 'Mira Kovac', 'Accounts']);
my %name;
for (@STAFF, @DESK) {
    my ($login, $full, $title) = @$_;
    my $user = RT::User->new($root);
    my $desk = grep { $_->[0] eq $login } @DESK;
    ok($user->Create(Name => $login, RealName => $full, EmailAddress => "$login\@corvane.test", Organization => 'Corvane Instruments',
        Comments => $title, Privileged => 1, Password => $PASSWORD, WorkPhone => $desk ? '240' : '200', Timezone => 'UTC'));
    $name{$login} = $full;
}
$root->UserObj->SetPassword($PASSWORD);
$root->UserObj->SetRealName('Desk Administrator');
my %group;
for (['Service Desk Agents', map { $_->[0] } @DESK], ['Network Team', 'jonas', 'noor'], ['Staff', map { $_->[0] } @STAFF], ['Managers', qw(emma tomas noor)]) {
    my ($title, @members) = @$_;
    my $g = $group{$title} = RT::Group->new($root);
    ok($g->CreateUserDefinedGroup(Name => $title, Description => "$title of Corvane Instruments"));
    for (@members) { my $u = RT::User->new($root); $u->Load($_); ok($g->AddMember($u->PrincipalId)) }
}

# --- rights: the desk works on everything, staff see and write to their own ---------------------------------------------
for my $right (qw(SeeQueue ShowTicket CreateTicket ReplyToTicket CommentOnTicket ModifyTicket OwnTicket TakeTicket StealTicket AssignCustomFields
    ShowTicketComments WatchAsAdminCc SeeCustomField ModifyCustomField ShowArticle SeeClass CreateArticle ModifyArticle ShowAsset CreateAsset ModifyAsset
    ShowCatalog LoadSavedSearch CreateSavedSearch EditSavedSearches ShowSavedSearches SeeDashboard CreateOwnDashboard ModifyOwnDashboard SeeOwnDashboard
    SeeGroup SeeGroupDashboard ModifySelf ShowConfigTab ReassignTicket)) {
    $group{'Service Desk Agents'}->PrincipalObj->GrantRight(Right => $right, Object => $RT::System);
}
for my $right (qw(SeeQueue CreateTicket ReplyToTicket ShowTicket SeeCustomField ModifyCustomField SetInitialCustomField ShowArticle SeeClass ModifySelf)) {
    $group{Staff}->PrincipalObj->GrantRight(Right => $right, Object => $RT::System);
}

# --- no post leaves the house ---------------------------------------------------------------------------------------------
my $scrips = RT::Scrips->new($root);
$scrips->UnLimit;
while (my $scrip = $scrips->Next) {
    $scrip->SetDisabled(1) if $scrip->ActionObj->Name =~ /Notify|Autoreply|Forward/;
}

# --- queues and fields ------------------------------------------------------------------------------------------------------
my %queue;
my $general = RT::Queue->new($root);
$general->Load('General');
$general->SetName('Service Desk');
$general->SetDescription('Questions and everything that has no better place');
for (['Hardware', 'Machines, screens, printers'], ['Network', 'Lines, wireless, planned changes'], ['Accounts', 'People, passwords, rights'],
    ['Software', 'Programs, licences, mail'], ['Purchasing', 'Things to be ordered']) {
    my $q = RT::Queue->new($root);
    ok($q->Create(Name => $_->[0], Description => $_->[1], CorrespondAddress => lc($_->[0]) . '@corvane.test', SLADisabled => 1));
}
for ('Service Desk', 'Hardware', 'Network', 'Accounts', 'Software', 'Purchasing') { $queue{$_} = RT::Queue->new($root); $queue{$_}->Load($_) }

sub field {
    my ($title, $type, $object, $lookup, @values) = @_;
    my $cf = RT::CustomField->new($root);
    my ($kind, $max) = $type =~ /^(\w+?)(Single)?$/;
    ok($cf->Create(Name => $title, Type => $kind, MaxValues => 1, LookupType => $lookup, ($kind eq 'Select' ? (RenderType => 'Dropdown') : ())));
    my $order = 0;
    ok($cf->AddValue(Name => $_, SortOrder => ++$order)) for @values;
    ok($cf->AddToObject($object));
    return $cf;
}
my $T = RT::Ticket->CustomFieldLookupType;
my %cf = (
    impact => field('Impact', 'Select', RT::Queue->new($root), $T, 'One person', 'A team', 'Everybody'),
    place  => field('Location', 'Freeform', RT::Queue->new($root), $T),
    cause  => field('Root cause', 'Select', RT::Queue->new($root), $T, 'Wear', 'Wrong setting', 'Fault of a supplier', 'Missing explanation', 'Unknown'),
);

# --- knowledge base -----------------------------------------------------------------------------------------------------------
my $class = RT::Class->new($root);
$class->Load('General');
$class->SetName('Knowledge base');
my $content = RT::CustomField->new($root);
$content->LoadByCols(Name => 'Content', LookupType => RT::Article->CustomFieldLookupType);
my $day = 0;
for (blocks('articles.txt')) {
    my ($head, $body) = @$_;
    $Fixed::now = timegm(0, 20, 9, 16, 0, 2023) + 3 * 86400 * $day++;
    my $article = RT::Article->new($root);
    $body =~ s/\s+$//;
    ok($article->Create(Name => $head->[0], Summary => "$head->[1]: " . (split /[.\n]/, $body)[0], Class => $class->Id, 'CustomField-' . $content->Id => $body));
}

require "/build/assets.pl";
require "/build/tickets.pl";
require "/build/searches.pl";
make_assets($root, \%name, \&field, \&ok);
make_tickets($root, \%queue, \%cf, \%name, [map { $_->[0] } @STAFF], \&ok, \&blocks);
make_searches($root, $group{'Service Desk Agents'}, \&ok);
