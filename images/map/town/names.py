"""Words of the town: districts with their streets, and what stands in them."""

# District: (column, row of its middle, postcode, street names)
DISTRICTS = {
    "Old Harbour": (9, 2, "PE1 1", "Quay Street;Cooper's Lane;Net Loft Row;Anchor Alley;Customs Passage;Ropewalk;Fish Street;Pilot's Steps;Chandler Street;Lantern Lane;Herring Row;Mast Yard"),
    "Castle Hill": (8, 10, "PE1 2", "Castle Hill;Gatehouse Lane;Moat Street;Bailey Road;Keep View;St Brannoc's Row;Bell Street;Almshouse Lane;Garrison Road;Portcullis Way;Steep Street;Wall Walk"),
    "Station Quarter": (18, 8, "PE2 1", "Station Street;Goods Lane;Signal Road;Tram Shed Street;Platform Row;Engine Street;Corn Exchange Square;Carriage Road;Junction Street;Timetable Lane;Market Street;Sidings Way"),
    "Millgate": (18, 2, "PE2 3", "Millgate;Tide Mill Lane;Flour Street;Sack Lane;Miller's Row;Weir Street;Granary Road;Grist Lane;Wheel Street;Barley Row;Sluice Road;Bridge Street"),
    "Priory Park": (6, 19, "PE3 1", "Priory Road;Abbot's Walk;Cloister Street;Orchard Road;Boathouse Lane;Herb Garden Row;Chapter Street;Pilgrim Road;Vesper Lane;Beech Avenue;Linden Avenue;Plane Tree Road"),
    "Eastfield": (19, 19, "PE4 2", "Eastfield Road;Barn Lane;Harvest Street;Meadow Way;Skylark Road;Hedge Row;Plough Street;Clover Road;Haywain Lane;Furrow Street;Windmill Road;Orchard End"),
    "Northbank": (31, 14, "PE5 1", "Northbank Road;Ferry Street;Pier Lane;Shipyard Road;Slipway Street;Rivet Row;Crane Street;Launch Road;Keel Lane;Dock View;Hawser Street;Capstan Road"),
    "Saltmarsh": (31, 3, "PE5 4", "Marsh Road;Heron Way;Samphire Lane;Reed Street;Curlew Road;Tern Close;Sea Wall Road;Plover Street;Eel Lane;Avocet Way;Dyke Road;Lapwing Row"),
}

