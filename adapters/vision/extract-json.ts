import { parseJson } from '../../core/parse-json.ts';

/**
 * Maximum braces that are tried in vain as the start of an object, and maximum depth of a cut one: a hostile server may
 * send a megabyte of braces.
 */
const maxBraces = 40;

/**
 * Returns the last complete JSON object behind the thoughts of a text, or undefined. Models draft answers before they
 * write one, wrap it in code fences, and add remarks. `isCut`: the text lacks its end, so an object that prose follows
 * is a draft.
 */
export function extractJson(text: string, isCut = false): unknown {
  const plain = withoutFence(text);
  const whole = /^[{"]/.test(plain) ? (parse(plain) ?? parse(firstTurn(plain))) : undefined;
  if (typeof whole === 'string') return extractJson(whole, isCut);
  if (whole !== undefined) return whole;
  for (const spoken of partsBeforeThoughts(text)) {
    const match = findObject(spoken);
    if (match?.isLast) return checked(match, isCut);
  }
  return checked(findObject(withoutThoughts(text)), isCut);
}

/** Object of a text, with what is before it and behind it in its turn. `isLast`: an end mark of the turn follows. */
type Found = { object: unknown; lead: string; rest: string; isLast: boolean };

function checked(match: Found | undefined, isCut: boolean): unknown {
  if (match === undefined || isBehindThoughts(match.lead)) return undefined;
  return isCut && /[^\s`]/.test(match.rest) ? undefined : match.object;
}

/** Returns the last object of the first turn that has one. End marks within an object are its words. */
function findObject(spoken: string): Found | undefined {
  let object: unknown;
  let [lead, end] = ['', 0];
  let tried = 0;
  for (let start = spoken.indexOf('{'); start !== -1; start = spoken.indexOf('{', start)) {
    if (end > 0 && endOfTurn.test(spoken.slice(end, start))) break;
    const close = endOfObject(spoken, start);
    // The answer itself may be the object that lacks its end.
    if (close === -1 && /^\{\s*"/.test(spoken.slice(start, start + 100))) return undefined;
    const read = close === -1 ? undefined : parse(spoken.slice(start, close));
    if (read === undefined && (tried += 1) >= maxBraces) return undefined;
    // An answer that is no JSON is not replaced by a draft before it.
    const isRead = read !== undefined || (close !== -1 && namedValue.test(spoken.slice(start, start + 100)));
    if (isRead) [object, lead, end] = [read, spoken.slice(Math.max(end, start - 300), start), close];
    start = isRead ? close : start + 1;
  }
  if (end === 0) return undefined;
  const rest = spoken.slice(end);
  const mark = endOfTurn.exec(rest)?.index;
  return { object, lead, rest: rest.slice(0, mark), isLast: mark !== undefined };
}

/**
 * Returns the part of a cut JSON object that is certain: complete values, and the beginning of the last text. Returns
 * undefined if the text behind the thoughts does not begin with an open object: prose before it may be thoughts, and
 * the object a draft.
 */
export function extractCutJson(text: string): unknown {
  const spoken = withoutFence(withoutThoughts(text));
  return spoken.startsWith('{') && endOfObject(spoken, 0) === -1 ? closeObject(spoken) : undefined;
}

/** Parses an object that lacks its end. A number at the end is not certain: more digits may be missing. */
function closeObject(text: string): unknown {
  let closers = '';
  let quoted = false;
  let complete = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (closers.length > maxBraces) return undefined;
    if (quoted) {
      if (character === '\\') index += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') {
      closers = (character === '{' ? '}' : ']') + closers;
      complete = text.slice(0, index + 1) + closers;
    } else if (character === '}' || character === ']') {
      closers = closers.slice(1);
      complete = text.slice(0, index + 1) + closers;
    } else if (character === ',') complete = text.slice(0, index) + closers;
  }
  const closed = quoted ? `${text}…"${closers}` : text + closers;
  return (/\d\s*$/.test(text) && !quoted ? undefined : parse(closed)) ?? parse(complete);
}

const thinking = String.raw`(?:\w{1,12}[:_])?(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad|rationale)(?:_\w{1,12})?`;
/**
 * Marks behind which the answer begins. The opening mark is often part of the chat template: Qwen and others,
 * Magistral, Kimi-VL, Gemma 4, MedGemma, Command A, gpt-oss with and without its special tokens
 * (github.com/vllm-project/vllm/issues/31045, github.com/ggml-org/llama.cpp/issues/24671).
 */
const closingMarks = new RegExp(
  [
    String.raw`<\|?\/${thinking}\|?>|\[\/THINK\]|◁\/think▷|<channel\|>|<unused95>`,
    String.raw`<\|END_THINKING\|>|<\|end_of_thought\|>`,
    String.raw`<\|channel\|>\s?final[^<{]{0,40}(?:<\|constrain\|>[^<{]{0,40})?<\|message\|>|assistantfinal`,
  ].join('|'),
  'gi',
);
/** Marks behind which thoughts begin. */
const openingMark = new RegExp(
  String.raw`<\|?${thinking}\|?>|\[THINK\]|◁think▷|<\|channel\|?>|<unused94>|<\|START_THINKING\|>|<\|begin_of_thought\|>`,
  'i',
);

const nameOfThoughts = new RegExp(`^${thinking}$`, 'i');

/** Returns true if a field of this name holds thoughts. */
export function isOfThoughts(name: string): boolean {
  return nameOfThoughts.test(name);
}

/** Removes the thoughts of a model, also those that were cut. */
export function withoutThoughts(text: string): string {
  const last = [...text.matchAll(closingMarks)].at(-1);
  const spoken = last ? text.slice(last.index + last[0].length) : text;
  return spoken.slice(0, openingMark.exec(spoken)?.index);
}

/**
 * Returns the parts before opening marks whose thoughts have ended. One may be the answer, and the thoughts those of a
 * later turn. What a closing mark alone follows is thoughts.
 */
function partsBeforeThoughts(text: string): string[] {
  let start = 0;
  return [...text.matchAll(closingMarks)].flatMap(({ index, 0: mark }) => {
    const part = text.slice(start, index);
    start = index + mark.length;
    const opening = openingMark.exec(part)?.index;
    return opening === undefined ? [] : [part.slice(0, opening)];
  });
}

/** Marks at the end of a turn, and those of turns of others: see `endOfTurn`. */
const ends = [
  String.raw`<\|(?:im_end|eot(?:_id)?|eom(?:_id)?|end(?:oftext|_of_text|ofturn)?|return|call|user|system|observation)\|>`,
  String.raw`<\|(?:im_user|im_system|END_(?:RESPONSE|OF_TURN_TOKEN))\|>|<end_of_turn>|<turn\|>|<eos>|\[EOS\]`,
  String.raw`<end_of_utterance>|<\/s>|\[INST\]|\[\|endofturn\|\]|<｜(?:end▁of▁sentence|User)｜>`,
].join('|');
/** Marks behind which the role of the next turn is named. */
const begins = [
  String.raw`<\|(?:im_start|start|header_start|start_(?:of_role|header_id)|START_OF_TURN_TOKEN)\|>`,
  String.raw`<start_of_turn>|<\|turn>`,
].join('|');
/**
 * End of a turn, or begin of a turn of another role: a server that does not know the token adds turns that nobody
 * wrote. Qwen, Llama, gpt-oss, GLM, Phi, Granite, Gemma, Mistral, DeepSeek, Command, Kimi, SmolVLM, EXAONE. Behind a
 * begin of the model's own turn may be the answer, and drafts before it.
 */
const endOfTurn = new RegExp(`${ends}|(?:${begins})(?!\\s{0,3}(?:assistant|model|<\\|CHATBOT_TOKEN))`);
/** The same behind an answer that a text begins with: the model has no further turn. */
const endOfAnswer = new RegExp(`${ends}|${begins}|<\\|(?:im_)?assistant\\|>|<｜Assistant｜>`);

/** Returns the object at the begin of a text if its turn ends behind it, else ''. Marks within it are its words. */
function firstTurn(text: string): string {
  const close = text.startsWith('{') ? endOfObject(text, 0) : -1;
  const rest = close === -1 ? '' : text.slice(close);
  const mark = endOfAnswer.exec(rest);
  if (!mark || /[^\s`]/.test(rest.slice(0, mark.index))) return '';
  const [closing] = rest.matchAll(closingMarks);
  const isDraft = closing !== undefined && !openingMark.test(rest.slice(0, closing.index));
  return isDraft ? '' : text.slice(0, close);
}

function withoutFence(text: string): string {
  return text
    .trim()
    .replace(/^```(?:json)?/i, '')
    .replace(/```$/, '')
    .trim();
}

/** Begin of an object, also of one that is no JSON. */
const namedValue = /^\{\s*['"“”„]?\w+['"“”„]?\s*:/;
/** Returns true for a text whose last line is labelled as thoughts, as in the pattern "Thought, Action, Answer". */
function isBehindThoughts(text: string): boolean {
  const line = text
    .trimEnd()
    .replace(/```(?:json)?$/i, '')
    .trimEnd()
    .split('\n')
    .at(-1);
  return /^[ *#]*(?:thoughts?|thinking|draft)(?=[ *]*(?::|$))/i.test(line ?? '');
}

/**
 * Reads JSON, and what small models write for it: commas behind the last value, line ends and other signs of control
 * within a text, escapes that JSON does not have, the quotes and words of Python, quotes of typography, remarks behind
 * slashes.
 */
function parse(json: string): unknown {
  const tidy = (text = json) => text.replaceAll(/[\p{Cc}\u00a0]/gu, ' ').replaceAll(/,(?=\s*[}\]])/g, '');
  const variants = [
    () => json,
    tidy,
    () => tidy().replaceAll(/\\(["\\/bfnrtu])|\\/g, (escaped, valid) => (valid ? escaped : '')),
    () => tidy(fromPython(json)),
    () => fromPython(tidy().replaceAll(/[“”„‟]/g, '"')),
  ];
  for (const write of variants) {
    const value = parseJson(write());
    if (value !== undefined) return value;
  }
  return undefined;
}

const words = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
]);

function fromPython(text: string): string {
  const tokens = /"(?:[^"\\]|\\.)*"?|'((?:[^'\\]|\\.)*)'?|\b(?:True|False|None)\b|\/\/[^\n]*/g;
  return text.replaceAll(tokens, (token, inner?: string) => {
    if (token.startsWith('//')) return '';
    if (inner === undefined) return words.get(token) ?? token;
    const escaped = inner.replaceAll(/\\.|"/g, (sign) =>
      sign === '"' ? String.raw`\"` : sign.replace(/^\\'/, "'"),
    );
    return `"${escaped}"`;
  });
}

/** Returns the index after the brace that closes the one at `start`, or -1. Ignores braces in strings. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (quoted) {
      if (character === '\\') index += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth += 1;
    else if (character === '}' && --depth === 0) return index + 1;
  }
  return -1;
}
