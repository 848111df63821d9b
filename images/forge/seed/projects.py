"""The forge's people, groups and projects."""

PASSWORD = "hello1234"
PEOPLE = {
    "root": "Site Administrator", "byteblaze": "Byte Blaze", "alice": "Alice Thornton", "bram": "Bram de Wit",
    "chandra": "Chandra Rao", "dmitri": "Dmitri Volkov", "elif": "Elif Aydin", "fiona": "Fiona MacLeod",
    "gustavo": "Gustavo Prado", "hana": "Hana Kimura", "idris": "Idris Bello", "jonas": "Jonas Lindqvist",
    "katya": "Katya Marek", "lin": "Lin Zhao",
}
AUTHORS = [name for name in PEOPLE if name != "root"]
GROUPS = [
    ("harbour", "Harbour Tools", "Software for ports and shipping", ["byteblaze", "bram", "elif", "jonas"]),
    ("docs-team", "Documentation", "Writers and editors", ["alice", "fiona", "lin"]),
    ("infra", "Infrastructure", "Those who keep the machines running", ["dmitri", "idris", "root"]),
]
PROJECTS = [  # name, owner, description, language, modules, about how many changes
    ("tidewatch", "byteblaze", "Tide tables and water levels for small harbours", "py", "tables stations forecast export cli", 64),
    ("berthplan", "byteblaze", "Plans which ship lies at which berth", "py", "berths ships calendar conflicts web", 48),
    ("dotfiles", "byteblaze", "My shell and editor settings", "sh", "prompt aliases backup", 14),
    ("a11y-notes", "byteblaze", "Notes and checks for accessible web pages", "md", "contrast keyboard headings forms", 22),
    ("shoebox", "alice", "Keeps scanned receipts and finds them again", "py", "scan ocr search storage", 41),
    ("recipe-scaler", "alice", "Scales recipes and rounds sensibly", "js", "units round parser ui", 27),
    ("handbook", "alice", "The handbook for new contributors", "md", "welcome style reviews releases", 33),
    ("quernstone", "bram", "A small static site generator", "go", "render watch theme markdown", 52),
    ("windrose", "bram", "Draws wind roses from weather records", "py", "bins polar legend readers", 24),
    ("lanternfish", "chandra", "Search over plain text files", "go", "index query rank snippets", 45),
    ("copperwire", "chandra", "A message queue without a server", "go", "queue journal retry", 30),
    ("ledgerline", "dmitri", "Double-entry bookkeeping on the command line", "py", "accounts postings reports importer", 38),
    ("rackmap", "dmitri", "Where every machine stands and which cable goes where", "py", "racks cables labels", 19),
    ("portlights", "elif", "Controls harbour lights over a serial line", "c", "serial lamps timer", 26),
    ("manifest-lint", "elif", "Checks cargo manifests for mistakes", "py", "rules parser report", 23),
    ("glossary", "fiona", "Terms of the trade in five languages", "md", "english german spanish turkish", 21),
    ("kilnlog", "gustavo", "Logs the temperatures of a pottery kiln", "py", "sensor curve plot", 17),
    ("tramfinder", "gustavo", "Finds the next tram from where you stand", "js", "stops times map", 29),
    ("origami-diagrams", "hana", "Fold diagrams described as text", "js", "paper folds svg", 18),
    ("pocket-chess", "hana", "A chess engine that fits in a pocket", "c", "board moves search eval", 36),
    ("backup-herder", "idris", "Runs backups, checks them, and complains in time", "sh", "run verify notify", 25),
    ("statuspage", "idris", "A status page that works when nothing else does", "go", "probe history page", 20),
    ("birdcount", "jonas", "Counts birds at the feeder from a camera", "py", "frames species tally", 16),
    ("loomware", "katya", "Weaving drafts for table looms", "js", "draft tieup colours", 15),
    ("sundial", "lin", "Computes sundials for any wall", "py", "angles wall drawing", 22),
]
FORKS = [("quernstone", "byteblaze"), ("tidewatch", "alice"), ("lanternfish", "byteblaze"), ("pocket-chess", "lin"),
         ("berthplan", "jonas"), ("handbook", "fiona")]
MILESTONES = {"0.9": ("2023-05-01", False), "1.0": ("2023-07-31", True), "1.1": ("2023-10-15", True)}
TAGS = [
    ("bug", "Something is broken", "#c0392b"), ("feature", "Something is missing", "#2471a3"),
    ("docs", "About the documentation", "#7d6608"), ("good-first-issue", "Suitable for newcomers", "#1e8449"),
    ("question", "Wants an answer, not a change", "#76448a"),
]
