import type { z } from 'zod';
import type { weekdaySchema } from '../records/watch.ts';

type Weekday = z.infer<typeof weekdaySchema>;
/** Span of a schedule, in local time. */
export type ActiveSpan = { days: Weekday[]; from: string; to: string };

/** Text with its times of day and days, which no picture shows. */
export type TimedText = {
  /** Text without the times; empty if it has nothing else. */
  rest: string;
  /** Times as written: "at night". */
  times: string[];
  /** Span that the times mean; `null` without times. */
  span: ActiveSpan | null;
};

const weekdays: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
type Hours = { from: string; to: string };
const wholeDay: Hours = { from: '00:00', to: '24:00' };

const during = '(?:at|by|during|in|through|throughout|every|each) (?:the )?';
const clock = String.raw`\d{1,2}(?::\d\d)?(?: ?(?:am|pm|o['’]?clock))?|noon|midnight`;
/** Times that are no count: "10 pm", "22:00", unlike "10". */
const certainClock = String.raw`\d{1,2}(?::\d\d)? ?(?:am|pm|o['’]?clock)|\d{1,2}:\d\d|noon|midnight`;

/** Parts of the day. An expression is a few words with bounded repetition, so that it takes linear time. */
const dayparts: [words: string, hours: Hours][] = [
  [`${during}(?:middle of the )?(?:nights?|night ?time)|overnight|tonight`, { from: '22:00', to: '06:00' }],
  [
    '(?:after|between|from) (?:sunset|dusk|dark|nightfall)(?: (?:and|to|till|until) (?:dawn|sunrise))?',
    { from: '20:00', to: '06:00' },
  ],
  ['(?:during|by|in|throughout) (?:the )?(?:day|day ?time)', { from: '06:00', to: '22:00' }],
  [`${during}(?:early )?mornings?`, { from: '06:00', to: '12:00' }],
  [`${during}afternoons?`, { from: '12:00', to: '18:00' }],
  [`${during}evenings?`, { from: '18:00', to: '22:00' }],
  [
    '(?:after|outside(?: of)?) (?:(?:opening|business|office|working) )?hours|after closing(?: time)?',
    { from: '18:00', to: '08:00' },
  ],
  ['(?:during|in|within) (?:opening|business|office|working) hours', { from: '08:00', to: '18:00' }],
];
const days: [words: string, days: readonly Weekday[]][] = [
  ['(?:on|at|during|over|every) (?:the )?weekends?', weekdays.slice(5)],
  ['(?:on|during) (?:the )?(?:weekdays?|working days|workdays|week)', weekdays.slice(0, 5)],
  ...(['mon', 'tues', 'wednes', 'thurs', 'fri', 'satur', 'sun'] as const).map(
    (name, index): [string, readonly Weekday[]] => [
      `(?:on|every|each) ${name}days?(?: (?:mornings?|afternoons?|evenings?|nights?))?`,
      weekdays.slice(index, index + 1),
    ],
  ),
];
const clocks = [
  String.raw`(?:between|from) (?<from>${clock}) ?(?:and|to|till|until|-|–) ?(?<to>${certainClock})`,
  `after (?<after>${certainClock})`,
  `before (?<before>${certainClock})`,
  `(?:at|around|about) (?<at>${certainClock})`,
];

const limited = '(?<limit>,? (?:but )?(?:only|not|never|especially|mainly) )';
const toExpression = (words: string) =>
  new RegExp(
    `(?:${limited}|^|,? )(?<words>${words})(?![\\w'’]| (?:sky|sun|light|sunlight|shift|club)\\b)`,
    'gi',
  );
type Groups = Record<string, string | undefined>;
type Meaning = { hours?: Hours; days?: readonly Weekday[] };

const readings: { expression: RegExp; read: (groups: Groups) => Meaning }[] = [
  ...dayparts.map(([words, hours]) => ({
    expression: toExpression(words),
    read: ({ limit }: Groups) => ({ hours: isNegative(limit) ? { from: hours.to, to: hours.from } : hours }),
  })),
  ...days.map(([words, list]) => ({
    expression: toExpression(words),
    read: ({ limit }: Groups) => ({
      days: isNegative(limit) ? weekdays.filter((day) => !list.includes(day)) : list,
    }),
  })),
  ...clocks.map((words) => ({
    expression: toExpression(words),
    read: (groups: Groups) => ({ hours: readClocks(groups) }),
  })),
];

/** Takes times of day and days out of a text. A time that is the whole text stays: "at night" is about the light. */
export function splitTimes(text: string): TimedText {
  const times: string[] = [];
  const meaning: Meaning = {};
  // White space collapses first, so that the expressions take linear time.
  let rest = text.replaceAll(/\s+/g, ' ').trim();
  for (const { expression, read } of readings)
    rest = rest.replaceAll(expression, (...match: unknown[]) => {
      const groups = toGroups(match.at(-1));
      times.push(`${groups['limit']?.replace(/^,? (?:but )?/, '') ?? ''}${groups['words'] ?? ''}`);
      Object.assign(meaning, read(groups));
      return ' ';
    });
  rest = rest
    .replaceAll(/ +/g, ' ')
    .replace(/^[ ,]+/, '')
    .replaceAll(/ ([,.?!])/g, '$1')
    .trim();
  if (times.length === 0 || /^[.?!]?$/.test(rest)) return { rest: text.trim(), times: [], span: null };
  return { rest, times, span: { days: [...(meaning.days ?? weekdays)], ...(meaning.hours ?? wholeDay) } };
}

function toGroups(value: unknown): Groups {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isNegative(limit: string | undefined): boolean {
  return /not|never/i.test(limit ?? '');
}

function readClocks({ from, to, at: time, after, before, limit }: Groups): Hours {
  if (time !== undefined)
    return { from: formatClock(toMinutes(time) % 1440), to: formatClock((toMinutes(time) + 60) % 1440) };
  const end = toMinutes(to ?? before ?? '');
  const start = after === undefined ? toStart(from, end) : toMinutes(after);
  // "After 10 pm" means the night, "after 8 am" the day.
  const isNight = after !== undefined && start >= 17 * 60;
  const hours = {
    from: formatClock(start % 1440),
    to: after === undefined ? formatClock(end) : isNight ? '06:00' : '24:00',
  };
  return isNegative(limit) ? { from: hours.to === '24:00' ? '00:00' : hours.to, to: hours.from } : hours;
}

/**
 * Reads the start of a range. Without am or pm it is that of the end, if it is before it then: "2 to 4 pm", "10 to 6
 * am".
 */
function toStart(from: string | undefined, end: number): number {
  if (from === undefined) return 0;
  const start = toMinutes(from);
  if (!/^\d{1,2}$/.test(from) || start > 12 * 60) return start;
  const isAfternoon = end > 12 * 60;
  const same = (start % 720) + (isAfternoon ? 720 : 0);
  return same < end ? same : (start % 720) + (isAfternoon ? 0 : 720);
}

function toMinutes(text: string): number {
  if (/noon/i.test(text)) return 720;
  if (/midnight/i.test(text)) return 1440;
  const [, hour = '0', minute = '0'] = /^(\d{1,2})(?::(\d\d))?/.exec(text) ?? [];
  const half = /pm/i.test(text) ? 12 : 0;
  const hours = /am|pm/i.test(text) ? (Number(hour) % 12) + half : Number(hour);
  return Math.min(hours * 60 + Number(minute), 1440);
}

function formatClock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}
