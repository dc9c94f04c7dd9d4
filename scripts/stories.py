"""Simple stories for children, made up from templates: the demo's corpus when there is no other.

Seeded: the same number of stories is the same text everywhere. The templates and words are ours.
"""

import random
from collections.abc import Iterator


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


NAMES = words("""
    Anna Ben Clara David Ella Finn Greta Hugo Ida Jack Kira Leo Mia Nils Olive Paul Rosa Sam
    Tess Victor Wendy Yara Zoe Arthur Bella Charlie Dora Emil Frida George Hannah Ivan Julia
    Karl Lotte Max Nora Oscar Pia Quentin Ruby Simon Tilda Ursula Will Xenia Yusuf Zara
""")
ANIMALS = words("""
    cat dog rabbit fox bear owl mouse duck frog squirrel hedgehog horse sheep goat pony turtle
    penguin dolphin sparrow robin badger beaver deer donkey goose hamster kitten puppy lamb lion
    monkey otter parrot pigeon raccoon seal snail spider swan tiger whale wolf zebra butterfly
    bee ladybug caterpillar dragonfly firefly salamander
""")
THINGS = words("""
    ball kite drum lantern basket blanket book boat button candle castle clock coat crayon cup
    door feather flute garden hammer hat jar kettle key ladder leaf letter marble mirror mitten
    nest paint pebble pencil pillow pocket puzzle ribbon ring rope sail scarf seed shell shoe
    shovel spoon stone swing teapot thread ticket tower toy train treasure trumpet umbrella
    wagon whistle window wheel bridge bicycle balloon bucket bottle brush bell bench
""")
PLACES = words("""
    forest beach park kitchen meadow village market library attic cellar orchard river lake
    mountain hill farm harbor school playground bakery barn cave cottage island lighthouse
    museum pond station theater valley workshop greenhouse balcony courtyard
""")
FOODS = words("""
    apples bread cake carrots cheese cherries chocolate cookies grapes honey jam lemonade milk
    nuts oranges pancakes peaches pears pie plums porridge pumpkin raspberries sandwiches soup
    strawberries toast tomatoes waffles walnuts
""")
ADJECTIVES = words("""
    big small red blue green yellow purple silver golden old new shiny soft warm cold wooden
    tiny huge bright dark quiet noisy funny clever brave gentle happy sleepy curious friendly
    lonely muddy round striped spotted crooked sparkling magic beautiful broken heavy light
    sticky sweet smooth rough
""")
FEELINGS = words("""
    happy sad proud scared surprised excited tired hungry angry worried glad grateful cheerful
    nervous jealous calm bored ashamed hopeful relieved
""")
WEATHER = words("""
    sunny rainy windy snowy foggy stormy cloudy frosty warm chilly misty breezy
""")
VERBS = words("""
    ran walked jumped climbed danced skipped crawled hurried wandered marched tiptoed galloped
    rolled swam sailed floated flew hopped stumbled raced
""")
ACTIONS = words("""
    paint build fix carry hide find wash open close wrap share borrow polish decorate measure
    lift push pull draw clean
""")
# Names of villages, two parts each: three thousand words, so that 4,096 tokens find merges enough.
VILLAGE_BEGINNINGS = words("""
    Alder Amber Apple Ash Badger Barley Bell Berry Birch Black Bluebell Bramble Bridge Bright Butter
    Cherry Clover Copper Cotton Crow Daisy Dew Dusty Elder Elm Ember Fern Fiddle Flint Fox Frost
    Ginger Golden Goose Hawthorn Hazel Heather Hickory Holly Honey Ivy Juniper Kettle Lantern Larch
    Lark Lavender Lemon Lily Linden Maple Marigold Meadow Mill Moon Moss Nettle Nut Oak Otter Owl
    Pebble Pepper Pine Plum Poppy Primrose Quill Raven Rose Rowan Sage Silver Snow Sparrow Spring
    Star Summer Swan Thistle Thyme Timber Tulip Velvet Violet Walnut Whistle Willow Winter Wren
""")
VILLAGE_ENDINGS = words("""
    bank beck borough bottom bourne bridge brook burrow bury by combe corner cot cross dale
    dean den don fall field ford gate glen grove ham haven heath hill hollow holt hurst ing
    keep land lane lea ley mead mere mill moor mouth nook path pond port rest ridge shaw side
    spring stead stone thorpe ton tree vale view wall water way well wick wood worth yard
""")
LESSONS = (
    "sharing makes everyone richer",
    "it is brave to ask for help",
    "patience brings the sweetest fruit",
    "small friends can do great things",
    "telling the truth feels better than hiding it",
    "even a storm comes to an end",
    "kindness always finds its way back",
    "practice turns hard things into easy ones",
)
OPENINGS = (
    "Once upon a time, there was a {adjective} {animal} named {name}.",
    "One {weather} morning, {name} went to the {place} with a {adjective} {thing}.",
    "{name} lived near the {place} with a {animal} called {friend}.",
    "There once was a girl named {name} who loved {food} more than anything.",
    "It was a {weather} day in {village}, and {name} felt {feeling}.",
    "In {village}, not far from {town}, lived a {adjective} {animal} and its friend {name}.",
)
MIDDLES = (
    'In the {place}, {name} saw a {adjective} {thing}. "What is this?" {name} asked.',
    '"Don\'t be {feeling}," said the {animal}. "I\'ll help you {action} the {thing}."',
    "They {verb} to the {place} and looked for the {thing}, but they couldn't find it.",
    '{friend} said, "Let\'s {action} the {adjective} {thing} together!"',
    "Suddenly, a {adjective} {animal} {verb} out of the {place}. {name} was {feeling}!",
    "{name} gave the {animal} some {food}, and it wasn't hungry anymore.",
    "The {thing} fell into the mud. {name} started to cry because it was {adjective} no more.",
    '"Can we keep it, Mom?" {name} asked. "Yes, if you {action} it every day," she replied.',
    "{name} counted: one {thing}, two {animal}s, {number} pieces of {food}.",
    "The road from {village} to {town} was long, so {name} packed some {food}.",
    "At noon they ate {food} by the {place} and watched the {animal}s play.",
    "{friend} didn't want to share the {thing}. That made {name} very {feeling}.",
    "The {adjective} {animal} shook its head. It had lost its {thing} in the {place}.",
)
ENDINGS = (
    "From that day on, {name} and {friend} were best friends.",
    "{name} learned that {lesson}.",
    'That night, {name} dreamed of the {adjective} {thing}. "Good night," whispered {friend}.',
    "They all {verb} home to {village}, {feeling} and full of {food}. The end.",
    "And whenever it was {weather}, {name} remembered that {lesson}.",
)


