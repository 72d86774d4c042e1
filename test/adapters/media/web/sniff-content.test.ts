import { expect, test } from 'vitest';
import { sniffStart } from '../../../../adapters/media/web/sniff-content.ts';

const jpeg = '\xff\xd8\xff\xe0\0\x10JFIF';

test.each([
  ['boundary and headers', `--frame\r\nContent-Type: image/jpeg\r\n\r\n${jpeg}`, 'motion-jpeg'],
  ['a boundary without dashes', `frame\r\nX: 1\r\n\r\n${jpeg}`, 'motion-jpeg'],
  ['a preamble', `Some text.\r\n\r\n--frame\n\n${jpeg}`, 'motion-jpeg'],
  ['nothing', jpeg, 'jpeg'],
  ['bytes that are no text', `\0\0\n${jpeg}`, 'something else'],
])('a picture behind %s is found in a response of any type', (_, start, content) => {
  expect(sniffStart(Buffer.from(start, 'latin1'), true)).toBe(content);
});
