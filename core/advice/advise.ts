import type { Capabilities, ConditionReading, UnjudgedPart } from '../ports/vision-model.ts';
import type { InputMode } from '../records/capture.ts';
import type { Sensitivity } from '../records/vision.ts';
import { type ActiveSpan, splitTimes } from './times.ts';

/** Kinds of advice about a condition. */
export const adviceCodes = [
  'blank',
  'instruction',
  'question',
  'vague',
  'several_conditions',
  'needs_clip',
  'duration',
  'time_of_day',
  'no_memory',
  'identity',
  'negation',
  'long',
  'model_cannot_judge',
  'place_not_judged',
  'counts_as_any',
  'words_not_judged',
  'sensitivity_ignored',
] as const;
export type AdviceCode = (typeof adviceCodes)[number];

/** One finding: what is doubtful about the condition, and what to do. */
export type Finding = { code: AdviceCode; message: string };

/**
 * Settings that fit a condition. `conditions` has a clearer wording, or the parts of several conditions in one; `null`:
 * keep it.
 */
export type Suggestion = {
  conditions: string[] | null;
  interval_seconds: number;
  input_mode: InputMode;
  checks_to_open: number;
  checks_considered: number;
  /** Time for which the condition must have held; 0: none. */
  open_after_seconds: number;
  /** Spans of a schedule that the condition means, to be completed by a time zone; `null`: always. */
  active: ActiveSpan[] | null;
};

export type Advice = { findings: Finding[]; suggestion: Suggestion };

/** Longest condition that still reads as one, in characters. */
const maxClearLength = 300;

const vague =
  /\b(suspicious|unusual|strange|weird|abnormal|anomal\w+|odd|interesting|dangerous|unsafe|risky|bad|wrong|problem|normal|okay|anything|something (?:happens|is happening|is off))\b/i;
const action =
  /\b(runs?|running|walks?|walking|falls?|falling|fell|waves?|waving|jumps?|jumping|drives?|driving|enters?|entering|leaves?|leaving|arrives?|arriving|approach\w*|passes|passing|fights?|fighting|throws?|throwing|climbs?|climbing|dances?|dancing|moves|moving|starts|stops|opens|opening|closes|closing|picks? up|puts? down|steals?|stealing|drops?|dropping|crosses|crossing)\b/i;
/** Actions that last a few seconds. */
const brief =
  /\b(falls?|falling|fell|enters?|leaves|passes|waves?|jumps?|throws?|drops?|crosses|steals?|fights?)\b/i;
const ones = 'one|two|three|four|five|six|seven|eight|nine';
const fraction = String.raw`[ -]and[ -](?:a[ -](?:half|quarter)|three[ -]quarters)`;
/** The last alternative is "for the last hour". */
const counts = String.raw`\d+(?:\.\d+)?|(?:(?:a|one)[ -])?half(?:[ -](?:of )?an?)?(?:[ -]dozen)?|(?:a|one|three)[ -]quarters?(?: of an)?|an?|(?:a )?(?:few|couple(?: of)?|dozen)|(?:twenty|thirty|forty|fifty)(?:[ -](?:${ones}))?|(?:${ones})|ten|eleven|twelve|fifteen|sixty|ninety|several|many|(?<=\b(?:past|last) )(?=(?:full |whole |entire )?(?:sec(?:ond)?|min(?:ute)?|h(?:r|our)?|day)\b)`;
/** Duration: "for more than ten minutes", "since an hour and a half", "for 2 hours and 30 minutes". */
const duration = new RegExp(
  String.raw`,? ?\b(?:for|longer than|more than|at least|over|after|lasting|since)(?: (?:the (?:past|last)|longer than|more than|at least|over|about|around|almost|nearly|roughly|exactly))? (?<count>${counts})(?<half>${fraction})?[ -]?(?:full |whole |entire )?(?<unit>s|secs?|seconds?|min|mins|minutes?|h|hrs?|hours?|days?)\b(?<more>${fraction}\b|(?: and)? \d+ ?min(?:ute)?s?\b)?(?: or (?:more|longer|so))?`,
  'i',
);
/** Words of a duration that names no time: "is still there", "still blocks", "for too long". */
const lasting =
  /\bstill (?=(?:there|here|at|on|in|open|closed|lit|empty|full|waiting|standing|parked|lying|present|visible|running|burning)\b)|(?<=\b(?:is|are|was|were) )still (?=\w)|(?<=\w )still (?=(?:blocks|burns|hangs|has|holds|lacks|leaks|needs|remains|runs|shows|stands|stays|waits|works)\b)|,? ?\bfor (?:(?:too |so |a )?(?:long|long time|while)\b|(?:the (?:past|last) )?(?:hours|days)(?=[.,;!?]|$))/i;
