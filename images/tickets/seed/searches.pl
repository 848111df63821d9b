# Saved searches of the desk and two dashboards made of them.
use strict;
use warnings;

my $FORMAT = q{'<b><a href="__WebPath__/Ticket/Display.html?id=__id__">__id__</a></b>/TITLE:#', }
    . q{'<b><a href="__WebPath__/Ticket/Display.html?id=__id__">__Subject__</a></b>/TITLE:Subject', Status, QueueName, Owner, Priority, '__CustomField.{Impact}__', CreatedRelative};

sub make_searches {
    my ($root, $group, $ok) = @_;
    $Fixed::now = Time::Local::timegm(0, 0, 9, 1, 2, 2023);
    my @searches = (
        ['Unowned tickets', "Owner = 'Nobody' AND Status = '__Active__'", 'Created', 'ASC'],
        ['Waiting for an answer', "Status = 'stalled'", 'LastUpdated', 'ASC'],
        ['Everybody is affected', "'CF.{Impact}' = 'Everybody'", 'Created', 'DESC'],
        ['Open hardware', "Queue = 'Hardware' AND Status = '__Active__'", 'Priority', 'DESC'],
        ['Planned changes', "Queue = 'Network' AND Subject LIKE 'Change:'", 'id', 'DESC'],
        ['Overdue', "Due < 'now' AND Status = '__Active__'", 'Due', 'ASC'],
        ['Resolved this month', "Status = 'resolved' AND Resolved > '2023-06-01'", 'Resolved', 'DESC'],
    );
    my %id;
    for my $s (@searches) {
        my ($title, $query, $by, $order) = @$s;
        my $attribute = RT::Attribute->new($root);
        $ok->($id{$title} = ($attribute->Create(Object => $RT::System, Name => 'SavedSearch', Description => $title, Content => {
            SearchType => 'Ticket', Query => $query, Format => $FORMAT, OrderBy => $by, Order => $order, RowsPerPage => 25 }))[0]);
    }
    require RT::Dashboard;
    for (['Morning round', 'Unowned tickets', 'Everybody is affected', 'Overdue'], ['Network desk', 'Planned changes', 'Waiting for an answer', 'Open hardware']) {
        my ($title, @parts) = @$_;
        my $dashboard = RT::Dashboard->new($root);
        my @body = map { { portlet_type => 'search', id => $id{$_}, description => "Saved Search: $_", privacy => 'RT::System-1' } } @parts;
        $ok->($dashboard->Save(Name => $title, Privacy => 'RT::System-1', Panes => { body => \@body, sidebar => [] }));
    }
    $group->PrincipalObj->GrantRight(Right => $_, Object => $RT::System) for qw(SeeDashboard SubscribeDashboard);
}

1;
