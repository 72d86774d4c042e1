/**
 * Field of a request that its schema does not have. `suggestions` are the nearest names of absent fields, often none.
 */
export type UnknownField = { name: string; suggestions: string[] };

/** Maximum names that an answer repeats, and maximum characters of each. */
const maxNames = 10;
const maxNameCharacters = 40;
/** Similarity of unrelated names: only a higher one is a suggestion. */
const chanceSimilarity = 0.5;

/** Finds the fields of `given` that are not `known`, each with the known fields that it may have meant. */
export function findUnknownFields(given: unknown, fields: readonly string[]): UnknownField[] {
  const names = new Set(typeof given === 'object' && given !== null ? Object.keys(given) : []);
  const absent = fields.filter((name) => !names.has(name));
  return [...names]
    .filter((name) => !fields.includes(name))
    .slice(0, maxNames)
    .map((name) => ({ name: shorten(name), suggestions: nearestNames(name, absent) }));
}

/**
 * Describes ignored fields: "Ignored: window_seconds, color; did you mean window_minutes?". Returns undefined without
 * any.
 */
export function describeIgnored(unknown: readonly UnknownField[]): string | undefined {
  if (unknown.length === 0) return undefined;
  const names = unknown.map(({ name }) => name).join(', ');
  const meant = [...new Set(unknown.flatMap(({ suggestions }) => suggestions))];
  return meant.length === 0 ? `Ignored: ${names}.` : `Ignored: ${names}; ${didYouMean(meant)}`;
}

/** Forms the question "did you mean a or b?". */
export function didYouMean(names: readonly string[]): string {
  return `did you mean ${names.join(' or ')}?`;
}

/** Returns the most similar candidates: one, or two that are equally similar. */
function nearestNames(name: string, candidates: readonly string[]): string[] {
  const scored = candidates.map((candidate) => ({ candidate, score: similarity(name, candidate) }));
  const best = Math.max(0, ...scored.map(({ score }) => score));
  if (best <= chanceSimilarity) return [];
  return scored
    .filter(({ score }) => score === best)
    .map(({ candidate }) => candidate)
    .slice(0, 2);
}

/**
 * Computes the share of letter pairs of the shorter name that the longer one has too, 0 to 1; 2 for equal names. Case,
 * separators and units do not count.
 */
function similarity(first: string, second: string): number {
  const [shorter, longer] = [letterPairs(first), letterPairs(second)].toSorted((a, b) => a.size - b.size);
  if (!shorter || !longer || shorter.size < 2) return 0;
  if ([...shorter].join() === [...longer].join()) return 2;
  return [...shorter].filter((pair) => longer.has(pair)).length / shorter.size;
}

function letterPairs(name: string): Set<string> {
  const letters = name
    .slice(0, maxNameCharacters)
    .replace(/_?(?:seconds|secs?|minutes|mins?|hours|ms)$/i, '')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
  return new Set(
    Array.from({ length: Math.max(0, letters.length - 1) }, (_, index) => letters.slice(index, index + 2)),
  );
}

/** Shortens a name for an answer, and removes characters that could break a line. */
function shorten(name: string): string {
  const clean = name.replace(/[^\w.-]/g, '?');
  return clean.length > maxNameCharacters ? `${clean.slice(0, maxNameCharacters)}…` : clean;
}
