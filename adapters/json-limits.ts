/** Levels that JSON may have. That of the API has at most ten, and some thousand values. */
const maxDepth = 64;
const maxValuesOfBody = 10_000;
/** Values that the answer of a platform or of a model may have. A page of YouTube has 30,000. */
export const maxValuesOfAnswer = 500_000;

/**
 * Returns true if a JSON text has too many levels or values. Each level and value of a parsed text costs some 100 bytes
 * and its time, so it is counted before. Reads each character once, also of a text that is no JSON.
 */
export function exceedsJsonLimits(text: string, maxValues = maxValuesOfBody): boolean {
  let [depth, values] = [0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index);
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    else if (character === ',') values += 1;
    if (depth > maxDepth || values > maxValues) return true;
  }
  return false;
}

/** Returns the position of the quote that ends a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let index = text.indexOf('"', start + 1); index >= 0; index = text.indexOf('"', index + 1)) {
    let slashes = 0;
    while (text[index - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return index;
  }
  return text.length;
}