const memory =
  /\b(than before|than usual|than yesterday|again|anymore|any more|no longer|since|still|another|different|the same|has changed|have changed|disappear\w*|appear(?:s|ed)?|new(?:ly)?)\b/i;
const identity =
  /\b(?:my|our|his|her|their)\s+(?:wife|husband|son|daughter|child|kids?|mother|father|neighbou?r|dog|cat|car|boss|employees?|colleagues?)\b|\b(?:intruders?|burglars?|robbers?|thief|thieves|strangers?|trespassers?|employees?|customers?|visitors?|guests?|neighbou?rs?|tenants?|residents?)\b/i;
const negation = /\b(no|not|nobody|no one|none|never|without|missing|absent|empty)\b|n't\b/i;
const instruction =
  /^(?:please\s+)?(?:alert|tell|notify|inform|warn|let)\s+(?:me|us)\s*(?:know\s*)?(?:if|when|that|about)?\s*/i;
const thereQuestion = /^(is|are) there (.*[^?])\?*$/i;
/** A part between "and", "or" or ";" that could stand alone as a condition. */
const clause = /\b(is|are|was|were|has|have|there|holds?|stands?|lies|sits?|comes?|goes)\b/i;

const numbers: Record<string, number> = {
  half: 0.5,
  quarter: 0.25,
  'three quarter': 0.75,
  'three quarters': 0.75,
  // "For the last hour".
  '': 1,
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  couple: 2,
  three: 3,
  few: 3,
  several: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  many: 10,
  eleven: 11,
  twelve: 12,
  dozen: 12,
  'half dozen': 6,
  'half a dozen': 6,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  ninety: 90,
};
const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };
/** Time that is proposed for a condition that names none. */
const usualSeconds = 600;
const maxSeconds = 86_400;

/** Returns what of a condition the model does not judge, with its remedies. */
export function findUnjudged(condition: string, model: Capabilities): Finding[] {
  const { rest } = splitTimes(condition.replaceAll(/\s+/g, ' ').trim());
  return rest === '' ? [] : listUnjudged(model.readCondition(rest));
}

/** Advises on a condition by plain rules, without a model: what is doubtful about it, and which settings fit. */
export function advise(condition: string, model: Capabilities, sensitivity: Sensitivity = 'normal'): Advice {
  // White space collapses first: the expressions below take polynomial time for long runs of it.
  const whole = condition.replaceAll(/\s+/g, ' ').trim();
  const { rest: text, times, span } = splitTimes(whole);
  if (text === '')
    return {
      findings: [{ code: 'blank', message: 'Describe what must be visible, in one sentence.' }],
      suggestion: { ...defaults, conditions: null, active: null },
    };
  const reading = model.readCondition(text);
  const parts = splitClauses(text);
  const seconds = durationSeconds(text);
  const needsClip = isJudgedAction(text, reading) && model.supportsVideo;
  const clearer = reword(text, times.length > 0);
  return {
    findings: [
      ...listDoubts(text, times, parts, { model, reading }),
      ...listUnjudged(reading),
      ...listIgnored(sensitivity, model),
    ],
    suggestion: {
      conditions: parts.length > 1 ? parts.map((part) => reword(part)) : clearer === whole ? null : [clearer],
      active: span && [span],
      ...chooseSettings(text, { needsClip, seconds }),
    },
  };
}

