/** At most `most` (two or more) of `samples`, evenly spread, with the first and the last among them. */
export function selectEvenly<Sample>(samples: Sample[], max: number): Sample[] {
  if (samples.length <= max) return samples;
  const step = (samples.length - 1) / (max - 1);
  const chosen = new Set(Array.from({ length: max }, (_, at) => Math.round(at * step)));
  return samples.filter((_, at) => chosen.has(at));
}
