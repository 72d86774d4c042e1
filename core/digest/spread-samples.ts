/** At most `most` (two or more) of `samples`, evenly spread, with the first and the last among them. */
export function spreadSamples<Sample>(samples: Sample[], most: number): Sample[] {
  if (samples.length <= most) return samples;
  const step = (samples.length - 1) / (most - 1);
  const chosen = new Set(Array.from({ length: most }, (_, at) => Math.round(at * step)));
  return samples.filter((_, at) => chosen.has(at));
}
