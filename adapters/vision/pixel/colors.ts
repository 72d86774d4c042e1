/** Colors that differ in hue, saturation and value. Each pixel has exactly one. */
export const colors = [
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
export type Color = (typeof colors)[number];

/** Upper limits of the hue ranges, in degrees. Red is at both ends. */
const hues: { end: number; color: Color }[] = [
  { end: 14, color: 'red' },
  { end: 45, color: 'orange' },
  { end: 70, color: 'yellow' },
  { end: 160, color: 'green' },
  { end: 192, color: 'cyan' },
  { end: 258, color: 'blue' },
  { end: 320, color: 'purple' },
  { end: 345, color: 'pink' },
  { end: 360, color: 'red' },
];

/** Classifies an RGB pixel, with channels from 0 to 255. */
export function classifyColor(red: number, green: number, blue: number): Color {
  const max = Math.max(red, green, blue);
  const value = max / 255;
  const saturation = max === 0 ? 0 : (max - Math.min(red, green, blue)) / max;
  // In dark areas, chroma of a codec is mostly noise.
  if (value < 0.14 || (value < 0.22 && saturation < 0.4)) return 'black';
  if (saturation < (value < 0.5 ? 0.22 : 0.15)) return value > 0.8 ? 'white' : 'grey';
  return chromatic(computeHue(red, green, blue), saturation, value);
}

function chromatic(hue: number, saturation: number, value: number): Color {
  const name = hueName(hue);
  if (name === 'orange' && value < 0.65) return 'brown';
  // Pink is pale red. A saturated color near purple is not pink.
  if (name === 'red' && hue > 300 && saturation < 0.55 && value > 0.65) return 'pink';
  if (name === 'red' && saturation < 0.45 && value > 0.75) return 'pink';
  if (name === 'pink' && value < 0.6) return 'purple';
  return name;
}

function hueName(hue: number): Color {
  for (const { end, color } of hues) if (hue < end) return color;
  return 'red';
}

/** Returns the hue, 0 to 360 degrees. */
function computeHue(red: number, green: number, blue: number): number {
  const max = Math.max(red, green, blue);
  const spread = max - Math.min(red, green, blue);
  if (max === red) return (((green - blue) / spread) * 60 + 360) % 360;
  if (max === green) return ((blue - red) / spread) * 60 + 120;
  return ((red - green) / spread) * 60 + 240;
}
