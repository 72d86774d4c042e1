import type { Scene } from './scenes.ts';

type Holds = (scene: Scene) => boolean;
const persons =
  (test: (count: number) => boolean): Holds =>
  (scene) =>
    test(scene.persons);
const inClip =
  (...clips: string[]): Holds =>
  ({ clip }) =>
    clips.includes(clip);
const [classroom, walking, hall, shop, zone] = [
  'classroom',
  'face-demographics-walking',
  'people-detection',
  'store-aisle-detection',
  'worker-zone-detection',
];
const never: Holds = () => false;
const some = persons((count) => count > 0);
const nobody = persons((count) => count === 0);

/** Phrases, and in which scenes people say that they hold. */
export const phrases: [phrase: string, holds: Holds][] = [
  ['A person is in the picture', some],
  ['Someone is visible', some],
  ['a human', some],
  ['Is anybody there?', some],
  ['A person is in the classroom', inClip(classroom)],
  ['A person is at the door', (scene) => scene.clip === hall && scene.persons > 0],
  ['A person is standing', (scene) => scene.persons > 0 && scene.clip !== classroom],
  ['A person is sitting at a table', inClip(classroom)],
  ['People are walking towards the camera', inClip(walking)],
  ['At least two people are visible', persons((count) => count >= 2)],
  ['More than two people', persons((count) => count > 2)],
  ['At least four persons', persons((count) => count >= 4)],
  ['More than ten people', never],
  ['Exactly two people', persons((count) => count === 2)],
  ['Only one person', persons((count) => count === 1)],
  ['Fewer than three people', persons((count) => count < 3)],
  ['At most one person', persons((count) => count <= 1)],
  ['A crowd', never],
  ['Nobody is in the picture', nobody],
  ['No person', nobody],
  ['The room is empty', (scene) => scene.clip === hall && scene.persons === 0],
  ['There are people but no cars', (scene) => scene.persons > 0 && scene.cars === 0],
  ['A woman', inClip(walking, shop)],
  ['A man wears glasses', inClip(classroom, walking)],
  ['A child', never],
  ['A customer', inClip(shop)],
  ['A worker', inClip(zone)],
  ['A person wears a yellow helmet', inClip(zone)],
  ['Somebody wears no helmet', (scene) => scene.persons > 0 && scene.clip !== zone],
  ['A person in an orange vest', inClip(zone)],
  ['A person with a hat', inClip(shop, zone)],
  ['Somebody has fallen', never],
  ['A person lies on the floor', never],
  ['Two people are fighting', never],
  ['A person rides a bicycle', (scene) => scene.bicycles > 0],
  ['A bicycle', (scene) => scene.bicycles > 0],
  ['A car', (scene) => scene.cars > 0],
  ['No car', (scene) => scene.cars === 0],
  ['A car is in the car park', (scene) => scene.cars > 0],
  ['At least two cars', never],
  ['A red car', never],
  ['A car or a truck', (scene) => scene.cars > 0],
  ['A truck', never],
  ['A bus', never],
  ['A motorcycle', never],
  ['A vehicle is visible', (scene) => scene.cars > 0],
  ['A person and a car', (scene) => scene.persons > 0 && scene.cars > 0],
  ['A dog', never],
  ['A cat is on the table', never],
  ['A horse', never],
  ['An elephant', never],
  ['A toilet', never],
  ['A refrigerator', never],
  ['A chair', inClip(classroom)],
  ['Bowls or cups are visible', inClip(shop)],
  ['A knife', never],
  ['The gate is open', never],
  ['Smoke or fire is visible', never],
  ['A parcel lies on the floor', (scene) => scene.clip === shop],
  ['The shelves are full', inClip(shop)],
];
