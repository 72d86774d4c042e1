'use strict';

/**
 * Function of the helper stack (`../helper-template.ts`, which inserts the segments): serves a live HLS stream and receives webhooks. The playlist
 * follows the clock and repeats three stored segments, so that nothing encodes. Each webhook becomes a message of the queue, with its headers.
 */

const { gunzipSync } = require('node:zlib');

const segments = /* SEGMENTS */ [].map((text) => gunzipSync(Buffer.from(text, 'base64')));
const segmentSeconds = 4;
const listed = 5;

exports.handler = async (event) => {
  const method = event.requestContext.http.method;
  const path = event.rawPath;
  if (method === 'POST') return receive(event);
  if (path.endsWith('/live.m3u8'))
    return reply(200, 'application/vnd.apple.mpegurl', exports.playlist(Date.now()), {
      'cache-control': 'no-store',
    });
  const [, number] = /\/(\d+)\.ts$/.exec(path) ?? [];
  if (number === undefined) return reply(404, 'text/plain', 'not found');
  return {
    ...reply(200, 'video/mp2t', segments[Number(number) % segments.length].toString('base64')),
    isBase64Encoded: true,
  };
};

/** Returns the playlist at a time in epoch milliseconds: its last segment has just ended. */
exports.playlist = (nowMs) => {
  const end = Math.floor(nowMs / 1000 / segmentSeconds);
  const first = end - listed;
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:3',
    `#EXT-X-TARGETDURATION:${segmentSeconds}`,
    `#EXT-X-MEDIA-SEQUENCE:${first}`,
    // The times of a stored segment go back when the three repeat.
    `#EXT-X-DISCONTINUITY-SEQUENCE:${Math.floor((first - 1) / 3)}`,
  ];
  for (let number = first; number < end; number += 1) {
    if (number % 3 === 0) lines.push('#EXT-X-DISCONTINUITY');
    const startsAt = new Date(number * segmentSeconds * 1000).toISOString();
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${startsAt}`, `#EXTINF:${segmentSeconds}.0,`, `${number}.ts`);
  }
  return `${lines.join('\n')}\n`;
};

async function receive(event) {
  const body = event.isBase64Encoded
    ? Buffer.from(event.body ?? '', 'base64').toString()
    : (event.body ?? '');
  const { SQSClient, SendMessageCommand } = require('@aws-sdk/client-sqs');
  const attribute = (name) => ({ DataType: 'String', StringValue: event.headers[name] ?? '-' });
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  await new SQSClient({}).send(
    new SendMessageCommand({
      QueueUrl: process.env.QUEUE_URL,
      MessageBody: body,
      MessageAttributes: Object.fromEntries(names.map((name) => [name, attribute(name)])),
    }),
  );
  return { statusCode: 204 };
}

function reply(statusCode, contentType, body, headers = {}) {
  return { statusCode, headers: { 'content-type': contentType, ...headers }, body };
}
