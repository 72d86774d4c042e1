/**
 * The first JSON object in a text: models wrap it in code fences, in an introduction, or put their thoughts before it.
 * Undefined if there is none.
 */
export function jsonInText(text: string): unknown {
  const spoken = text.replaceAll(/<think>[\s\S]*?<\/think>/g, '');
  for (let start = spoken.indexOf('{'); start !== -1; start = spoken.indexOf('{', start + 1)) {
    const end = endOfObject(spoken, start);
    if (end === -1) continue;
    try {
      const found: unknown = JSON.parse(spoken.slice(start, end));
      return found;
    } catch {
      // A brace in prose: the next one may open the answer.
    }
  }
  return undefined;
}

/** Position behind the brace that closes the one at `start`; braces in strings do not count. -1 if it stays open. */
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
