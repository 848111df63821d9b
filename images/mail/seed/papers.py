"""The attachments: small PDF, CSV and text files, made from their names and a fixed seed."""

import random


def pdf(title, lines):
    """A one-page PDF with a heading and lines of text, written by hand so that its bytes never change."""
    def escape(text):
        return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")

    content = f"BT /F2 18 Tf 60 770 Td ({escape(title)}) Tj ET\n"
    content += "0.2 0.4 0.6 RG 60 758 m 535 758 l S\n"
    for i, line in enumerate(lines):
        content += f"BT /F1 11 Tf 60 {732 - 17 * i} Td ({escape(line)}) Tj ET\n"
    stream = content.encode("latin-1", "replace")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%sendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for i, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (i, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % o for o in offsets)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)


PDFS = {
    "CQ-1187-quotation.pdf": ("Quotation CQ-1187", [
        "Corvane Instruments, Quay Street 18, Port Ellery", "To: Ellery Levels Drainage Board", "12 May 2023, valid until 30 June 2023", "",
        "6  TG-200 tide gauge with radio        1,280.00     7,680.00", "   less 8 %                                         -614.40",
        "6  tall antenna CI-2217                   94.00       564.00", "   Total                                          7,629.60", "",
        "Option: calibration, three years in advance        1,944.00", "With the option the discount on the gauges is 10 %.",
        "Delivery: ten weeks after order."]),
    "fiskehallen-booking.pdf": ("Booking confirmation", [
        "Hotel Fiskehallen, Tromsund", "Reference FH-77120", "5 to 8 September 2023, three nights, two single rooms",
        "148.00 a room and night with breakfast", "Total 888.00, payable on departure", "Free cancellation until 22 August 2023"]),
    "may-summary.pdf": ("May 2023 in one page", [
        "Revenue              96,410    plan 92,700    +4.0 %", "Material             31,205    plan 30,900    +1.0 %",
        "Wages                38,860    plan 38,900    -0.1 %", "Other                11,940    plan 12,600    -5.2 %",
        "Result               14,405    plan 10,300", "", "The Northbank order came three weeks early.",
        "Not yet in: order 4472 (one housing to be replaced)."]),
    "invoice-20231.pdf": ("Invoice 20231", [
        "Corvane Instruments to Kestrel Pilotage", "26 April 2023, due 26 May 2023", "Your order: KP-882", "",
        "4  TG-200 tide gauge         1,280.00     5,120.00", "1  Display unit DU-7         1,720.00     1,720.00",
        "   Mounting, 9 hours            64.00       576.00", "   Total                                 7,416.00"]),
    "invoice-20231-corrected.pdf": ("Invoice 20231, corrected", [
        "Corvane Instruments to Kestrel Pilotage", "26 April 2023, due 26 May 2023", "Your order: KP-828 (corrected)", "",
        "4  TG-200 tide gauge         1,280.00     5,120.00", "1  Display unit DU-7         1,720.00     1,720.00",
        "   Mounting, 9 hours            64.00       576.00", "   Total                                 7,416.00"]),
    "delivery-times.pdf": ("Delivery times, January to May 2023", [
        "Average from order to delivery: 31 days (2022: 38 days)", "", "Waiting for cases      14 days", "Assembly                6 days",
        "Calibration             5 days", "Test                    4 days", "Packing and transport   2 days", "",
        "Proposal: keep forty cases in stock, cost 3,900, saves ten days."]),
    "policy-renewal-offer.pdf": ("Offer of renewal", [
        "Marine equipment policy ME-40117", "Insured: Corvane Instruments", "Period: 1 August 2023 to 31 July 2024",
        "Premium: 5,180.00 (last year 4,760.00)", "Claims in the period: buoy 7 (collision), buoy 9 (mooring)"]),
    "cleaning-contract.pdf": ("Cleaning contract", [
        "Bright Tide Cleaning and Corvane Instruments", "From 1 July 2023, price fixed until 31 December 2024",
        "Monthly 668.00", "Offices daily, workshop twice a week", "Windows inside and outside in April and October"]),
}

NOTES = """Logger firmware 4.2

New
- The correction watchdog restarts the client after ten minutes without data and raises an alarm.
- Reports carry the number of satellites used.

Changed
- The modem falls back to the slow band after three failed attempts instead of five.

Known
- Battery reads 0.1 V high until the first full charge.
- The first report after the update may be marked late.
"""


def csv(name):
    rng = random.Random(name)
    if name == "buoy14-fixes.csv":
        rows = ["time_utc,east_m,north_m,satellites,corrected"]
        for i in range(72):
            wrong = i >= 25
            rows.append(f"2023-05-{7 + i // 24:02d}T{i % 24:02d}:10,{rng.uniform(-.6, .6):.2f},"
                        f"{(40.3 if wrong else 0) + rng.uniform(-.7, .7):.2f},{rng.randrange(9, 14)},{'no' if wrong else 'yes'}")
    elif name == "stock-count-may.csv":
        rows = ["part,description,list,counted"]
        for part, what, n in [("CI-2001", "TG-200 case", 14), ("CI-2017", "TG-200 board", 22), ("CI-2140", "connector 5 pin", 61),
                              ("CI-2217", "tall antenna", 9), ("CI-2303", "battery pack", 17), ("CI-2410", "display DU-7", 5),
                              ("CI-2500", "mooring shackle", 48)]:
            rows.append(f"{part},{what},{n},{n + {'CI-2001': 1, 'CI-2140': -4}.get(part, 0)}")
    elif name == "order-book-june.csv":
        rows = ["customer,order,value,probability", "Ellery Levels Drainage Board,6 x TG-200,9573.60,90",
                "Kestrel Pilotage,second batch,5120.00,60", "Ellery University,wave buoy rental,2400.00,35",
                "Northbank Ferries,calibration,1310.00,80", "Marina Saltmarsh,display DU-7,1720.00,50"]
    elif name == "old-mole-april.csv":
        rows = ["time_utc,height_m"]
        for i in range(0, 720, 6):
            rows.append(f"2023-04-{1 + i // 24:02d}T{i % 24:02d}:00,{2.3 + 1.6 * rng.uniform(-1, 1):.2f}")
    elif name == "mooring-inspections-2022.csv":
        rows = ["buoy,date,diver,chain_mm,result"]
        for b in (7, 9, 11, 12, 13, 14, 15, 16):
            rows.append(f"{b},2022-06-{rng.randrange(7, 24):02d},{rng.choice(['Ahl', 'Moreau'])},{rng.uniform(15.1, 16.4):.1f},"
                        f"{'shackle replaced' if b in (9, 13) else 'good'}")
    else:
        raise KeyError(name)
    return "\n".join(rows) + "\n"


def paper(name):
    """The content of an attachment and its MIME type."""
    if name in PDFS:
        return pdf(*PDFS[name]), ("application", "pdf")
    if name.endswith(".csv"):
        return csv(name).encode(), ("text", "csv")
    return NOTES.encode(), ("text", "plain")
