import * as watches from './watches.ts';

export const search = { query: 'a white delivery van', from: '2026-03-01T00:00:00Z' };

const watchId = watches.watchId;
export const moment = {
  moment_id: `${watchId}-mm7q4w1s-5-0`,
  watch_id: watchId,
  at: '2026-03-01T12:04:10.000Z',
  verdicts: [{ condition_id: 'person', triggered: false, explanation: 'Nobody is at the gate.' }],
  scene: 'A white delivery van stops in front of a gate',
  judged_by: 'us.amazon.nova-lite-v1:0',
  expires_at: '2026-03-04T12:04:10.000Z',
  picture_url: `https://watch.example/api/moments/${watchId}-mm7q4w1s-5-0/picture`,
};

export const reviewedMoment = {
  ...moment,
  reviews: [
    {
      condition_id: 'person',
      condition: 'A person is at the gate',
      holds: true,
      missed: true,
      at: '2026-03-01T12:30:00.000Z',
      by: 'control room',
    },
  ],
};

export const searchResult = {
  sentence:
    '1 visit found: 1,204 moments, 3 matched in words, 3 checked; `thorough` checks all 302 visits (about $0.05). Visits of 12 s and more are sure to be seen; not seen Sun 1 Mar 02:10 to 03:55 (UTC): camera lost.',
  results: [
    {
      moment,
      watch_name: 'Gate',
      from: '2026-03-01T12:04:10.000Z',
      to: '2026-03-01T12:09:40.000Z',
      open_begin: false,
      open_end: false,
      matched: true,
    },
  ],
  next_cursor: null,
  limit_reached: false,
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-01T13:00:00.000Z',
  words: ['white', 'delivery', 'van', 'truck', 'parcel'],
  moments: 1204,
  matched_in_words: 3,
  looked_at: 3,
  not_judged: 0,
  without_picture: 0,
  model_calls: 2,
  cost_usd: 0.0009,
  thorough: { visits: 302, exact: true, model_calls: 38, cost_usd: 0.05 },
  sure_from_seconds: 12,
  not_seen: [
    { watch_id: watchId, from: '2026-03-01T02:10:00.000Z', to: '2026-03-01T03:55:00.000Z', reason: 'stream' },
  ],
};

export const momentList = {
  moments: [moment],
  next_after: null,
  watched: {
    from: '2026-03-01T11:00:00.000Z',
    to: '2026-03-01T12:00:30.000Z',
    judged_seconds: 240,
    quiet_seconds: 3_270,
    between_seconds: 0,
    not_seen_seconds: 120,
    gaps: [
      {
        watch_id: watchId,
        from: '2026-03-01T11:20:00.000Z',
        to: '2026-03-01T11:22:00.000Z',
        reason: 'stream' as const,
      },
    ],
    coverage: 0.967,
    sure_from_seconds: 4,
  },
  pictures_kept_from: null,
};

export const backtest = {
  conditions: [{ condition: 'A white delivery van is at the gate' }],
  from: '2026-02-26T00:00:00Z',
};

export const backtestResult = {
  sentence:
    '1 alert, 18,204 of 18,204 moments played. Visits of 12 s and more are sure to be seen; not seen Sun 1 Mar 02:10 to 03:55 (UTC): camera lost.',
  alerts: [
    {
      condition_id: 'a-white-delivery-van-is-at-the-ga',
      condition: 'A white delivery van is at the gate',
      opened_at: '2026-03-01T12:04:10.000Z',
      closed_at: '2026-03-01T12:09:40.000Z',
      explanation: 'A white van stops in front of the gate.',
      picture_url: moment.picture_url,
      moments: [{ moment_id: moment.moment_id, at: moment.at, picture_url: moment.picture_url }],
    },
  ],
  open: [],
  possible: [],
  next_cursor: null,
  stopped: null,
  from: '2026-02-26T00:00:00.000Z',
  to: '2026-03-01T13:00:00.000Z',
  played_to: '2026-03-01T13:00:00.000Z',
  moments: 18204,
  without_picture: 0,
  not_judged: 0,
  model_calls: 18204,
  cost_usd: 1.1,
  estimate: { moments: 18204, model_calls: 18204, cost_usd: 1.1, exact: true },
};

export const ask = { question: 'When was the last delivery?', from: '2026-03-01T00:00:00Z' };

export const askResult = {
  answered: true,
  answer: 'A white van delivered at 12:04.',
  statements: [{ text: 'A white van delivered at 12:04.', moments: [moment] }],
  next_to: null,
  sentence:
    'Visits of 12 s and more are sure to be seen; not seen Sun 1 Mar 02:10 to 03:55 (UTC): camera lost.',
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-01T13:00:00.000Z',
  pictures: 24,
  model_calls: 1,
  cost_usd: 0.0012,
};