/** Lists what is doubtful about a sentence for any model. */
function listDoubts(
  text: string,
  times: string[],
  parts: string[],
  { model, reading }: { model: Capabilities; reading: ConditionReading },
): Finding[] {
  const findings: (Finding | false)[] = [
    instruction.test(text) && {
      code: 'instruction',
      message: 'A condition is a statement about the picture, not a request. Leave the request out.',
    },
    thereQuestion.test(text) && {
      code: 'question',
      message: 'A statement is judged more reliably than a question.',
    },
    vague.test(text) && {
      code: 'vague',
      message: `"${vague.exec(text)?.[0]}" means something else to everyone. Name what is visible then, such as an open door or a person in the yard.`,
    },
    parts.length > 1 && {
      code: 'several_conditions',
      message:
        'This is more than one condition. As conditions of their own, each alert says which one holds.',
    },
    ...listDoubtsOfTime(text, times, { model, reading }),
    identity.test(text) &&
      !reading.unjudgedParts.some(({ kind }) => kind === 'narrower') && {
        code: 'identity',
        message: `The model cannot know who or whose "${identity.exec(text)?.[0]}" is. Describe looks, such as "a black dog".`,
      },
    negation.test(text) && {
      code: 'negation',
      message:
        'A negation also holds when the thing is hidden or the camera is dark. Prefer what must be visible, and require more checks.',
    },
    text.length > maxClearLength && {
      code: 'long',
      message: 'Long conditions are judged less reliably. Keep to one sentence.',
    },
  ];
  return findings.filter((finding) => finding !== false);
}

/** Lists what one moment of a stream does not show. */
function listDoubtsOfTime(
  text: string,
  times: string[],
  { model, reading }: { model: Capabilities; reading: ConditionReading },
): (Finding | false)[] {
  return [
    isJudgedAction(text, reading) && {
      code: 'needs_clip',
      message: model.supportsVideo
        ? `A single frame may not show ${actionName(text)}. Use a clip (mode clip or hybrid).`
        : `A single frame may not show ${actionName(text)}, and the model has no video. Describe the state instead, such as "a car is in the yard".`,
    },
    durationSeconds(text) !== undefined && {
      code: 'duration',
      message:
        'A check sees one moment, and cannot know how long it lasts. Leave the time out, and let a watch alert after it has held for so long (open_after_seconds).',
    },
    times.length > 0 && {
      code: 'time_of_day',
      message: `A picture does not show ${quoted(times)}: a lit room looks the same by day. Leave the time out, and give the watch a schedule.`,
    },
    memory.test(withoutDuration(text)) && {
      code: 'no_memory',
      message: `A check does not know earlier pictures, so it cannot judge "${memory.exec(withoutDuration(text))?.[0]}". Describe what is visible now; a watch tells you when it begins and ends.`,
    },
  ];
}

const defaults = {
  interval_seconds: 10,
  input_mode: 'frames',
  checks_to_open: 2,
  checks_considered: 3,
  open_after_seconds: 0,
} as const satisfies Omit<Suggestion, 'conditions' | 'active'>;

function chooseSettings(
  text: string,
  { needsClip, seconds }: { needsClip: boolean; seconds: number | undefined },
): Omit<Suggestion, 'conditions' | 'active'> {
  const input_mode = needsClip ? 'clip' : 'frames';
  if (seconds !== undefined) {
    const checks = negation.test(text) ? { checks_to_open: 3 } : {};
    return { ...defaults, ...checks, input_mode, open_after_seconds: seconds };
  }
  if (brief.test(text))
    return { ...defaults, interval_seconds: 5, input_mode, checks_to_open: 1, checks_considered: 1 };
  if (negation.test(text)) return { ...defaults, input_mode, checks_to_open: 3, checks_considered: 3 };
  return { ...defaults, input_mode };
}

/** Returns the clauses of a sentence, or the whole sentence if a part could not stand alone ("red and white"). */
function splitClauses(text: string): string[] {
  const parts = text
    .replace(instruction, '')
    .split(/ ?(?:;|,? (?:and|or)) /i)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts.length > 1 && parts.every((part) => clause.test(part) || action.test(part)) ? parts : [text];
}

