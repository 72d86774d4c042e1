/**
 * Returns the first JSON object of a text, or undefined. Models wrap it in code fences, introduce it, or write
 * their reasoning first.
 */
export function extractJson(text: string): unknown {
  const spoken = text.replaceAll(/<think>[\s\S]*?<\/think>/g, '');
  for (let start = spoken.indexOf('{'); start !== -1; start = spoken.indexOf('{', start + 1)) {
    const end = endOfObject(spoken, start);
    if (end === -1) continue;
    try {
      const found: unknown = JSON.parse(spoken.slice(start, end));
      return found;
    } catch {
      // This brace is part of the prose. A later one may start the object.
    }
  }
  return undefined;
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
