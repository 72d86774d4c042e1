import { expect, test } from 'vitest';
import { toAlertTexts } from '../../console/alerts/alert-texts.ts';

const model = 'Seen by the built-in object model, which is not a vision-language model.';
const closing = {
  at: '2026-11-23T02:00:00Z',
  reason: 'condition_ended',
  open_seconds: 5,
  evidence_url: null,
} as const;

test.each([
  [
    'of the same model',
    `Looks like 1 person (0.74). ${model}`,
    `Looks like no person. ${model}`,
    {
      texts: [
        { label: 'Opened', text: 'Looks like 1 person (0.74).' },
        { label: 'Closed', text: 'Looks like no person.' },
      ],
      ending: model,
    },
  ],
  [
    'without a common sentence',
    'A van stands there.',
    'The yard is empty.',
    {
      texts: [
        { label: 'Opened', text: 'A van stands there.' },
        { label: 'Closed', text: 'The yard is empty.' },
      ],
      ending: '',
    },
  ],
  [
    'of one sentence each',
    'The gate is open',
    'The gate is open',
    {
      texts: [
        { label: 'Opened', text: 'The gate is open' },
        { label: 'Closed', text: 'The gate is open' },
      ],
      ending: '',
    },
  ],
  [
    'that is open',
    'A van stands there.',
    '',
    { texts: [{ label: null, text: 'A van stands there.' }], ending: '' },
  ],
])('the texts of an alert %s are labelled, and name the model once', (_, explanation, closed, expected) => {
  const alert = { explanation, closed: closed === '' ? null : { ...closing, explanation: closed } };
  expect(toAlertTexts(alert as never)).toEqual(expected);
});