/** Returns for how long it is to hold; undefined if the text does not say that it lasts. */
function durationSeconds(text: string): number | undefined {
  const { count, unit, half, more } = duration.exec(text)?.groups ?? {};
  if (count === undefined || unit === undefined) return lasting.test(text) ? usualSeconds : undefined;
  const minutes = /\d+/.exec(more ?? '')?.[0];
  const part = /half|(?:three.)?quarter/i.exec(half ?? more ?? '')?.[0] ?? '';
  const number = readNumber(count) + (part === '' ? 0 : readNumber(part));
  const seconds = number * (unitSeconds[unit.charAt(0).toLowerCase()] ?? 1) + Number(minutes ?? 0) * 60;
  return Math.min(maxSeconds, Math.ceil(seconds));
}

/** Returns the number of a word, or the sum of two: "twenty-five". */
function readNumber(count: string): number {
  const words = count
    .toLowerCase()
    .replaceAll('-', ' ')
    .replace(/^(?:a|one) (?=\w)/, '')
    .replace(/(half|quarters?)(?: of)? an?$/, '$1')
    .replace(/ of$/, '');
  const parts = words in numbers ? [words] : words.split(' ');
  return parts.reduce((sum, part) => sum + (numbers[part] ?? Number(part)), 0);
}

function withoutDuration(text: string): string {
  return text.replace(duration, '').replace(lasting, '');
}

/**
 * Returns the condition as a statement, without a request and without a duration. `isCut`: a time was taken out of it.
 */
function reword(text: string, isCut = false): string {
  const stated = withoutDuration(text.replace(instruction, ''))
    .replace(thereQuestion, (_, verb: string, rest: string) => `There ${verb.toLowerCase()} ${rest}`)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,?!])/g, '$1')
    .trim();
  if ((stated === text && !isCut) || stated === '') return text;
  const capital = stated.charAt(0).toUpperCase() + stated.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

/** Returns true for an action that the model judges: a clip does not help one that leaves its word out. */
function isJudgedAction(text: string, { reasonNotToJudge, unjudgedParts }: ConditionReading): boolean {
  return (
    action.test(text) && reasonNotToJudge === null && !unjudgedParts.some(({ words }) => action.test(words))
  );
}

function actionName(text: string): string {
  const verb = action.exec(text)?.[0]?.toLowerCase() ?? 'moves';
  return `"${verb}"`;
}

/** Says why the model cannot judge a condition, and names each part that it does not judge, with a remedy. */
function listUnjudged({ reasonNotToJudge: reason, unjudgedParts: parts }: ConditionReading): Finding[] {
  const named = (kind: UnjudgedPart['kind']) => parts.filter((part) => part.kind === kind);
  const places = named('place');
  // The reason names some words already.
  const words = named('words').filter((part) => !reason?.includes(`'${part.words}'`));
  const findings: (Finding | false)[] = [
    reason !== null && {
      code: 'model_cannot_judge',
      message: `The model cannot judge this: ${reason}. Write what it judges, or use a vision-language model.`,
    },
    places.length > 0 && {
      code: 'place_not_judged',
      message: `The model does not judge ${quoted(places)}: the whole picture counts. Draw a region around the place, or use a vision-language model.`,
    },
    ...named('narrower').map((part): Finding => ({
      code: 'counts_as_any',
      message: `The model does not tell ${quoted([part])} from others: any ${part.countsAs ?? 'such thing'} counts. Draw a region or set a schedule where that is right, or use a vision-language model.`,
    })),
    words.length > 0 && {
      code: 'words_not_judged',
      message: `The model does not judge ${quoted(words)}. Leave it out, or use a vision-language model.`,
    },
  ];
  return findings.filter((finding) => finding !== false);
}

/** Says that a sensitivity has no effect: only the built-in object model has scores. */
function listIgnored(sensitivity: Sensitivity, { hasSensitivity }: Capabilities): Finding[] {
  if (sensitivity === 'normal' || hasSensitivity) return [];
  const message = 'Sensitivity high has no effect with this model: only the built-in one alone has scores.';
  return [{ code: 'sensitivity_ignored', message }];
}

function quoted(parts: readonly (string | UnjudgedPart)[]): string {
  const words = parts.map((part) => (typeof part === 'string' ? part : part.words));
  return [...new Set(words)].map((word) => `"${word}"`).join(', ');
}