# kind: (how many, key=value in the manner of maps, names)
KINDS = {
    "Cafe": (44, "amenity", "The {adj} Cup;{person}'s Coffee;Cafe {noun};{noun} and Crumb;The {noun} Tearoom"),
    "Restaurant": (48, "amenity", "The {adj} {noun};{person}'s Table;Kitchen {noun};{noun} House;Trattoria {person};Golden {noun}"),
    "Pub": (30, "amenity", "The {adj} {noun};The {noun} and {noun2};The {noun} Inn"),
    "Fast food": (24, "amenity", "{noun} Chips;{person}'s Kebab;Burger {noun};Noodle {noun}"),
    "Bakery": (22, "shop", "{person}'s Bakery;{noun} Bread;The {adj} Loaf"),
    "Supermarket": (16, "shop", "Tidewell Market {district};Kestrel Foods {district};Penny Basket {district}"),
    "Convenience store": (26, "shop", "{person}'s Corner;{street} Stores;Late {noun}"),
    "Clothes shop": (18, "shop", "{noun} and Thread;The {adj} Coat;{person} Tailors"),
    "Bookshop": (8, "shop", "{noun} Books;The {adj} Page;{person} and Daughter, Books"),
    "Bicycle shop": (9, "shop", "{noun} Cycles;{person}'s Wheels"),
    "Hairdresser": (22, "shop", "{person}'s Hair;The {adj} Comb;Shear {noun}"),
    "Hardware shop": (9, "shop", "{person} Tools;{noun} Ironmongers"),
    "Pharmacy": (15, "amenity", "{district} Pharmacy;{noun} Pharmacy;{person}'s Chemist"),
    "Doctor": (14, "amenity", "Dr {person}'s Practice;{district} Surgery"),
    "Dentist": (12, "amenity", "{street} Dental Practice;Dr {person}, Dentist"),
    "Bank": (12, "amenity", "Levant Bank {district};Harbour Savings {district}"),
    "Post office": (7, "amenity", "Post Office {district}"),
    "School": (15, "amenity", "{district} Primary School;St {person}'s School;{noun} Grammar School"),
    "Kindergarten": (10, "amenity", "Little {noun} Kindergarten;{noun} Nursery"),
    "Church": (12, "amenity", "St {person}'s Church;{district} Chapel"),
    "Hotel": (18, "tourism", "Hotel {noun};The {adj} {noun} Hotel;{noun} Guest House"),
    "Museum": (7, "tourism", "Museum of the {noun};{noun} House Museum"),
    "Gallery": (8, "tourism", "{noun} Gallery;Gallery {person}"),
    "Playground": (16, "leisure", "{street} Playground"),
    "Gym": (9, "leisure", "{noun} Gym;Boxing Club {district}"),
    "Car park": (20, "amenity", "{street} Car Park"),
    "Petrol station": (8, "amenity", "{noun} Fuel {district}"),
    "Bus stop": (90, "highway", "{street}"),
    "Bicycle rental": (12, "amenity", "Ellery Bikes {street}"),
    "Cash machine": (16, "amenity", "Levant Bank cash machine;Harbour Savings cash machine"),
    "Toilets": (10, "amenity", "Public toilets {street}"),
}
ADJECTIVES = "Blue;Crooked;Quiet;Old;Salty;Golden;Merry;Lucky;Brass;Early;Last;Wooden;Green;Idle;Northern".split(";")
NOUNS = "Anchor;Heron;Compass;Mermaid;Lantern;Barrel;Gull;Oyster;Sextant;Tide;Swan;Plough;Harp;Cormorant;Beacon;Crown;Otter;Mackerel;Galleon;Pear Tree".split(";")
PEOPLE = "Abara;Benoit;Calder;Dahl;Ferrier;Hale;Kovac;Langley;Merrow;Novak;Okafor;Pike;Ruiz;Strand;Voss;Wren;Amin;Cole;Holt;Mensah".split(";")

# Places that everybody knows: name, kind, district, column, row, street or None, number or None
LANDMARKS = [
    ("The Lantern", "Restaurant", "Old Harbour", "Cooper's Lane", 14), ("Customs House", "Museum", "Old Harbour", "Quay Street", 2),
    ("Corvane Instruments", "Company", "Old Harbour", "Quay Street", 18), ("The Ellery Review", "Newspaper office", "Old Harbour", "Net Loft Row", 3),
    ("Ferry Steps", "Ferry terminal", "Old Harbour", "Pilot's Steps", 1), ("Harbour Office", "Public office", "Old Harbour", "Quay Street", 40),
    ("Port Ellery Castle", "Castle", "Castle Hill", "Castle Hill", 1), ("St Brannoc's Church", "Church", "Castle Hill", "St Brannoc's Row", 5),
    ("Town Library", "Library", "Castle Hill", "Bell Street", 9), ("Town Hall", "Town hall", "Castle Hill", "Gatehouse Lane", 4),
    ("Port Ellery Station", "Railway station", "Station Quarter", "Station Street", 1), ("Corn Exchange", "Market hall", "Station Quarter", "Corn Exchange Square", 6),
    ("Lighthouse Players", "Theatre", "Station Quarter", "Station Street", 22), ("Tram Shed Museum", "Museum", "Station Quarter", "Tram Shed Street", 8),
    ("Tide Mill", "Museum", "Millgate", "Tide Mill Lane", 2), ("Millgate Tools", "Hardware shop", "Millgate", "Granary Road", 11),
    ("Priory Park Boathouse", "Event hall", "Priory Park", "Boathouse Lane", 2), ("Ellery University", "University", "Priory Park", "Chapter Street", 1),
    ("Ellery General Hospital", "Hospital", "Eastfield", "Eastfield Road", 30), ("Eastfield Arms", "Pub", "Eastfield", "Barn Lane", 7),
    ("Northbank Ferries", "Ferry terminal", "Northbank", "Ferry Street", 1), ("Northbank Shipyard", "Company", "Northbank", "Shipyard Road", 3),
    ("Saltmarsh Sluice", "Sluice", "Saltmarsh", "Sea Wall Road", 1), ("Marsh Visitor Centre", "Museum", "Saltmarsh", "Heron Way", 6),
]
