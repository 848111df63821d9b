# What the house owns: laptops, screens, printers and the network's boxes, each with its holder and number.
use strict;
use warnings;

sub make_assets {
    my ($root, $name, $field, $ok) = @_;
    my $catalog = RT::Catalog->new($root);
    $catalog->Load('General assets');
    $catalog->SetName('Equipment');
    my $type  = RT::Asset->CustomFieldLookupType;
    my %cf = (
        model  => $field->('Model', 'Freeform', RT::Catalog->new($root), $type),
        serial => $field->('Serial number', 'Freeform', RT::Catalog->new($root), $type),
        kind   => $field->('Kind', 'Select', RT::Catalog->new($root), $type, 'Laptop', 'Screen', 'Printer', 'Network', 'Bench computer', 'Tablet'),
        bought => $field->('Bought', 'Freeform', RT::Catalog->new($root), $type),
    );
    my @people = sort keys %$name;
    my @makes = (
        ['Laptop', 'LT', 'Kestra 14', 'Kestra 15 Pro', 'Oryx U3'], ['Screen', 'SC', 'Lumen 24', 'Lumen 27'], ['Printer', 'PR', 'Quill 400', 'Quill 610 Colour'],
        ['Network', 'NW', 'Switch N24', 'Access point A6'], ['Bench computer', 'BC', 'Box 8'], ['Tablet', 'TB', 'Slate 10 rugged'],
    );
    my %count = (Laptop => 20, Screen => 18, Printer => 5, Network => 9, 'Bench computer' => 6, Tablet => 6);
    for my $make (@makes) {
        my ($kind, $prefix, @models) = @$make;
        for my $n (1 .. $count{$kind}) {
            my $year = 2019 + Fixed::draw(4);
            $Fixed::now = Time::Local::timegm(0, 0, 10, 1 + Fixed::draw(27), Fixed::draw(5), 2023);
            my $holder = $people[($n * 5 + length $kind) % @people];
            my $asset = RT::Asset->new($root);
            my $status = $n % 9 == 0 ? 'recycled' : $n % 7 == 0 ? 'stolen' : 'in-use';
            $status = 'in-use' if $status eq 'stolen' && $kind ne 'Tablet';
            my $personal = $kind =~ /Laptop|Screen|Tablet/;
            my $model = Fixed::pick(@models);
            $ok->($asset->Create(
                Name => sprintf('%s-%03d', $prefix, $n), Description => $personal ? "$kind $model of $name->{$holder}" : "$kind $model",
                Catalog => $catalog->Id, Status => 'in-use', ($personal ? (HeldBy => $holder) : ()),
                'CustomField-' . $cf{model}->Id => $model, 'CustomField-' . $cf{kind}->Id => $kind,
                'CustomField-' . $cf{serial}->Id => sprintf('%s%04d-%05d', substr(uc $kind, 0, 2), $year, 10007 + 313 * $n + length $model),
                'CustomField-' . $cf{bought}->Id => sprintf('%d-%02d-%02d', $year, 1 + Fixed::draw(12), 1 + Fixed::draw(28)),
            ));
            $ok->($asset->SetStatus($status)) if $status ne 'in-use';
        }
    }
}

1;
