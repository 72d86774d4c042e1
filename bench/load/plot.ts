import { lineY, plot, selectLast, text } from '@observablehq/plot';
import { parseHTML } from 'linkedom';

export type LoadPoint = { jobs: number; cores: number; delayP50Ms: number; delayP95Ms: number };

type Line = { jobs: number; value: number; name: string };

/** Plots the delay of checks by number of jobs, as the text of an SVG file. */
export function plotDelays(points: readonly LoadPoint[]): string {
  return plotLines(
    'delay of checks, ms',
    points.flatMap(({ jobs, delayP50Ms, delayP95Ms }) => [
      { jobs, value: delayP50Ms, name: 'median' },
      { jobs, value: delayP95Ms, name: '95 %' },
    ]),
  );
}

/** Plots the processor time of the service and its ffmpeg processes by number of jobs, as the text of an SVG file. */
export function plotCores(points: readonly LoadPoint[]): string {
  return plotLines(
    'processor cores in use',
    points.map(({ jobs, cores }) => ({ jobs, value: cores, name: 'service and ffmpeg' })),
  );
}

function plotLines(label: string, lines: readonly Line[]): string {
  const { document } = parseHTML('<!doctype html><html><body></body></html>');
  const svg = plot({
    document,
    style: { background: 'white' },
    width: 560,
    height: 320,
    marginLeft: 50,
    marginRight: 50,
    grid: true,
    x: { label: 'jobs' },
    y: { label, zero: true },
    marks: [
      lineY(lines, { x: 'jobs', y: 'value', stroke: 'name', marker: true }),
      text(lines, selectLast({ x: 'jobs', y: 'value', z: 'name', text: 'name', dy: -12 })),
    ],
  });
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return `${svg.outerHTML}\n`;
}
