"""The shop's customers, their addresses, and its staff."""
import hashlib

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from oscar.core.loading import get_model

User = get_user_model()
Country, UserAddress = get_model("address", "Country"), get_model("address", "UserAddress")

COUNTRIES = {"US": ("USA", "840", "United States"), "CA": ("CAN", "124", "Canada"), "GB": ("GBR", "826", "United Kingdom")}
FIRST = ("Olivia Noah Amelia Liam Sofia Ethan Maya Lucas Chloe Daniel Grace Samuel Nora Isaac Hannah Julian Alice Victor "
         "Priya Omar Ingrid Mateo Yuki Farah Diego Leah Kwame Elena Marcus Tessa Rahul Bianca Owen Zoe Felix Nadia").split()
LAST = ("Bennett Carver Delgado Ekholm Fischer Grant Hussain Ibarra Jansen Keller Larsen Moreau Nakamura Okafor Petrov "
        "Quinn Rossi Silva Tanaka Underwood Vance Whitfield Xu Young Zimmerman Abbott Brandt Castillo Doyle Frost").split()
STREETS = "Maple Juniper Harbor Mill Chestnut Orchard Prospect Willow Church Lake Cedar Station Hillcrest Park".split()
TOWNS = [("Portland", "OR", "97205"), ("Madison", "WI", "53703"), ("Burlington", "VT", "05401"), ("Savannah", "GA", "31401"),
         ("Boulder", "CO", "80302"), ("Ithaca", "NY", "14850"), ("Asheville", "NC", "28801"), ("Duluth", "MN", "55802"),
         ("Santa Fe", "NM", "87501"), ("Bellingham", "WA", "98225"), ("Ann Arbor", "MI", "48104"), ("Pittsburgh", "PA", "15213")]
KNOWN = [("emma.lopez@gmail.com", "Password.123", "Emma", "Lopez"), ("james.baker@example.com", "Password.123", "James", "Baker"),
         ("aisha.khan@example.com", "Password.123", "Aisha", "Khan")]
STAFF = [("admin@example.com", "admin1234", "Robin", "Ashby", True), ("orders@example.com", "orders1234", "Dana", "Whitlock", True)]


def hashed(email, password):
    """A hash with a salt of its own that is the same in every build, long enough never to be renewed at a log-in."""
    return make_password(password, salt=hashlib.sha256(email.encode()).hexdigest()[:32])


def address(rng, user, first, last):
    town, state, postcode = rng.choice(TOWNS)
    return {"first_name": first, "last_name": last, "line1": f"{rng.randint(2, 980)} {rng.choice(STREETS)} "
            f"{rng.choice(['Street', 'Avenue', 'Road', 'Lane'])}", "line4": town, "state": state, "postcode": postcode,
            "country_id": "US", "phone_number": f"+1412555{rng.randint(100, 999):04d}"}


def create(rng, moment):
    """Makes everybody, each registered on a day of their own; returns the customers with their address."""
    for code, (three, number, name) in COUNTRIES.items():
        Country.objects.create(iso_3166_1_a2=code, iso_3166_1_a3=three, iso_3166_1_numeric=number, printable_name=name,
                               name=name, is_shipping_country=True)
    moment(530)
    for email, password, first, last, boss in STAFF:
        User.objects.create(username=email, email=email, password=hashed(email, password), first_name=first,
                            last_name=last, is_staff=True, is_superuser=boss)
    wanted = list(KNOWN)
    seen = {email for email, *_ in wanted}
    while len(wanted) < 240:
        first, last = rng.choice(FIRST), rng.choice(LAST)
        email = f"{first}.{last}@{rng.choice(['example.com', 'mail.example', 'post.example'])}".lower()
        if email not in seen:
            seen.add(email)
            wanted.append((email, "customer1234", first, last))
    customers = []
    for (email, password, first, last), age in zip(wanted, sorted((rng.uniform(20, 520) for _ in wanted), reverse=True)):
        moment(age)
        user = User.objects.create(username=email, email=email, password=hashed(email, password), first_name=first,
                                   last_name=last)
        home = address(rng, user, first, last)
        UserAddress.objects.create(user=user, is_default_for_shipping=True, is_default_for_billing=True, **home)
        customers.append((user, home, age))
    return customers
