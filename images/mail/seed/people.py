"""Who writes to whom: the staff of Corvane Instruments, who have mailboxes here, and their correspondents outside."""

DOMAIN = "corvane.test"
PASSWORD = "quayside-2023"

# key: (full name, job title, telephone extension)
STAFF = {
    "emma": ("Emma Whitlock", "Head of Operations", "201"),
    "bob": ("Bob Tanner", "Sales", "214"),
    "priya": ("Priya Nair", "Head of Software and Test", "220"),
    "tomas": ("Tomas Lindgren", "Finance", "205"),
    "grace": ("Grace Okafor", "Office and People", "200"),
    "lena": ("Lena Brandt", "Workshop", "231"),
}

# key: (name, address, organisation, telephone)
OUTSIDE = {
    "marsh": ("Captain R. Marsh", "harbourmaster@portellery.test", "Port Ellery Harbour Office", "0411 5500"),
    "ortega": ("Helena Ortega", "h.ortega@levels-drainage.test", "Ellery Levels Drainage Board", "0411 7312"),
    "kestrel": ("Kestrel Accounts Payable", "accounts@kestrel-pilotage.test", "Kestrel Pilotage", "0411 6080"),
    "northbank": ("Ines Calder", "ines.calder@northbank-ferries.test", "Northbank Ferries", "0411 2290"),
    "university": ("Aldous Wray", "a.wray@ellery-university.test", "Ellery University", "0411 9000"),
    "broker": ("Sigrid Falk", "sigrid@falk-daughter.test", "Falk & Daughter", "0411 3141"),
    "port": ("Port Ellery Notices", "notices@portellery.test", "Port Ellery Harbour Office", "0411 5500"),
    "bank": ("Levant Bank", "statements@levantbank.test", "Levant Bank", "0411 8000"),
    "parcel": ("Ellery Parcel", "tracking@ellery-parcel.test", "Ellery Parcel", "0411 7700"),
    "lantern": ("The Lantern", "kitchen@lantern-oldharbour.test", "The Lantern", "0411 1864"),
    "review": ("The Ellery Review", "letters@elleryreview.test", "The Ellery Review", "0411 4400"),
    "millgate": ("Millgate Tools", "orders@millgate-tools.test", "Millgate Tools", "0411 6235"),
    "webform": ("Website enquiry", "enquiry@corvane.test", "Corvane Instruments", ""),
    "station": ("Buoy watch", "buoywatch@corvane.test", "Corvane Instruments", ""),
    "itdesk": ("IT Service Desk", "servicedesk@corvane.test", "Corvane Instruments", "240"),
}


def address(key):
    return f"{key}@{DOMAIN}" if key in STAFF else OUTSIDE[key][1]


def name(key):
    return STAFF[key][0] if key in STAFF else OUTSIDE[key][0]


def signature(key):
    full, title, extension = STAFF[key]
    return f"{full}\n{title}, Corvane Instruments\nQuay Street 18, Port Ellery - 0411 4180 {extension}"
