import { expect, test } from 'vitest';
import { createAnswerLimit } from '../../../adapters/egress/guarded-udp.ts';

test('a host that floods has 500 kB of answers, all hosts have 4 MB, and a further host still fits', () => {
  const fits = createAnswerLimit();
  const accepted = (host: string) =>
    Array.from({ length: 1000 }, () => fits(host, 1000)).filter(Boolean).length;
  expect(accepted('192.168.1.1')).toBe(500);
  expect(fits('192.168.1.2', 1000)).toBe(true);
  const others = Array.from({ length: 10 }, (_, host) => accepted(`192.168.2.${host}`));
  expect(others.reduce((sum, count) => sum + count, 0)).toBe(3499);
});
