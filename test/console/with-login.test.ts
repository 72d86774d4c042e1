import { expect, test } from 'vitest';
import { withLogin } from '../../console/try/with-login.ts';

test.each([
  ['admin', 'p@ss:w/rd?#%', 'rtsp://admin:p%40ss%3Aw%2Frd%3F%23%25@192.168.1.20:554/live'],
  ['a@b', '$&', 'rtsp://a%40b:%24%26@192.168.1.20:554/live'],
  ['admin', '', 'rtsp://admin:@192.168.1.20:554/live'],
  ['', 'ignored', 'rtsp://192.168.1.20:554/live'],
])('user "%s" with password "%s" are in the stream URL, percent-encoded', (username, password, expected) => {
  const url = withLogin('rtsp://192.168.1.20:554/live', username, password);
  expect(url).toBe(expected);
  if (username === '') return;
  const { username: user, password: secret } = new URL(url);
  expect([user, secret].map(decodeURIComponent)).toEqual([username, password]);
});
