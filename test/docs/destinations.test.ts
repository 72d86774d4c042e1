import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { destinationExamples } from './destination-examples.ts';

const page = readFileSync('docs/use/destinations.md', 'utf8');
const headings: Record<string, string> = {
  webhook: 'Webhook',
  slack: 'Slack',
  discord: 'Discord',
  ntfy: 'ntfy',
  pagerduty: 'PagerDuty',
  email: 'E-mail',
  mqtt: 'MQTT and Home Assistant',
};

test.each(Object.entries(destinationExamples()))(
  'docs/use/destinations.md shows what arrives at a destination of type %s',
  (type, expected) => {
    const chapter = page.split(/^## /m).find((part) => part.startsWith(headings[type] ?? '-'));
    const [, block = ''] = /```json\n([\s\S]*?)\n```/.exec(chapter ?? '') ?? [];
    expect(JSON.parse(block)).toEqual(expected);
  },
);