def stories(count: int, seed: int = 0) -> Iterator[str]:
    """So many stories of five to nine sentences."""
    rng = random.Random(seed)
    for _ in range(count):
        name, friend = rng.sample(NAMES, 2)

        def sentence(template: str, name: str = name, friend: str = friend) -> str:
            return template.format(
                name=name,
                friend=friend,
                animal=rng.choice(ANIMALS),
                thing=rng.choice(THINGS),
                place=rng.choice(PLACES),
                food=rng.choice(FOODS),
                adjective=rng.choice(ADJECTIVES),
                feeling=rng.choice(FEELINGS),
                weather=rng.choice(WEATHER),
                verb=rng.choice(VERBS),
                action=rng.choice(ACTIONS),
                number=rng.randrange(2, 100),
                lesson=rng.choice(LESSONS),
                village=rng.choice(VILLAGE_BEGINNINGS) + rng.choice(VILLAGE_ENDINGS),
                town=rng.choice(VILLAGE_BEGINNINGS) + rng.choice(VILLAGE_ENDINGS),
            )

        middles = rng.sample(MIDDLES, rng.randrange(3, 7))
        first = " ".join(map(sentence, (rng.choice(OPENINGS), *middles[:2])))
        rest = " ".join(map(sentence, (*middles[2:], rng.choice(ENDINGS))))
        yield f"{first}\n\n{rest}\n"
