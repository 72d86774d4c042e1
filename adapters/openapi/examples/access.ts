const text = `wp_${'x'.repeat(43)}0a1b2c`;

export const key = {
  key_id: '6f1ed002ab5595859014ebf0951522d9a0f2b7f5f0e4a1d6c1f5b1f7a7a6d0f3',
  prefix: 'wp_xxxxxxxx',
  caller: 'harbour',
  scopes: ['jobs'],
  label: 'lock control room',
  created_by: null,
  created_at: '2026-03-01T11:00:00.000Z',
  last_used_at: '2026-03-01T12:00:00.000Z',
  revoked_at: null,
};

export const newKey = { key: text, ...key, last_used_at: null };
export const signInCode = {
  code: `${key.key_id}.1772366700.${'s'.repeat(43)}`,
  expires_at: '2026-03-01T12:05:00.000Z',
};
export const rotatedKey = { ...newKey, replaces: { ...key, revoked_at: '2026-03-01T13:00:00.000Z' } };
export const revokedKey = { ...key, revoked_at: '2026-03-01T12:00:00.000Z' };

export const caller = {
  caller: 'harbour',
  label: 'The harbour office',
  created_at: '2026-03-01T11:00:00.000Z',
};

const useOfDay = {
  model_calls: 412,
  model_errors: 3,
  input_tokens: 516_000,
  output_tokens: 20_600,
  cost_usd: 0.0359,
};

export const usage = {
  from: '2026-03-01',
  to: '2026-03-30',
  callers: [{ caller: 'harbour', ...useOfDay, days: [{ day: '2026-03-01', ...useOfDay }] }],
  next_after: null,
};

export const erasure = { caller: 'mooring', complete: true, keys: 2, jobs: 14, watches: 1, media: 61 };
