/** Maximum braces that are tried as the start of an object, and maximum depth of a cut one: a hostile server may send a megabyte of braces. */
const maxBraces = 40;

/**
 * Returns the first JSON object of a text, or undefined. Models wrap it in code fences, introduce it, or write
 * their reasoning first.
 */
export function extractJson(text: string): unknown {
  const spoken = withoutThoughts(text);
  for (const start of braces(spoken)) {
    const end = endOfObject(spoken, start);
    const found = end === -1 ? undefined : parse(spoken.slice(start, end));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns the part of a cut JSON object that is certain: complete values, and the beginning of the last text. Returns undefined if the text
 * has no open object.
 */
export function extractCutJson(text: string): unknown {
  const spoken = withoutThoughts(text);
  for (const start of braces(spoken)) {
    const found = endOfObject(spoken, start) === -1 ? closeObject(spoken.slice(start)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Parses an object that lacks its end. A number at the end is not certain: more digits may be missing. */
function closeObject(text: string): unknown {
  let closers = '';
  let quoted = false;
  let complete = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (closers.length > maxBraces) return undefined;
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') {
      closers = (character === '{' ? '}' : ']') + closers;
      complete = text.slice(0, at + 1) + closers;
    } else if (character === '}' || character === ']') {
      closers = closers.slice(1);
      complete = text.slice(0, at + 1) + closers;
    } else if (character === ',') complete = text.slice(0, at) + closers;
  }
  const closed = quoted ? `${text}…"${closers}` : text + closers;
  return (/\d\s*$/.test(text) && !quoted ? undefined : parse(closed)) ?? parse(complete);
}

/** Removes the thoughts of a model, also those that were cut. */
function withoutThoughts(text: string): string {
  return text.replaceAll(/<think>[\s\S]*?(?:<\/think>|$)/g, '');
}

/** Returns the positions of the first braces, which may start the object; the others are prose. */
function* braces(text: string): Generator<number> {
  let start = -1;
  for (let tried = 0; tried < maxBraces; tried += 1) {
    start = text.indexOf('{', start + 1);
    if (start === -1) return;
    yield start;
  }
}

function parse(json: string): unknown {
  try {
    const found: unknown = JSON.parse(json);
    return found;
  } catch {
    return undefined;
  }
}

/** Returns the index after the brace that closes the one at `start`, or -1. Ignores braces in strings. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth += 1;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return -1;
}
