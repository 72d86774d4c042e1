import type { PlainCondition, PlainConfig, PlainSpan } from './oracle/plain.ts';
import type { Random } from './random.ts';

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'];
/** Starts of a simulation, half a day before the clocks of a zone change. */
export const clockChanges = [
  ['2026-03-07T12:00:00Z', 'America/New_York'],
  ['2026-10-24T12:00:00Z', 'Europe/Berlin'],
  ['2026-04-04T03:00:00Z', 'Australia/Lord_Howe'],
  ['2026-03-28T12:00:00Z', 'Europe/Berlin'],
  ['2026-10-31T12:00:00Z', 'America/New_York'],
] as const;
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

export function randomConfig(random: Random, createdAt: number, interval: number): PlainConfig {
  const ids = ['a', 'b', 'c'].slice(0, random.integer(1, 3));
  const schedule = random.chance(0.5) ? randomSchedule(random) : null;
  const changing = clockChanges.find(([at]) => Math.abs(createdAt - Date.parse(at)) < 3_600_000)?.[1];
  return {
    createdAt,
    interval,
    confirm: random.integer(1, Math.min(interval, 5)),
    prefilter: random.chance(0.8),
    zone: schedule ? random.pick([...zones, ...(changing ? zones.map(() => changing) : [])]) : 'UTC',
    schedule,
    callsPerDay: random.chance(0.5) ? random.integer(1, Math.round(43_200 / interval)) : null,
    conditions: ids.map((id) => randomCondition(random, id)),
  };
}

function randomCondition(random: Random, id: string): PlainCondition {
  const considered = random.pick([1, 3, 3, 3, 5, 10]);
  return {
    id,
    text: `${id} is visible (${random.integer(0, 1e9)})`,
    toOpen: considered === 3 ? 2 : random.integer(1, considered),
    considered,
    openAfter: random.pick([0, 0, 60, 900, 3600]),
    toClose: random.pick([1, 2, 3, 3, 10]),
    closeAfter: random.pick([0, 0, 30, 300, 3600]),
    cooldown: random.pick([0, 0, 60, 900, 86_400]),
    remind: random.pick([null, 60, 600, 7200]),
  };
}

function randomSchedule(random: Random): PlainSpan[] {
  let lastTo = '24:00';
  return Array.from({ length: random.integer(1, 3) }, () => {
    const isAdjacent = lastTo !== '24:00' && random.chance(0.3);
    const from = isAdjacent ? lastTo : halfHour(randomHalf(random, 0));
    const to = halfHour(randomHalf(random, 1));
    const days = weekdays.filter(() => random.chance(0.7));
    lastTo = to === from ? '24:00' : to;
    return { days: days.length === 0 ? ['sun'] : days, from, to: lastTo };
  });
}

/** Returns a half of an hour; often one that the change of a clock skips or repeats. */
function randomHalf(random: Random, minimum: 0 | 1): number {
  return random.chance(0.3) ? random.integer(2, 5) : random.integer(minimum, 47 + minimum);
}

function halfHour(count: number): string {
  return `${String(Math.floor(count / 2)).padStart(2, '0')}:${count % 2 === 0 ? '00' : '30'}`;
}

/** Changes text, numbers, presence of a condition, or the budget. Times and zone stay, so that days are comparable. */
export function randomChange(random: Random, config: PlainConfig): PlainConfig {
  const kind = random.integer(0, 3);
  const index = random.integer(0, config.conditions.length - 1);
  const changed = (change: (rule: PlainCondition) => PlainCondition) =>
    config.conditions.map((rule, at) => (at === index ? change(rule) : rule));
  if (kind === 0) {
    const text = `another text ${random.integer(0, 1e9)}`;
    return { ...config, conditions: changed((rule) => ({ ...rule, text })) };
  }
  if (kind === 1) {
    const numbers = randomCondition(random, 'x');
    return { ...config, conditions: changed((rule) => ({ ...numbers, id: rule.id, text: rule.text })) };
  }
  if (kind === 2 && config.conditions.length > 1)
    return { ...config, conditions: config.conditions.filter((_, at) => at !== index) };
  const free = ['a', 'b', 'c'].filter((id) => config.conditions.every((rule) => rule.id !== id));
  const added = free.slice(0, 1).map((id) => randomCondition(random, id));
  return { ...config, conditions: [...config.conditions, ...added] };
}
