import type { Outcome } from './evaluate.ts';
import { shares } from './scene.ts';
import { atLeast } from './score.ts';

const colors = ['#0b6e4f', '#b5651d', '#5b6c8f'];
const box = { left: 60, top: 40, width: 560, height: 300 };

/**
 * Plots recall by object size on held-out seeds, one line per detector with its savings. The area below a line
 * starts at the 95 % confidence bound.
 */
export function plot(outcomes: Record<string, Outcome>): string {
  const lines = Object.entries(outcomes).map(([name, outcome], at) => {
    const tallies = shares.map((share) =>
      outcome.recall({ half: 'held out', shares: (other) => other === share }),
    );
    const savings = outcome.savings({ half: 'held out' });
    const points = tallies.map((tally, step) => point(step, tally.hits / tally.of));
    const lower = tallies.map((tally, step) => point(step, atLeast(tally)));
    const label = `${name}: ${((savings.hits / savings.of) * 100).toFixed(0)} % saved on still scenes`;
    return [
      `<polygon points="${[...points, ...lower.toReversed()].join(' ')}" fill="${colors[at]}" opacity="0.2"/>`,
      `<polyline points="${points.join(' ')}" fill="none" stroke="${colors[at]}" stroke-width="2.5"/>`,
      `<text x="${box.left + 250}" y="${box.top + 215 + at * 20}" fill="${colors[at]}">${label}</text>`,
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 400" font-family="sans-serif" font-size="13">
<rect width="660" height="400" fill="white"/>
<text x="${box.left}" y="22" font-size="15">Events seen in time, by size (held-out seeds)</text>
${axes()}
${lines.join('\n')}
</svg>
`;
}

function axes(): string {
  const across = shares.map(
    (share, at) =>
      `<text x="${x(at)}" y="${box.top + box.height + 20}" text-anchor="middle">${share * 100} %</text>`,
  );
  const up = [0, 25, 50, 75, 100].map((percent) => {
    const y = box.top + box.height * (1 - percent / 100);
    return `<line x1="${box.left}" x2="${box.left + box.width}" y1="${y}" y2="${y}" stroke="#ddd"/><text x="${box.left - 8}" y="${y + 4}" text-anchor="end">${percent}</text>`;
  });
  return [...up, ...across, `<text x="${box.left}" y="385">object size, share of the frame</text>`].join(
    '\n',
  );
}

function point(at: number, share: number): string {
  return `${x(at).toFixed(1)},${(box.top + box.height * (1 - share)).toFixed(1)}`;
}

function x(at: number): number {
  return box.left + (box.width * at) / (shares.length - 1);
}
