import { type ObjectClass, objectClasses } from '../objects/classes.ts';

/** Noun for objects of some classes. */
export type Noun = {
  classes: readonly ObjectClass[];
  /** Word that means less than its class: "taxi" counts as a car, and whether it is a taxi is not judged. */
  narrower: string | null;
};

/** Words of classes, in singular, with an irregular plural after "/". A class that is not listed has its name. */
const synonyms = `
  person: person/people, human, pedestrian, individual, folk; bicycle: bicycle, bike, push bike, pushbike; car: car,
  automobile; motorcycle: motorcycle, motorbike, motor bike, moped; airplane: airplane, aeroplane, plane,
  aircraft/aircraft; truck: truck, lorry/lorries; traffic light: traffic light, stoplight, traffic signal; fire
  hydrant: fire hydrant, hydrant; bench: bench, park bench; sheep: sheep/sheep; backpack: backpack, rucksack;
  handbag: handbag, hand bag, purse; tie: tie, necktie; skis: ski/skis; sports ball: sports ball, ball; cup: cup,
  mug; knife: knife/knives; orange: orange fruit/oranges; broccoli: broccoli/broccoli; hot dog: hot dog, hotdog;
  donut: donut, doughnut; couch: couch, sofa, settee; potted plant: potted plant, houseplant, house plant, plant;
  dining table: dining table, table; tv: tv, television, telly/tellies, tv set, television set, tv screen; mouse:
  computer mouse/computer mice; remote: remote control; cell phone: cell phone, cellphone, mobile phone, smartphone,
  phone; microwave: microwave, microwave oven; refrigerator: refrigerator, fridge; scissors: scissors/scissors;
  teddy bear: teddy bear, teddy; hair drier: hair drier, hair dryer, hairdryer; bird + cat + dog + horse + sheep +
  cow + elephant + bear + zebra + giraffe: animal; car + truck + bus + motorcycle: vehicle; backpack + handbag +
  suitcase: bag
`;

/** Words that mean less than their classes. */
const narrower = `
  person: man/men, woman/women, child/children, kid, boy, girl, baby/babies, toddler, adult, guy, lady/ladies,
  gentleman/gentlemen, teenager, teen, youngster, infant, newborn, bloke, chap, fellow, worker, employee, customer,
  visitor, guest, intruder, burglar, thief/thieves, stranger, neighbor, neighbour, driver, truck driver, bus driver,
  lorry driver, van driver, train driver, car driver, taxi driver, cyclist, rider, runner, jogger, player, student,
  teacher, patient, nurse, doctor, guard, security guard, police officer, policeman/policemen,
  policewoman/policewomen, officer, soldier, firefighter, postman/postmen, mailman/mailmen, mail carrier, courier,
  delivery man/delivery men, delivery person/delivery people, delivery driver, passenger, shopper, tourist,
  fisherman/fishermen, farmer, mother, father, son, daughter, grandmother, grandfather, senior, pensioner,
  colleague, tenant, trespasser, swimmer, surfer, skier, dancer, speaker, dog walker, waiter, cashier, clerk,
  technician, engineer, cleaner, gardener; bicycle: mountain bike, e bike, ebike, road bike, city bike; car:
  taxi/taxis, cab, limousine, sedan, suv, convertible, police car, sports car, estate car, station wagon, hatchback,
  minivan, jeep; car + truck + bus: van, minibus/minibuses, camper, ambulance, delivery van; truck: pickup, pickup
  truck, pick up truck, articulated lorry/articulated lorries, semi truck, box truck, rubbish truck, cement truck,
  delivery truck, fire truck, fire engine, garbage truck, dump truck, tow truck, tanker; bus: school bus/school
  buses, coach bus/coach buses; motorcycle: motor scooter; train: tram, locomotive, freight train, subway train;
  airplane: jet, airliner, biplane, passenger plane; boat: ship, sailboat, sailing boat, yacht, ferry/ferries,
  kayak, canoe, dinghy/dinghies, rowing boat, motorboat, fishing boat; bird: pigeon, crow, seagull, gull, duck,
  goose/geese, swan, hen, chicken, rooster, cockerel, parrot, owl, sparrow, eagle, hawk, heron, magpie, stork,
  raven, robin; cat: moggie, kitten, kitty/kitties, house cat, tomcat; dog: doggo, puppy/puppies, hound, guide dog,
  poodle, labrador, terrier, shepherd dog; cat + dog: pet; horse: pony/ponies, foal, stallion, mare; sheep: lamb;
  cow + sheep + horse: livestock/livestock; tv: computer monitor; cow: bull, calf/calves, ox/oxen, cattle/cattle;
  bear: polar bear, grizzly bear, brown bear, black bear; umbrella: parasol, beach umbrella; suitcase + backpack +
  handbag: luggage/luggage, baggage/baggage; sports ball: football, soccer ball, basketball, tennis ball,
  volleyball, baseball; bottle: water bottle, beer bottle, wine bottle, plastic bottle, glass bottle; cup: coffee
  cup, tea cup, teacup, coffee mug; potted plant: flower pot, flowerpot, pot plant; bed: hospital bed; chair:
  armchair, office chair, deck chair, desk chair; dining table: coffee table, kitchen table; cell phone: iphone;
  laptop: macbook; clock: wall clock, alarm clock; cake: birthday cake; book: textbook, cookbook
`;

const nouns = new Map<string, Noun>([['persons', { classes: ['person'], narrower: null }]]);
const plurals = new Map<string, ObjectClass>([['persons', 'person']]);
const listed = readEntries(synonyms);
const unlisted = objectClasses.filter((object) => !listed.some(([names]) => names === object));
for (const [names, words] of [...listed, ...unlisted.map((name) => [name, name] as const)])
  addNouns(names, words, false);
for (const [names, words] of readEntries(narrower)) addNouns(names, words, true);

function readEntries(text: string): (readonly [names: string, words: string])[] {
  return text.split(';').map((entry) => {
    const [names = '', words = ''] = entry.trim().replaceAll(/\s+/g, ' ').split(': ');
    return [names, words];
  });
}

function addNouns(names: string, words: string, isNarrower: boolean): void {
  const classes = names.split(' + ').flatMap((name) => objectClasses.filter((object) => object === name));
  const [object] = classes;
  for (const entry of words.split(', ')) {
    const [singular = '', plural = `${singular}${/(?:s|x|ch|sh)$/.test(singular) ? 'es' : 's'}`] =
      entry.split('/');
    for (const word of [plural, singular]) nouns.set(word, { classes, narrower: isNarrower ? word : null });
    if (!isNarrower && object && classes.length === 1 && !plurals.has(plural)) plurals.set(plural, object);
  }
}

/** Returns the noun of a token, or null. "_" joins the words of a noun. */
export function findNoun(token = ''): Noun | null {
  return nouns.get(token.replaceAll('_', ' ')) ?? null;
}

/** Expression that finds the nouns of several words, longest first. */
export const compoundNouns = new RegExp(
  `\\b(?:${[...nouns.keys()]
    .filter((noun) => noun.includes(' '))
    .toSorted((a, b) => b.length - a.length)
    .join('|')})\\b`,
  'g',
);

export function toPlural(object: ObjectClass): string {
  return [...plurals].find(([, name]) => name === object)?.[0] ?? object;
}
