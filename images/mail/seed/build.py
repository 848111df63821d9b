"""Writes the golden state: a Maildir for each member of staff, and Roundcube's database with identities and contacts.

Usage: build.py SCHEMA.sql OUT. Every byte follows from the letters; Dovecot's list of message numbers is written here too,
so that the first log-in changes nothing.
"""

import datetime
import email.utils
import hashlib
import os
import random
import sqlite3
import sys
from email.message import EmailMessage
from email.policy import SMTP

from letters import everything
from papers import paper
from people import OUTSIDE, STAFF, address, name, signature

NOW = datetime.datetime(2023, 6, 15, 9, 0)
FOLDERS = {
    "harbour": "Projects/Harbour buoys", "sales": "Customers", "enquiries": "Customers/Enquiries", "finance": "Finance",
    "bank": "Finance/Statements", "board": "Finance", "people": "People", "applications": "People/Applications",
    "notices": "Newsletters", "lunch": "Newsletters", "watch": "Buoy watch", "meetings": "Meetings", "parcels": "Parcels",
}
SPECIAL = ["Drafts", "Sent", "Junk", "Trash", "Archive"]
JUNK = [
    ("Prize Department <winner@lucky-anchor.test>", "You have won a 40 foot yacht",
     "Dear winner,\n\nyour address was drawn. To receive the yacht, send the harbour fees of 900 in advance."),
    ("Account Safety <alert@levantbank-safety.test>", "Your account is closed at noon",
     "We noticed something. Press the button and enter everything you know."),
    ("Best Toner <deal@toner-today.test>", "Toner at 80 % off, today only", "All printers. All colours. No questions."),
]
DRAFTS = {
    "emma": ("harbourmaster@portellery.test", "Regatta: buoys 11 to 16", "Dear Captain Marsh,\n\nall but buoys 11 and 12 now carry the new software. The remaining two follow on"),
    "bob": ("h.ortega@levels-drainage.test", "Re: Quote for six tide gauges, Saltmarsh sluice", "Dear Helena,\n\nwe can deliver all six by 1 September. As to the crane,"),
    "priya": ("grace@corvane.test", "Desk for Daniel", "Hi Grace, could we turn the window desk by ninety degrees before he"),
    "tomas": ("sigrid@falk-daughter.test", "Inspections 2023", "Dear Ms Falk,\n\nthe divers finished on Wednesday. Please find"),
    "grace": ("all@corvane.test", "Summer party: who brings what", "Dear all,\n\nhere is the list so far:\n- extension lead: Emma\n- "),
    "lena": ("orders@millgate-tools.test", "PO-2317", "Hello, the compressor runs well, but the manual is for the"),
}


def render(number, letter, bcc=None):
    message = EmailMessage(policy=SMTP.clone(cte_type="8bit"))
    message["From"] = email.utils.formataddr((name(letter.sender), address(letter.sender)))
    message["To"] = ", ".join(email.utils.formataddr((name(k), address(k))) for k in letter.to)
    if letter.cc:
        message["Cc"] = ", ".join(email.utils.formataddr((name(k), address(k))) for k in letter.cc)
    message["Subject"] = letter.subject
    message["Date"] = letter.when.strftime("%a, %d %b %Y %H:%M:%S +0000")
    letter.id = f"<{letter.when:%Y%m%d%H%M}.{number}@{address(letter.sender).split('@')[1]}>"
    message["Message-ID"] = letter.id
    if letter.parent:
        chain, ancestor = [], letter.parent
        while ancestor:
            chain.insert(0, ancestor.id)
            ancestor = ancestor.parent
        message["In-Reply-To"] = letter.parent.id
        message["References"] = " ".join(chain)
    body = letter.body + "\n"
    if letter.parent and letter.parent.sender != letter.sender and number % 3:
        quoted = "\n".join("> " + line if line else ">" for line in letter.parent.body.split("\n"))
        body += f"\nOn {letter.parent.when:%d.%m.%Y} {name(letter.parent.sender)} wrote:\n\n{quoted}\n"
    message.set_content(body, charset="utf-8", cte="8bit")
    if letter.attach:
        data, (main, sub) = paper(letter.attach)
        message.add_attachment(data, maintype=main, subtype=sub, filename=letter.attach)
        message.set_boundary(f"=_corvane_{number:06d}")
    return message.as_bytes()


class Mailbox:
    """One user's Maildir: files collected by folder, written in order of arrival."""

    def __init__(self, root):
        self.root, self.folders = root, {"INBOX": []}
        for folder in SPECIAL:
            self.folders[folder] = []

    def add(self, folder, when, number, data, flags):
        while "/" in folder and folder.rsplit("/", 1)[0] not in self.folders:
            self.folders[folder.rsplit("/", 1)[0]] = []
        self.folders.setdefault(folder, []).append((when, number, data, flags))

    def write(self):
        for folder, entries in sorted(self.folders.items()):
            path = self.root if folder == "INBOX" else os.path.join(self.root, "." + folder.replace("/", "."))
            for sub in ("cur", "new", "tmp"):
                os.makedirs(os.path.join(path, sub))
            if folder != "INBOX":
                open(os.path.join(path, "maildirfolder"), "w").close()
            listing = []
            for uid, (when, number, data, flags) in enumerate(sorted(entries, key=lambda e: e[:2]), 1):
                epoch = int(when.replace(tzinfo=datetime.timezone.utc).timestamp())
                base = f"{epoch}.M{number:06d}P1.corvane,S={len(data)}"
                target = os.path.join(path, "cur", f"{base}:2,{flags}")
                with open(target, "wb") as out:
                    out.write(data)
                os.utime(target, (epoch, epoch))
                listing.append(f"{uid} :{base}\n")
            guid = hashlib.md5((self.root.rsplit("/", 1)[-1] + folder).encode()).hexdigest()
            with open(os.path.join(path, "dovecot-uidlist"), "w") as out:
                out.write(f"3 V1686819600 N{len(listing) + 1} G{guid}\n" + "".join(listing))
        with open(os.path.join(self.root, "subscriptions"), "w") as out:
            out.write("V\t2\n\n" + "".join(f.replace("/", "\t") + "\n" for f in sorted(self.folders) if f != "INBOX"))


