import { type ObjectClass, objectClasses } from '../objects/classes.ts';

/** Noun for objects of some classes. */
export type Noun = {
  classes: readonly ObjectClass[];
  plural: boolean;
  /** Word that means less than its class: "taxi" counts as a car, and whether it is a taxi is not judged. */
  narrower: string | null;
};

const animals = objectClasses.slice(objectClasses.indexOf('bird'), objectClasses.indexOf('giraffe') + 1);

/** Singular words of a class, its name if it is not listed. An irregular plural follows its singular after "/". */
const classWords: Partial<Record<ObjectClass, string>> = {
  person: 'person/people, human, pedestrian, individual, folk',
  bicycle: 'bicycle, bike, push bike, pushbike',
  car: 'car, automobile',
  motorcycle: 'motorcycle, motorbike, motor bike, moped',
  airplane: 'airplane, aeroplane, plane, aircraft/aircraft',
  truck: 'truck, lorry/lorries',
  'traffic light': 'traffic light, stoplight, traffic signal',
  'fire hydrant': 'fire hydrant, hydrant',
  bench: 'bench, park bench',
  sheep: 'sheep/sheep',
  backpack: 'backpack, rucksack',
  handbag: 'handbag, hand bag, purse',
  tie: 'tie, necktie',
  skis: 'ski/skis',
  'sports ball': 'sports ball, ball',
  cup: 'cup, mug',
  knife: 'knife/knives',
  orange: 'orange fruit/oranges',
  broccoli: 'broccoli/broccoli',
  'hot dog': 'hot dog, hotdog',
  donut: 'donut, doughnut',
  couch: 'couch, sofa, settee',
  'potted plant': 'potted plant, houseplant, house plant, plant',
  'dining table': 'dining table, table',
  tv: 'tv, television, telly/tellies, tv set, television set, tv screen',
  mouse: 'computer mouse/computer mice',
  remote: 'remote control',
  'cell phone': 'cell phone, cellphone, mobile phone, smartphone, phone',
  microwave: 'microwave, microwave oven',
  refrigerator: 'refrigerator, fridge',
  scissors: 'scissors/scissors',
  'teddy bear': 'teddy bear, teddy',
  'hair drier': 'hair drier, hair dryer, hairdryer',
};
/** Words for several classes. */
const groups: [classes: readonly ObjectClass[], words: string][] = [
  [animals, 'animal'],
  [['car', 'truck', 'bus', 'motorcycle'], 'vehicle'],
  [['backpack', 'handbag', 'suitcase'], 'bag'],
];

