"""Offers, vouchers and the orders of a year and a half, placed through the application's own checkout code."""
from datetime import timedelta
from decimal import Decimal

from django.utils.timezone import now
from oscar.core.loading import get_class, get_model
from oscar.core.prices import Price

Basket, Order = get_model("basket", "Basket"), get_model("order", "Order")
OrderNote, ShippingAddress = get_model("order", "OrderNote"), get_model("order", "ShippingAddress")
BillingAddress, Country = get_model("order", "BillingAddress"), get_model("address", "Country")
ShippingEvent, ShippingEventType = get_model("order", "ShippingEvent"), get_model("order", "ShippingEventType")
Source, SourceType = get_model("payment", "Source"), get_model("payment", "SourceType")
Range, Offer = get_model("offer", "Range"), get_model("offer", "ConditionalOffer")
Condition, Benefit = get_model("offer", "Condition"), get_model("offer", "Benefit")
Voucher, Category = get_model("voucher", "Voucher"), get_model("catalogue", "Category")
WishList, Line = get_model("wishlists", "WishList"), get_model("wishlists", "Line")
Applicator, Creator = get_class("offer.applicator", "Applicator"), get_class("order.utils", "OrderCreator")
Selector, Free = get_class("partner.strategy", "Selector"), get_class("shipping.methods", "Free")
Calculator = get_class("checkout.calculators", "OrderTotalCalculator")

VOUCHERS = [  # code, name, percent off, range, first and last day counted from now, usage
    ("WELCOME10", "Welcome: 10 % off", 10, "Everything", -500, 400, "Once per customer"),
    ("TEATIME", "15 % off tea", 15, "Tea", -200, 200, "Multi-use"),
    ("SPRING23", "Spring 2023: 20 % off garden", 20, "Garden", -100, -15, "Multi-use"),
    ("BOOKWORM", "Four for the shelf: 12 % off books", 12, "Books", -300, 90, "Multi-use"),
    ("SORRY5", "With our apologies: 5 % off", 5, "Everything", -400, 300, "Single use"),
]
OFFERS = [  # name, description, range, condition, value, benefit, value
    ("Three teas for two", "Buy three teas and the cheapest is free.", "Tea", "Count", 3, "Multibuy", None),
    ("Knitwear week", "10 % off every jumper and cardigan.", "Knitwear", "Count", 1, "Percentage", 10),
    ("$25 off from $300", "Spend $300 on anything and save $25.", "Everything", "Value", 300, "Absolute", 25),
]
NOTES = ["Customer asked for delivery before noon.", "Parcel returned once, address confirmed by telephone.",
         "Please gift-wrap the smaller item.", "Neighbour may sign.", "Refund discussed; customer keeps the order.",
         "Wrong colour picked first, corrected before dispatch."]


def ranges():
    made = {"Everything": Range.objects.create(name="Everything", includes_all_products=True, is_public=False)}
    for name in ("Tea", "Knitwear", "Garden", "Books"):
        made[name] = Range.objects.create(name=name, is_public=True, description=f"All of {name.lower()}.")
        made[name].included_categories.add(Category.objects.filter(name=name).first())
    return made


def bargains():
    made = ranges()
    for number, (name, about, where, condition, least, benefit, value) in enumerate(OFFERS):
        Offer.objects.create(
            name=name, description=f"<p>{about}</p>", offer_type=Offer.SITE, priority=10 - number, exclusive=False,
            condition=Condition.objects.create(range=made[where], type=condition, value=least),
            benefit=Benefit.objects.create(range=made[where], type=benefit, value=value))
    for code, name, percent, where, first, last, usage in VOUCHERS:
        voucher = Voucher.objects.create(code=code, name=name, usage=usage, start_datetime=now() + timedelta(first),
                                         end_datetime=now() + timedelta(last))
        voucher.offers.add(Offer.objects.create(
            name=f"Voucher {code}", offer_type=Offer.VOUCHER, exclusive=False,
            condition=Condition.objects.create(range=made[where], type="Count", value=1),
            benefit=Benefit.objects.create(range=made[where], type="Percentage", value=percent)))


def place(rng, user, home, products):
    basket = Basket.objects.create(owner=user)
    basket.strategy = Selector().strategy()
    for product, _ in rng.sample(products, rng.choice([1, 1, 1, 2, 2, 3, 4])):
        if product.stockrecords.first().net_stock_level > 5:
            basket.add_product(product, rng.choice([1, 1, 1, 2, 3]))
    if basket.is_empty:
        basket.delete()
        return None
    code = rng.choice([None] * 6 + ["WELCOME10", "TEATIME", "BOOKWORM"])
    voucher = Voucher.objects.filter(code=code).first()
    if voucher and voucher.is_active() and voucher.is_available_to_user(user)[0]:
        basket.vouchers.add(voucher)
    Applicator().apply(basket, user)
    charge = Price("USD", Decimal(0), Decimal(0))
    where = {key: value for key, value in home.items() if key != "phone_number"}
    order = Creator().place_order(
        basket, Calculator().calculate(basket, charge), Free(), charge, user=user,
        shipping_address=ShippingAddress.objects.create(phone_number=home["phone_number"], **where),
        billing_address=BillingAddress.objects.create(**where))
    basket.submit()
    return order


def ahead(rng, order, moment, age):
    """Carries an order on to where one of its age would stand."""
    source = Source.objects.create(order=order, source_type=SourceType.objects.get(code="invoice"), currency="USD",
                                   amount_allocated=order.total_incl_tax, reference=f"INV-{order.number}")
    if age < 2 or (age < 6 and rng.random() < 0.4):
        return
    if rng.random() < 0.08:
        moment(age - 0.5)
        return order.set_status("Cancelled")
    moment(age - rng.uniform(0.2, 1.5))
    order.set_status("Being processed")
    if age < 9 and rng.random() < 0.7:
        return
    moment(age - rng.uniform(2, 5))
    event = ShippingEvent.objects.create(order=order, event_type=ShippingEventType.objects.get(code="shipped"),
                                         notes=f"Parcel {rng.randint(10**9, 10**10)}")
    for line in order.lines.all():
        event.line_quantities.create(line=line, quantity=line.quantity)
    order.set_status("Complete")
    source.amount_debited = order.total_incl_tax
    source.save()


def create(rng, moment, products, customers, count=460):
    bargains()
    SourceType.objects.create(name="Invoice", code="invoice")
    ShippingEventType.objects.create(name="Shipped", code="shipped")
    emma = customers[[user.email for user, *_ in customers].index("emma.lopez@gmail.com")]
    ages = sorted((500 * rng.random() ** 1.3 for _ in range(count)), reverse=True)
    for number, age in enumerate(ages):
        user, home, joined = emma if number % 29 == 7 else rng.choice([one for one in customers if one[2] > age] or [emma])
        moment(min(age, joined))
        order = place(rng, user, home, products)
        if order:
            ahead(rng, order, moment, min(age, joined))
            if rng.random() < 0.1:
                OrderNote.objects.create(order=order, user_id=1, note_type="Info", message=rng.choice(NOTES))
    moment(3)
    for number, (user, _, _) in enumerate([emma, *rng.sample(customers, 24)]):
        wishes = WishList.objects.create(owner=user, name=rng.choice(["Wish list", "Birthday", "New flat", "Some day"]),
                                         key=f"{number:06x}")
        for product, _ in rng.sample(products, rng.randint(1, 6)):
            Line.objects.create(wishlist=wishes, product=product, title=product.title)
