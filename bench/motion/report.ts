import { eventTitles } from './event-scenes.ts';
import type { Outcome } from './evaluate.ts';
import type { RegionOutcome } from './regions.ts';
import { shares } from './scene.ts';
import { atLeast, type Half, type Tally } from './score.ts';
import { savingsGoal, stillTitles } from './still-scenes.ts';

/** Formats the savings as a Markdown table, which is also readable in a terminal. */
export function savingsTable(outcomes: Record<string, Outcome>, halves: readonly Half[]): string {
  const columns = Object.keys(outcomes).flatMap((name) => halves.map((half) => ({ name, half })));
  const row = (label: string, titles: readonly string[]): string[] => [
    label,
    ...columns.map(({ name, half }) => percent(outcomes[name]!.savings({ half, titles }))),
  ];
  return table(
    ['still scenes: checks skipped, %', ...columns.map(({ name, half }) => `${name}, ${half}`)],
    [
      ...stillTitles.map((title) => row(title, [title])),
      row('**noise and overlays (the goal)**', savingsGoal),
      row('**all**', stillTitles),
    ],
  );
}

/** Formats the recall by class and size as a Markdown table. */
export function recallTable(outcome: Outcome, half: Half): string {
  const row = (label: string, title?: string): string[] => [
    label,
    ...shares.map((share) => percent(outcome.recall({ half, ...within(title), shares: (s) => s === share }))),
    String(outcome.recall({ half, ...within(title) }).of),
  ];
  return table(
    [`events detected in time, %, ${half}`, ...shares.map((share) => `${share * 100} %`), 'n'],
    [...eventTitles.map((title) => row(title, title)), row('**all**')],
  );
}

/** Formats the results with regions as a Markdown table. */
export function regionTable(outcomes: readonly RegionOutcome[]): string {
  const tally = (each: Tally): string => `${percent(each)} (n ${each.of})`;
  return table(
    [
      'watchpost with a region, %',
      'recall of events inside, 1 % and above',
      'events outside ignored',
      'savings, all still scenes',
    ],
    outcomes.map(({ name, recall, ignored, savings }) => [
      name,
      tally(recall),
      tally(ignored),
      tally(savings),
    ]),
  );
}

/** Formats the goals of each detector as a Markdown table. */
export function goalTable(outcomes: Record<string, Outcome>, halves: readonly Half[]): string {
  const goals = [
    {
      name: 'recall, 1 % and above (goal 99)',
      of: (o: Outcome, half: Half) => o.recall({ half, shares: (s) => s >= 0.01 }),
    },
    {
      name: 'recall, 0.5 % (goal 95)',
      of: (o: Outcome, half: Half) => o.recall({ half, shares: (s) => s === 0.005 }),
    },
    { name: 'recall, 0.2 %', of: (o: Outcome, half: Half) => o.recall({ half, shares: (s) => s === 0.002 }) },
    { name: 'recall, 0.1 %', of: (o: Outcome, half: Half) => o.recall({ half, shares: (s) => s === 0.001 }) },
    {
      name: 'savings, noise and overlays (goal 90)',
      of: (o: Outcome, half: Half) => o.savings({ half, titles: savingsGoal }),
    },
    { name: 'savings, all still scenes', of: (o: Outcome, half: Half) => o.savings({ half }) },
  ];
  const columns = Object.keys(outcomes).flatMap((name) => halves.map((half) => ({ name, half })));
  return table(
    ['%, with the lower bound of its 95 % interval', ...columns.map(({ name, half }) => `${name}, ${half}`)],
    goals.map((goal) => [
      goal.name,
      ...columns.map(({ name, half }) => {
        const tally = goal.of(outcomes[name]!, half);
        return `${percent(tally)} (≥ ${(atLeast(tally) * 100).toFixed(1)}, n ${tally.of})`;
      }),
    ]),
  );
}

function within(title: string | undefined): { title?: string } {
  return title === undefined ? {} : { title };
}

function percent(tally: Tally): string {
  return tally.of === 0 ? '–' : (share(tally) * 100).toFixed(tally.hits === tally.of ? 0 : 1);
}

function share({ hits, of }: Tally): number {
  return of === 0 ? 1 : hits / of;
}

function table(head: readonly string[], rows: readonly string[][]): string {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join(' | ')} |`;
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
