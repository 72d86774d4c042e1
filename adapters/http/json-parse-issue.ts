/** Position (in characters) and reason of a JSON syntax error, worded like Python's `json`, as in FastAPI. */
export type JsonParseIssue = { position: number; reason: string };

/**
 * Finds the syntax error in a text that `JSON.parse` rejected. The message of `JSON.parse` has no reliable position and quotes
 * the text, including credentials. Not recursive: a text can open a million brackets.
 */
export function findJsonParseIssue(text: string): JsonParseIssue {
  const found = scan(text);
  return { position: charactersUntil(text, found.at), reason: found.reason };
}

type Fault = { at: number; reason: string };

/** Expected token: a value, the first or a further member of an object, or the token after a value. */
type Expected = 'value' | 'item' | 'name' | 'first name' | 'end of value';

function scan(text: string): Fault {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = afterSpace(text, 0);
  for (;;) {
    const character = text[at];
    if (expected === 'end of value') {
      const inside = open.at(-1);
      if (inside === undefined) return { at, reason: 'Extra data' };
      if (character === closing[inside]) open.pop();
      else if (character === ',') expected = inside === '{' ? 'name' : 'value';
      else return { at, reason: "Expecting ',' delimiter" };
      at += 1;
    } else if (expected === 'first name' && character === '}') {
      open.pop();
      expected = 'end of value';
      at += 1;
    } else if (expected === 'name' || expected === 'first name') {
      if (character !== '"') return { at, reason: 'Expecting property name enclosed in double quotes' };
      const end = endOfString(text, at);
      if (typeof end === 'object') return end;
      at = afterSpace(text, end);
      if (text[at] !== ':') return { at, reason: "Expecting ':' delimiter" };
      expected = 'value';
      at += 1;
    } else if (expected === 'item' && character === ']') {
      open.pop();
      expected = 'end of value';
      at += 1;
    } else if (character === '{' || character === '[') {
      open.push(character);
      expected = character === '{' ? 'first name' : 'item';
      at += 1;
    } else {
      const end = character === '"' ? endOfString(text, at) : endOfWord(text, at);
      if (typeof end === 'object') return end;
      expected = 'end of value';
      at = end;
    }
    at = afterSpace(text, at);
  }
}

const closing = { '{': '}', '[': ']' } as const;

/** Scans a number or one of the names `true`, `false`, `null`. */
function endOfWord(text: string, at: number): number | Fault {
  const word = /(?:null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)/y;
  word.lastIndex = at;
  return word.test(text) ? word.lastIndex : { at, reason: 'Expecting value' };
}

/** Scans a string whose opening quote is at `at`. */
function endOfString(text: string, at: number): number | Fault {
  for (let next = at + 1; next < text.length; next += 1) {
    const character = text[next] ?? '';
    if (character === '"') return next + 1;
    if (character < ' ') return { at: next, reason: 'Invalid control character at' };
    if (character !== '\\') continue;
    next += 1;
    const escaped = text[next];
    if (escaped === undefined) break;
    if (escaped === 'u') {
      const digits = text.slice(next + 1, next + 5);
      const fits = /^[0-9a-fA-F]{4}$/.test(digits) && next + 5 < text.length;
      if (!fits) return { at: next, reason: 'Invalid \\uXXXX escape' };
      next += 4;
    } else if (!'"\\/bfnrt'.includes(escaped)) return { at: next - 1, reason: 'Invalid \\escape' };
  }
  return { at, reason: 'Unterminated string starting at' };
}

function afterSpace(text: string, at: number): number {
  const space = /[ \t\n\r]*/y;
  space.lastIndex = at;
  space.test(text);
  return space.lastIndex;
}

/** Counts code points, like Python. */
function charactersUntil(text: string, end: number): number {
  let count = 0;
  for (let at = 0; at < end; count += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}
