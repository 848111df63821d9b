"""Reviews and the votes on them."""
from oscar.core.loading import get_model

Review, Vote = get_model("reviews", "ProductReview"), get_model("reviews", "Vote")

TITLES = {
    5: ["Exactly what I hoped for", "Would buy again", "A small daily joy", "Better than the one it replaces", "Spot on"],
    4: ["Very good, one small thing", "Does the job well", "Good value", "Nearly perfect", "Happy with it"],
    3: ["Fine, not more", "Mixed feelings", "All right for the price", "Depends what you expect"],
    2: ["Not for me", "Expected more", "A let-down after a month"],
    1: ["Sent it back", "Broke within a week", "Disappointing"],
}
BODIES = {
    5: ["I have had the {kind} for {weeks} weeks and use it every day. What I like most is {trait}.",
        "Bought this after borrowing a friend's. You really notice {trait}, and it arrived a day early.",
        "My second one from {brand}: the first went to my sister. The best part is {trait}."],
    4: ["A solid {kind}. You get {trait}, though the box was dented when it came.",
        "I was unsure at first, but {trait} won me over. One star less because I waited {weeks} days for it.",
        "Good work by {brand}. It does have {trait}; I only wish there were more colours."],
    3: ["It is a decent {kind}. They promise {trait}, and that is true some of the time.",
        "After {weeks} weeks I still cannot decide. Yes, {trait}, but it feels lighter than I thought.",
        "Does what it says. I would not call it {trait}, but for the price I keep it."],
    2: ["The description says {trait}. Mine shows little of that. Customer service answered politely, at least.",
        "After {weeks} weeks the {kind} already looks tired. I expected more from {brand}."],
    1: ["Faulty on arrival and the replacement was no better. So much for {trait}.",
        "I returned it after {weeks} days. The money came back quickly, which is the only good thing I can say."],
}


def create(rng, moment, products, customers):
    """About 2,600 reviews, most on some 900 products; a few still wait for the moderator."""
    popular = rng.sample(products, 900)
    plans = []
    for product, item in popular:
        mood = rng.choice([1, 2, 2, 3, 3, 3])
        for user, _, joined in rng.sample(customers, min(len(customers), 1 + int(rng.expovariate(0.5)))):
            score = max(1, min(5, round(rng.gauss(2.4 + mood * 0.7, 0.9))))
            plans.append((rng.uniform(0.5, joined), product, item, user, score))
    plans.sort(key=lambda one: -one[0])
    for age, product, item, user, score in plans:
        moment(age)
        words = {"kind": item["title"].split(",")[0].split(":")[0], "brand": item["facts"].get("Brand", "the publisher"),
                 "trait": rng.choice(item["entry"]["traits"]), "weeks": rng.randint(2, 30)}
        status = Review.FOR_MODERATION if age < 12 and rng.random() < 0.35 else Review.APPROVED
        review = Review.objects.create(product=product, user=user, score=score, title=rng.choice(TITLES[score]),
                                       body=rng.choice(BODIES[score]).format(**words), status=status)
        if status == Review.APPROVED:
            for voter, _, _ in rng.sample(customers, rng.choice([0, 0, 0, 0, 1, 3])):
                if voter != user:
                    Vote.objects.create(review=review, user=voter, delta=rng.choice([1, 1, 1, -1]))