/** Words that mean less than their classes. */
const narrow: [classes: readonly ObjectClass[], words: string][] = [
  [
    ['person'],
    `man/men, woman/women, child/children, kid, boy, girl, baby/babies, toddler, adult, guy, lady/ladies, gentleman/gentlemen,
    teenager, teen, youngster, infant, newborn, bloke, chap, fellow, worker, employee, customer, visitor, guest, intruder, burglar, thief/thieves, stranger, neighbor, neighbour,
    driver, truck driver, bus driver, lorry driver, van driver, train driver, car driver, taxi driver, cyclist, rider, runner, jogger, player, student, teacher, patient, nurse, doctor, guard,
    security guard, police officer, policeman/policemen, policewoman/policewomen, officer, soldier, firefighter, postman/postmen, mailman/mailmen,
    mail carrier, courier, delivery man/delivery men, delivery person/delivery people, delivery driver, passenger, shopper, tourist, fisherman/fishermen, farmer,
    mother, father, son, daughter, grandmother, grandfather, senior, pensioner, colleague, tenant, trespasser, swimmer, surfer, skier, dancer, speaker,
    dog walker, waiter, cashier, clerk, technician, engineer, cleaner, gardener`,
  ],
  [['bicycle'], 'mountain bike, e bike, ebike, road bike, city bike'],
  [
    ['car'],
    'taxi/taxis, cab, limousine, sedan, suv, convertible, police car, sports car, estate car, station wagon, hatchback, minivan, jeep',
  ],
  [['car', 'truck', 'bus'], 'van, minibus/minibuses, camper, ambulance, delivery van'],
  [
    ['truck'],
    'pickup, pickup truck, pick up truck, articulated lorry/articulated lorries, semi truck, box truck, rubbish truck, cement truck, delivery truck, fire truck, fire engine, garbage truck, dump truck, tow truck, tanker',
  ],
  [['bus'], 'school bus/school buses, coach bus/coach buses'],
  [['motorcycle'], 'motor scooter'],
  [['train'], 'tram, locomotive, freight train, subway train'],
  [['airplane'], 'jet, airliner, biplane, passenger plane'],
  [
    ['boat'],
    'ship, sailboat, sailing boat, yacht, ferry/ferries, kayak, canoe, dinghy/dinghies, rowing boat, motorboat, fishing boat',
  ],
  [
    ['bird'],
    'pigeon, crow, seagull, gull, duck, goose/geese, swan, hen, chicken, rooster, cockerel, parrot, owl, sparrow, eagle, hawk, heron, magpie, stork, raven, robin',
  ],
  [['cat'], 'moggie, kitten, kitty/kitties, house cat, tomcat'],
  [['dog'], 'doggo, puppy/puppies, hound, guide dog, poodle, labrador, terrier, shepherd dog'],
  [['cat', 'dog'], 'pet'],
  [['horse'], 'pony/ponies, foal, stallion, mare'],
  [['sheep'], 'lamb'],
  [['cow', 'sheep', 'horse'], 'livestock/livestock'],
  [['tv'], 'computer monitor'],
  [['cow'], 'bull, calf/calves, ox/oxen, cattle/cattle'],
  [['bear'], 'polar bear, grizzly bear, brown bear, black bear'],
  [['umbrella'], 'parasol, beach umbrella'],
  [['suitcase', 'backpack', 'handbag'], 'luggage/luggage, baggage/baggage'],
  [['sports ball'], 'football, soccer ball, basketball, tennis ball, volleyball, baseball'],
  [['bottle'], 'water bottle, beer bottle, wine bottle, plastic bottle, glass bottle'],
  [['cup'], 'coffee cup, tea cup, teacup, coffee mug'],
  [['potted plant'], 'flower pot, flowerpot, pot plant'],
  [['bed'], 'hospital bed'],
  [['chair'], 'armchair, office chair, deck chair, desk chair'],
  [['dining table'], 'coffee table, kitchen table'],
  [['cell phone'], 'iphone'],
  [['laptop'], 'macbook'],
  [['clock'], 'wall clock, alarm clock'],
  [['cake'], 'birthday cake'],
  [['book'], 'textbook, cookbook'],
];

const nouns = new Map<string, Noun>();
for (const object of objectClasses) addNouns([object], classWords[object] ?? object, false);
for (const [classes, words] of groups) addNouns(classes, words, false);
for (const [classes, words] of narrow) addNouns(classes, words, true);

function addNouns(classes: readonly ObjectClass[], words: string, narrower: boolean): void {
  for (const entry of words.split(',')) {
    const [singular = '', plural = pluralize(singular)] = entry.trim().replaceAll(/\s+/g, ' ').split('/');
    nouns.set(plural, { classes, plural: true, narrower: narrower ? plural : null });
    nouns.set(singular, { classes, plural: false, narrower: narrower ? singular : null });
  }
}

function pluralize(singular: string): string {
  return /(?:s|x|ch|sh)$/.test(singular) ? `${singular}es` : `${singular}s`;
}
nouns.set('persons', { classes: ['person'], plural: true, narrower: null });

/** Returns the noun of a token, or null. "_" joins the words of a noun, "|" the nouns of a choice. */
export function findNoun(token: string): Noun | null {
  const known = token.split('|').map((word) => nouns.get(word.replaceAll('_', ' ')));
  const found = known.filter((noun) => noun !== undefined);
  const [first, second] = found;
  if (first === undefined || found.length < known.length) return null;
  if (second === undefined) return first;
  return {
    classes: [...new Set(found.flatMap(({ classes }) => classes))],
    plural: found.some(({ plural }) => plural),
    narrower: found.flatMap(({ narrower }) => narrower ?? []).join(', ') || null,
  };
}

/** Expression that finds the nouns of several words, longest first. */
export const compoundNouns = new RegExp(
  `\\b(?:${[...nouns.keys()]
    .filter((noun) => noun.includes(' '))
    .toSorted((a, b) => b.length - a.length)
    .join('|')})\\b`,
  'g',
);

/** Returns the plural of a class, for explanations. */
export function toPlural(object: ObjectClass): string {
  for (const [word, noun] of nouns) {
    if (noun.plural && noun.narrower === null && noun.classes.length === 1 && noun.classes[0] === object)
      return object === 'person' ? 'persons' : word;
  }
  return object;
}
