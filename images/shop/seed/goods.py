"""What the shop sells: one entry a category, from which the seed makes that category's products.

`kinds` are the nouns of a product's title, `marks` the words that set models apart, `traits` the half sentences that
descriptions and reviews are made of, `facts` the attributes with their possible values, `price` the range in dollars,
and `shape` the name of the drawing.
"""

COLOURS = {
    "Graphite": "#3f454d", "Ivory": "#e9e2d0", "Sage": "#8fa58a", "Navy": "#27395f", "Rust": "#b5573a",
    "Mustard": "#d3a437", "Charcoal": "#2e2f33", "Sky": "#7fb2d6", "Forest": "#2f5d46", "Plum": "#6c3f63",
    "Coral": "#e27d68", "Sand": "#cdb48f", "Teal": "#2b7f83", "Crimson": "#a8243c", "Lavender": "#a79bc9",
    "Walnut": "#6d4a32", "Oak": "#c39a62", "Silver": "#b9bec4", "White": "#f2f2ee", "Olive": "#6e7040",
}

BRANDS = {
    "Electronics": "Halden|Orbis|Quietly|Voltaire|Nimbus|Kestrel Audio|Larkfield|Pixelwright",
    "Kitchen": "Ashdown|Copperhill|Tavola|Millrace|Hearthside|Bramble & Co|Fennel",
    "Home": "Wickham|Loomsend|Alder House|Fernley|Stillwater|Birch & Linen",
    "Furniture": "Norrland|Carpenter's Row|Elmstead|Trestle|Holloway",
    "Clothing": "Thornbury|Pennine|Marlowe|Saltmarsh|Oakes|Wren & Daughters",
    "Shoes": "Fellside|Stride|Cobbleton|Brightwater|Lanyard",
    "Outdoors": "Ridgeback|Tarn|Wayfarer|Cairn|Highmoor|Longshore",
    "Books": "Harbour Press|Lantern Books|Quill House|Meridian Editions|Two Rivers",
    "Toys": "Puddleby|Kindling|Tumble|Noddle Games|Paper Lantern",
    "Beauty": "Meadowsweet|Tidepool|Verbena|Clary|Stone Barn",
    "Food": "Harrow Lane|Old Mill|Saffron & Rye|Blackthorn|Orchard End",
    "Garden": "Greenway|Hollis|Spade & Arrow|Potter's Yard|Thicket",
    "Office": "Foolscap|Margin|Inkwell|Ledger|Plainsong",
}


def category(department, name, shape, price, kinds, marks, traits, **facts):
    split = {key.replace("_", " ").capitalize(): value.split("|") for key, value in facts.items()}
    return {"department": department, "name": name, "shape": shape, "price": price, "kinds": kinds.split("|"),
            "marks": marks.split("|"), "traits": traits.split("|"), "facts": split}