def write_mail(out):
    rng = random.Random("flags")
    boxes = {k: Mailbox(f"{out}/mail/{k}") for k in STAFF}
    letters = everything()
    answered = {(l.sender, id(l.parent)) for l in letters if l.parent}
    for number, letter in enumerate(letters, 1):
        data = render(number, letter)
        for user in sorted(set(letter.to + letter.cc) & set(STAFF)):
            age = (NOW - letter.when).days
            folder = FOLDERS.get(letter.tag) if age > 9 or letter.tag in ("watch", "notices", "parcels") else None
            if folder is None and age > 25:
                folder = "Archive"
            flags = "F" if rng.random() < 0.07 else ""
            flags += "R" if (user, id(letter)) in answered else ""
            flags += "S" if age >= 2 or (user, id(letter)) in answered or rng.random() < 0.25 else ""
            boxes[user].add(folder or "INBOX", letter.when, number, data, flags)
        if letter.sender in STAFF:
            boxes[letter.sender].add("Sent", letter.when, number, data, "S")
    for user in STAFF:
        for i, (sender, subject, body) in enumerate(JUNK):
            when = NOW - datetime.timedelta(days=3 * i + 1, hours=5 + i, minutes=len(user) * 7)
            boxes[user].add("Junk", when, 9000 + i, plain(sender, address(user), subject, when, body, 9000 + i), "S" if i else "")
        to, subject, body = DRAFTS[user]
        when = NOW - datetime.timedelta(hours=16, minutes=len(body))
        sender = email.utils.formataddr((name(user), address(user)))
        boxes[user].add("Drafts", when, 9100, plain(sender, to, subject, when, body, 9100), "DS")
        boxes[user].write()


def plain(sender, to, subject, when, body, number):
    message = EmailMessage(policy=SMTP.clone(cte_type="8bit"))
    message["From"], message["To"], message["Subject"] = sender, to, subject
    message["Date"] = when.strftime("%a, %d %b %Y %H:%M:%S +0000")
    message["Message-ID"] = f"<{when:%Y%m%d%H%M}.{number}@corvane.test>"
    message.set_content(body + "\n", charset="utf-8", cte="8bit")
    return message.as_bytes()


def write_database(schema, out):
    db = sqlite3.connect(f"{out}/roundcube.db")
    db.executescript(open(schema).read())
    stamp = "2023-05-01 08:00:00"
    for uid, user in enumerate(STAFF, 1):
        db.execute("insert into users (user_id, username, mail_host, created, language, preferences) values (?, ?, '127.0.0.1', ?, 'en_US', '')",
                   (uid, address(user), stamp))
        db.execute('insert into identities (user_id, changed, standard, name, organization, email, "reply-to", bcc, signature) '
                   "values (?, ?, 1, ?, 'Corvane Instruments', ?, '', '', ?)", (uid, stamp, STAFF[user][0], address(user), signature(user)))
        cards = [(k, name(k), address(k), "Corvane Instruments", "0411 4180 " + STAFF[k][2]) for k in STAFF if k != user]
        cards += [(k, name(k), address(k), OUTSIDE[k][2], OUTSIDE[k][3]) for k in OUTSIDE if k not in ("webform", "station", "port")]
        ids = {}
        for key, full, mail, firm, phone in cards:
            first, _, last = full.rpartition(" ")
            vcard = (f"BEGIN:VCARD\r\nVERSION:3.0\r\nN:{last};{first};;;\r\nFN:{full}\r\nEMAIL;TYPE=INTERNET;TYPE=WORK:{mail}\r\n"
                     f"ORG:{firm}\r\nTEL;TYPE=work:{phone}\r\nEND:VCARD")
            words = " " + " ".join(sorted(set(f"{full} {mail} {firm}".lower().replace("@", " ").replace(".", " ").split()))) + " "
            ids[key] = db.execute("insert into contacts (user_id, changed, name, email, firstname, surname, vcard, words) values (?,?,?,?,?,?,?,?)",
                                  (uid, stamp, full, mail, first, last, vcard, words)).lastrowid
        for title, members in (("Colleagues", [k for k in STAFF if k != user]), ("Customers", ["marsh", "ortega", "kestrel", "northbank", "university"])):
            group = db.execute("insert into contactgroups (user_id, changed, name) values (?, ?, ?)", (uid, stamp, title)).lastrowid
            for key in members:
                db.execute("insert into contactgroupmembers (contactgroup_id, contact_id, created) values (?, ?, ?)", (group, ids[key], stamp))
    db.commit()
    db.execute("vacuum")
    db.close()


if __name__ == "__main__":
    os.umask(0)
    write_mail(sys.argv[2])
    write_database(sys.argv[1], sys.argv[2])
