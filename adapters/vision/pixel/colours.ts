/** Colors that differ in hue, saturation and value. Each pixel has exactly one. */
export const colours = [
  'red',
  'orange',
  'yellow',
  'green',
  'cyan',
  'blue',
  'purple',
  'pink',
  'brown',
  'white',
  'grey',
  'black',
] as const;
/** Name of a color. */
export type Colour = (typeof colours)[number];

/** Upper limits of the hue ranges, in degrees. Red is at both ends. */
const hues: { end: number; colour: Colour }[] = [
  { end: 14, colour: 'red' },
  { end: 45, colour: 'orange' },
  { end: 70, colour: 'yellow' },
  { end: 160, colour: 'green' },
  { end: 192, colour: 'cyan' },
  { end: 258, colour: 'blue' },
  { end: 320, colour: 'purple' },
  { end: 345, colour: 'pink' },
  { end: 360, colour: 'red' },
];

/** Classifies an RGB pixel, with channels from 0 to 255. */
export function colourOf(red: number, green: number, blue: number): Colour {
  const most = Math.max(red, green, blue);
  const value = most / 255;
  const saturation = most === 0 ? 0 : (most - Math.min(red, green, blue)) / most;
  // In dark areas, chroma of a codec is mostly noise.
  if (value < 0.14 || (value < 0.22 && saturation < 0.4)) return 'black';
  if (saturation < (value < 0.5 ? 0.22 : 0.15)) return value > 0.8 ? 'white' : 'grey';
  return chromatic(computeHue(red, green, blue), saturation, value);
}

function chromatic(hue: number, saturation: number, value: number): Colour {
  const name = hueName(hue);
  if (name === 'orange' && value < 0.65) return 'brown';
  // Pink is pale red. A saturated color near purple is not pink.
  if (name === 'red' && hue > 300 && saturation < 0.55 && value > 0.65) return 'pink';
  if (name === 'red' && saturation < 0.45 && value > 0.75) return 'pink';
  if (name === 'pink' && value < 0.6) return 'purple';
  return name;
}

function hueName(hue: number): Colour {
  for (const { end, colour } of hues) if (hue < end) return colour;
  return 'red';
}

/** Returns the hue, 0 to 360 degrees. */
function computeHue(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const spread = most - Math.min(red, green, blue);
  if (most === red) return (((green - blue) / spread) * 60 + 360) % 360;
  if (most === green) return ((blue - red) / spread) * 60 + 120;
  return ((red - green) / spread) * 60 + 240;
}