CATEGORIES = [
    category("Electronics", "Headphones", "headphones", (19, 320),
             "Over-Ear Headphones|On-Ear Headphones|Studio Headphones|Wireless Headphones",
             "Arc 20|Arc 40|Lull|Lull Pro|Session|Hush 2|Canto|Canto Lite",
             "ear cushions that stay cool|a headband that folds flat|a detachable cable|clear voices on calls|"
             "noise cancelling that copes with a train|a carry case with a proper zip",
             battery_life="18 hours|24 hours|30 hours|40 hours", connection="Bluetooth 5.2|Bluetooth 5.3|Wired 3.5 mm"),
    category("Electronics", "Speakers", "speaker", (25, 410),
             "Portable Speaker|Bookshelf Speaker|Shower Speaker|Desk Speaker",
             "Cube|Pillar|Tidal|Ember|Ember XL|Brio|Brio Mini",
             "bass that does not rattle the shelf|pairing with a second speaker|a handle you can hang on a hook|"
             "splash-proof buttons|a standby mode that really lasts", power="5 W|10 W|20 W|40 W",
             water_resistance="IPX4|IPX5|IPX7|None"),
    category("Electronics", "Keyboards", "keyboard", (22, 189),
             "Mechanical Keyboard|Compact Keyboard|Wireless Keyboard|Low-Profile Keyboard",
             "Type 60|Type 75|Type 87|Clerk|Stanza|Stanza Air", "keycaps that do not go shiny|quiet switches|"
             "feet with two heights|a switch for three devices|legends you can read in dim light",
             layout="60 %|75 %|Tenkeyless|Full size", switches="Linear|Tactile|Scissor"),
    category("Electronics", "Mice", "mouse", (12, 95), "Wireless Mouse|Vertical Mouse|Travel Mouse|Trackball",
             "Glide|Glide S|Pebble|Field|Heron", "a wheel with clear steps|soft side grips|a tidy slot for the receiver|"
             "a shape that suits small hands|silent clicks", resolution="1600 dpi|2400 dpi|4000 dpi",
             battery="AA|AAA|Rechargeable"),
    category("Electronics", "Monitors", "monitor", (110, 690), "IPS Monitor|Curved Monitor|USB-C Monitor|Office Monitor",
             "View 22|View 24|View 27|Span 32|Span 34", "an even backlight|a stand that turns to portrait|slim edges|"
             "a menu worked by one small stick|enough ports for a desk", diagonal="22 in|24 in|27 in|32 in|34 in",
             panel="IPS|VA", refresh_rate="60 Hz|75 Hz|100 Hz|144 Hz"),
    category("Electronics", "Cameras", "camera", (89, 980), "Compact Camera|Instant Camera|Action Camera|Mirrorless Camera",
             "Lumo|Lumo 2|Shutter One|Glimpse|Glimpse Zoom", "a grip that fits the hand|sharp pictures in the corners|"
             "a dial for every setting that matters|a viewfinder you can use with glasses|quick start-up",
             sensor="12 MP|20 MP|24 MP|32 MP", zoom="None|3x|5x|8x"),
    category("Electronics", "Chargers and Cables", "charger", (8, 69), "USB-C Charger|Braided USB-C Cable|Power Bank|Desk Charger",
             "Volt 20|Volt 45|Volt 65|Strand|Reserve 10", "a plug that folds away|a cable that does not tangle|"
             "a light that can be switched off|fast charging for a laptop|a soft-touch case", output="20 W|45 W|65 W|100 W"),
    category("Kitchen", "Cookware", "pan", (18, 210), "Frying Pan|Saucepan|Casserole|Sauté Pan|Griddle",
             "Classic|Heritage|Daily|Chef's|Cast", "an even heat to the rim|a handle that stays cool|a lid that fits|"
             "a base for every hob|a surface that forgives", diameter="20 cm|24 cm|28 cm|30 cm",
             material="Stainless steel|Cast iron|Aluminium|Carbon steel"),
    category("Kitchen", "Knives", "knife", (9, 160), "Chef's Knife|Paring Knife|Bread Knife|Santoku|Utility Knife",
             "Steel|Hone|Fine|Trade|No. 7", "an edge that holds for weeks|a balanced bolster|a handle that is not slippery|"
             "a blade that glides through tomatoes|a plain wooden box", blade="9 cm|13 cm|18 cm|20 cm|24 cm",
             handle="Beech|Walnut|Composite"),
    category("Kitchen", "Mugs and Glasses", "mug", (6, 58), "Stoneware Mug|Espresso Cup Set|Tumbler Set|Enamel Mug|Tea Cup",
             "Fjord|Speckle|Dawn|Harbour|Plain", "a glaze with small flecks|a handle with room for three fingers|"
             "a weight that feels right|a rim that does not drip|stacking without wobbling",
             capacity="90 ml|250 ml|300 ml|350 ml|450 ml", pieces="1|2|4|6"),
    category("Kitchen", "Coffee Makers", "coffeemaker", (24, 340), "French Press|Pour-Over Set|Moka Pot|Drip Coffee Maker|Espresso Machine",
             "Morning|Bar|Slow|Copper Line|Solo", "a filter that leaves no grit|a spout that pours straight|"
             "parts that come apart for cleaning|a cup ready in four minutes|a timer for early starts",
             capacity="0.3 l|0.6 l|1.0 l|1.2 l", material="Glass|Steel|Aluminium"),
    category("Kitchen", "Storage Jars", "jar", (5, 64), "Storage Jar|Spice Jar Set|Bread Bin|Biscuit Tin|Clip-Top Jar",
             "Pantry|Larder|Cellar|Market", "a seal that keeps biscuits crisp|a wide neck for a scoop|labels you can wipe|"
             "straight sides that save shelf room", capacity="0.2 l|0.5 l|1 l|2 l", pieces="1|3|6"),
    category("Kitchen", "Small Appliances", "kettle", (22, 230), "Electric Kettle|Toaster|Hand Blender|Stand Mixer|Food Scale",
             "Swift|Daybreak|Nook|Baker's|Gram", "a quiet click at the end|a cord that stores underneath|"
             "controls you need no manual for|a base that does not slide|a finish that hides fingerprints",
             power="300 W|800 W|1200 W|2200 W"),
    category("Home", "Lamps", "lamp", (19, 240), "Table Lamp|Floor Lamp|Desk Lamp|Reading Lamp|Pendant Lamp",
             "Glow|Halo|Stork|Dune|Lantern", "a warm, even light|a dimmer on the cord|a shade you can wash|"
             "an arm that stays where you put it|a heavy foot", bulb="E14|E27|Built-in LED", height="28 cm|42 cm|60 cm|150 cm"),
    category("Home", "Rugs", "rug", (29, 380), "Wool Rug|Cotton Rug|Jute Rug|Hall Runner|Round Rug",
             "Weave|Terrace|Meadow|Kilim|Coast", "a pile that springs back|edges that lie flat|colours that hide crumbs|"
             "a backing that grips the floor", size="60 x 90 cm|80 x 150 cm|120 x 180 cm|160 x 230 cm", material="Wool|Cotton|Jute"),
    category("Home", "Cushions and Throws", "cushion", (11, 120), "Linen Cushion|Velvet Cushion|Knitted Throw|Wool Blanket|Floor Cushion",
             "Heather|Moss|Tide|Rowan|Fireside", "a hidden zip|a filling that keeps its shape|soft, dense wool|"
             "a cover you can wash at 40 degrees", size="40 x 40 cm|50 x 50 cm|130 x 170 cm", material="Linen|Velvet|Wool|Cotton"),
    category("Home", "Bedding", "bedding", (24, 210), "Duvet Cover Set|Fitted Sheet|Pillow|Quilt|Mattress Topper",
             "Lark|Hush|Percale|Winter|Cloud", "buttons that stay closed|cotton that gets softer|seams without puckers|"
             "corners deep enough for a thick mattress", size="Single|Double|King", material="Cotton|Linen|Down"),
    category("Home", "Towels", "towel", (7, 79), "Bath Towel|Hand Towel Set|Beach Towel|Waffle Towel|Bath Mat",
             "Harbour|Ripple|Spa|Stripe", "loops that drink up water|a hanging tab that holds|quick drying|borders that stay straight",
             size="30 x 50 cm|50 x 90 cm|70 x 140 cm|100 x 180 cm", weight="450 g/m2|550 g/m2|650 g/m2"),
    category("Home", "Candles and Vases", "vase", (8, 96), "Scented Candle|Pillar Candle Set|Stoneware Vase|Glass Vase|Candle Holder",
             "Ember|Bloom|Quarry|Still|Dusk", "a steady base|a scent that does not shout|a narrow neck for single stems|"
             "a burn without smoke", height="8 cm|15 cm|22 cm|34 cm"),
    category("Furniture", "Chairs", "chair", (49, 420), "Dining Chair|Office Chair|Armchair|Bar Stool|Folding Chair",
             "Spoke|Perch|Ladder|Lounge|Clerk", "a back that supports|felt under the feet|assembly with one key|"
             "a seat you can sit on all evening", seat_height="44 cm|46 cm|65 cm", material="Oak|Beech|Steel|Ash"),
    category("Furniture", "Tables and Desks", "table", (79, 690), "Writing Desk|Dining Table|Coffee Table|Side Table|Standing Desk",
             "Plank|Bridge|Studio|Quad|Gather", "a top without a wobble|a drawer that closes softly|a channel for cables|"
             "rounded corners", width="45 cm|90 cm|120 cm|160 cm|200 cm", material="Oak|Walnut|Birch|Steel"),
    category("Furniture", "Shelves", "shelf", (35, 340), "Bookcase|Wall Shelf|Ladder Shelf|Shoe Rack|Record Shelf",
             "Rung|Stack|Grid|Ledge|Tall", "shelves that do not sag|fixings for any wall|adjustable heights|"
             "a back panel that stiffens it", height="30 cm|80 cm|120 cm|180 cm", material="Pine|Oak|Birch|Steel"),
    category("Clothing", "T-Shirts", "tshirt", (12, 48), "Crew Neck T-Shirt|V-Neck T-Shirt|Long Sleeve T-Shirt|Striped T-Shirt|Polo Shirt",
             "Everyday|Heavy|Fine|Harbour|Club", "a collar that keeps its shape|seams that do not twist|cotton with some weight|"
             "a length that stays tucked in", size="S|M|L|XL", material="Organic cotton|Cotton and linen|Merino"),
    category("Clothing", "Jackets", "jacket", (49, 330), "Rain Jacket|Quilted Jacket|Field Jacket|Denim Jacket|Fleece Jacket",
             "Squall|Moor|Foreman|Drift|Keel", "a hood that turns with you|pockets where hands fall|a two-way zip|"
             "cuffs that seal out wind", size="S|M|L|XL", material="Recycled nylon|Waxed cotton|Denim|Fleece"),
    category("Clothing", "Trousers", "trousers", (29, 160), "Chinos|Corduroy Trousers|Straight Jeans|Hiking Trousers|Linen Trousers",
             "Plain|Relaxed|Slim|Workshop|Trail", "a waistband that does not dig in|pockets deep enough for a phone|"
             "knees with room to bend|a hem that can be let down", waist="28|30|32|34|36", material="Cotton|Corduroy|Denim|Linen"),
    category("Clothing", "Knitwear", "jumper", (35, 190), "Crew Jumper|Roll Neck|Cardigan|Cable Jumper|Knitted Vest",
             "Fisher|Shetland|Fine|Aran|Lodge", "wool that does not itch|tight cuffs|a clean neckline|buttons of real horn",
             size="S|M|L|XL", material="Lambswool|Merino|Cotton"),
    category("Clothing", "Hats and Scarves", "hat", (12, 85), "Beanie|Wool Scarf|Sun Hat|Flat Cap|Gloves",
             "Dock|Frost|Parade|Shade|Signal", "a snug fit without pressing|an edge that does not curl|a lining of soft cotton|"
             "packs into a pocket", size="One size|S|M|L", material="Wool|Cotton|Straw|Cashmere"),
    category("Shoes", "Trainers", "trainer", (39, 190), "Running Shoes|Canvas Trainers|Court Shoes|Trail Shoes|Walking Shoes",
             "Pace 1|Pace 3|Canvas|Lap|Scree", "a heel that holds|a sole with real grip|room for the toes|laces that stay tied",
             size="38|39|40|41|42|43|44", drop="0 mm|4 mm|8 mm|10 mm"),
    category("Shoes", "Boots", "boot", (69, 290), "Chelsea Boots|Hiking Boots|Work Boots|Winter Boots|Desert Boots",
             "Yard|Summit|Cordwain|Slate|Drover", "leather that takes polish|a welt that can be resoled|a lining that keeps warm|"
             "eyelets that do not rust", size="38|39|40|41|42|43|44", material="Leather|Suede|Nubuck"),
    category("Outdoors", "Tents", "tent", (79, 620), "Dome Tent|Tunnel Tent|Trekking Tent|Family Tent|Tarp",
             "Col 1|Col 2|Hut 4|Lee|Basecamp", "poles with colours that match|a porch for wet boots|pegs that do not bend|"
             "a bag large enough to pack it again", capacity="1 person|2 persons|3 persons|4 persons|6 persons", weight="1.2 kg|2.1 kg|3.4 kg|6.5 kg"),
    category("Outdoors", "Backpacks", "backpack", (29, 260), "Day Pack|Trekking Pack|Roll-Top Pack|Commuter Pack|Child's Pack",
             "18|25|32|45|60", "a back that lets air through|a sleeve for a laptop|side pockets that hold a bottle|a rain cover in the base",
             volume="12 l|18 l|25 l|32 l|45 l|60 l", material="Recycled polyester|Canvas|Nylon"),
    category("Outdoors", "Bottles and Flasks", "bottle", (9, 58), "Insulated Bottle|Water Bottle|Vacuum Flask|Travel Mug|Soft Flask",
             "Spring|Brook|Glen|Well|Rill", "a lid that does not leak|tea still hot at noon|an opening wide enough for ice|"
             "a loop for a finger", capacity="0.35 l|0.5 l|0.75 l|1 l", material="Steel|Copolyester|Glass"),
    category("Outdoors", "Yoga and Fitness", "mat", (11, 140), "Yoga Mat|Exercise Mat|Resistance Band Set|Foam Roller|Kettlebell",
             "Flow|Ground|Balance|Core", "grip when hands are damp|no smell out of the box|a strap to carry it|"
             "a surface that wipes clean", thickness="3 mm|5 mm|8 mm|10 mm"),
    category("Outdoors", "Cycling", "helmet", (12, 190), "Bicycle Helmet|Front Light|Pannier Bag|Track Pump|Cycling Gloves",
             "Tempo|Beacon|Mile|Spin|Tour", "a fit you can change with one hand|a mount that does not slip|reflective edges|"
             "a gauge you can read standing", size="S|M|L|One size"),
    category("Books", "Fiction", "book", (8, 29), "A Novel|Stories|A Mystery|A Novella",
             "The Salt Road|A House of Small Rooms|The Lighthouse Ledger|Northbound|What the River Kept|The Cartographer's Son|"
             "Eleven Winters|The Last Ferry|Paper Orchards|A Quiet Inheritance|The Glass Harbour|Letters to the Tide",
             "a first chapter that pulls you in|people you would like to meet|an ending that earns its tears|dry humour",
             format="Paperback|Hardback", pages="184|240|312|368|448", language="English"),
    category("Books", "Cooking and Food", "book", (12, 42), "Recipes|A Cookbook|A Kitchen Guide",
             "One Pot Weeknights|Bread by Hand|The Green Table|Sunday Pies|Slow and Low|The Bean Book|Soups for All Seasons|Small Plates",
             "recipes that work the first time|short lists of ingredients|photographs of every dish|a useful index",
             format="Paperback|Hardback", pages="160|208|256|320", language="English"),
    category("Books", "Travel and History", "book", (10, 38), "A History|A Traveller's Companion|A Walker's Guide",
             "The Canal Builders|Islands of the North|Twelve Railway Journeys|The Wool Towns|On Foot to the Sea|Kings and Clerks|"
             "The Map Room|Rivers of Trade", "clear maps|a fair hand with hard questions|sources you can follow|walks that start at a station",
             format="Paperback|Hardback", pages="220|288|352|480", language="English"),
    category("Books", "Children's Books", "book", (6, 22), "A Picture Book|A First Reader|An Adventure",
             "Bramble the Bear|The Moon in the Well|Otto Builds a Boat|Ten Brave Mice|The Invisible Kite|Pip and the Baker|Goodnight, Tram",
             "pictures with things to find|words that beg to be read aloud|thick pages|a story that survives twenty readings",
             format="Board book|Paperback|Hardback", ages="0-3|3-6|6-9|9-12", language="English"),
    category("Toys", "Board Games", "boardgame", (14, 72), "Board Game|Card Game|Dice Game|Strategy Game",
             "Harbour Lords|Foxglove|Night Market|Caravan|Tall Tales|Signal Box|Beehive|Tin Mine",
             "rules that fit on two pages|a game over in an hour|pieces that feel good|a good version for two",
             players="1-4|2|2-4|2-6|3-8", playing_time="15 min|30 min|45 min|90 min", ages="6+|8+|10+|12+"),
    category("Toys", "Puzzles", "puzzle", (9, 45), "Jigsaw Puzzle|Wooden Puzzle|Floor Puzzle|3D Puzzle",
             "Old Harbour|Seed Packets|Night Train|Map of the Coast|Bird Alphabet|Market Square|Lighthouse",
             "pieces that click|a poster to follow|linen-finish card|no dust in the box", pieces="48|100|250|500|1000|1500", ages="3+|5+|8+|12+"),
    category("Toys", "Building Sets", "blocks", (12, 130), "Building Blocks|Construction Set|Marble Run|Wooden Railway",
             "Village|Bridge|Crane|Station|Tower", "parts that hold but come apart|a bag to tidy up into|ideas for after the manual|"
             "smooth edges", pieces="24|50|80|150|320", ages="18m+|3+|5+|8+"),
    category("Toys", "Soft Toys", "plush", (9, 55), "Plush Bear|Plush Fox|Plush Rabbit|Plush Whale|Hand Puppet",
             "Biscuit|Clover|Pocket|Sleepy|Big", "fur that stays soft after washing|embroidered eyes|the right size for one arm|"
             "beans in the paws", height="15 cm|22 cm|30 cm|45 cm", ages="0+|12m+"),
    category("Beauty", "Soap and Bath", "soap", (4, 38), "Bar Soap|Hand Wash|Bath Salts|Shower Gel|Shaving Soap",
             "Oat & Honey|Sea Fennel|Cedar|Rosemary|Unscented", "a rich lather|skin that does not feel tight|a scent that fades politely|"
             "paper packaging", content="100 g|150 g|250 ml|500 ml", skin_type="All|Dry|Sensitive"),
    category("Beauty", "Creams and Oils", "cream", (7, 68), "Hand Cream|Face Cream|Body Lotion|Hair Oil|Lip Balm",
             "Calendula|Night|Day|Barrier|Winter", "no greasy film|a little goes far|a pump that empties the bottle|relief in cold weather",
             content="15 ml|50 ml|75 ml|200 ml", skin_type="All|Dry|Oily|Sensitive"),
    category("Food", "Tea", "teabox", (4, 32), "Black Tea|Green Tea|Herbal Tea|Chai|Rooibos",
             "Breakfast|Smoky|Jasmine|Peppermint|Orchard|Evening", "leaves you can see|a second infusion that is worth it|a tin that closes well|"
             "no bitterness if forgotten", content="50 g|100 g|250 g|20 bags|50 bags", origin="Assam|Darjeeling|Ceylon|Yunnan|Cape"),
    category("Food", "Coffee Beans", "coffeebag", (8, 39), "Espresso Beans|Filter Beans|Ground Coffee|Decaf Beans",
             "House|Dark Horse|Fruit|Sunday|Single Farm", "a roast date on the bag|notes of cocoa|a crema that lasts|a bag that seals again",
             content="250 g|500 g|1 kg", roast="Light|Medium|Dark"),
    category("Food", "Chocolate and Sweets", "chocolate", (3, 34), "Dark Chocolate|Milk Chocolate|Fudge|Caramels|Truffles",
             "70 %|85 %|Sea Salt|Hazelnut|Orange", "a clean snap|not too sweet|nuts all the way through|a box nice enough to give",
             content="80 g|100 g|180 g|300 g"),
    category("Food", "Honey and Preserves", "preserve", (4, 26), "Honey|Marmalade|Strawberry Jam|Chutney|Mustard",
             "Heather|Wildflower|Thick Cut|Small Batch|Orchard", "fruit in real pieces|a set that spreads|a jar to keep|good with cheese",
             content="180 g|227 g|340 g|454 g"),
    category("Garden", "Pots and Planters", "plantpot", (6, 110), "Terracotta Pot|Glazed Planter|Window Box|Hanging Pot|Seed Tray",
             "Rim|Yard|Sill|Cottage|Drum", "a hole that drains|frost-proof clay|a saucer that fits|a wall thick enough to stay cool",
             diameter="12 cm|18 cm|25 cm|35 cm|50 cm", material="Terracotta|Stoneware|Zinc|Fibre clay"),
    category("Garden", "Garden Tools", "trowel", (8, 98), "Hand Trowel|Secateurs|Garden Fork|Hoe|Watering Can",
             "Border|Heirloom|Allotment|Long|Small", "a forged neck|a handle with no splinters|a catch that works with gloves|"
             "a rose that gives a soft rain", length="18 cm|30 cm|90 cm|140 cm", material="Steel|Ash and steel|Zinc"),
    category("Garden", "Hand Tools", "hammer", (7, 130), "Claw Hammer|Screwdriver Set|Adjustable Spanner|Hand Saw|Tape Measure",
             "Trade|Bench|Joiner's|Fit|Site", "a face that does not chip|tips that fit the slot|a jaw without play|markings that stay readable",
             length="15 cm|20 cm|30 cm|50 cm|5 m", material="Chrome steel|Carbon steel"),
    category("Office", "Notebooks", "notebook", (4, 36), "Hardcover Notebook|Dotted Notebook|Pocket Notebook|Weekly Planner|Sketchbook",
             "Field|Desk|Minutes|Draft|Margin", "paper that takes a fountain pen|a binding that opens flat|numbered pages|a pocket in the back",
             size="A6|A5|B5|A4", pages="64|96|144|192|240", ruling="Plain|Ruled|Dotted|Grid"),
    category("Office", "Pens and Pencils", "pen", (3, 89), "Fountain Pen|Gel Pen Set|Mechanical Pencil|Colour Pencils|Rollerball",
             "Scribe|Fine|Clerk|School|Brass", "ink that does not skip|a clip that holds|a line that stays the same|a weight that steadies the hand",
             tip="0.3 mm|0.5 mm|0.7 mm|M|F", pieces="1|3|6|12|24"),
    category("Office", "Desk Organisers", "organiser", (7, 74), "Desk Organiser|Letter Tray|Pen Pot|Monitor Stand|Magazine File",
             "Tidy|Tier|Order|Plinth", "felt that spares the desk|compartments of useful sizes|no tools to build it|a slot for a telephone",
             width="9 cm|24 cm|33 cm|55 cm", material="Bamboo|Steel|Walnut|Recycled card"),
]
