import { get } from 'node:http';

/**
 * Reads event streams for `bench/load.ts`, as a process of its own, whose processor time does not count. Sends `open`
 * when all streams are open, and at a message the delays in milliseconds, from an event's timestamp to its arrival.
 * Usage: readers-process.ts <streams per URL> <API key> <URL …>
 */

const [perUrl = '1', apiKey = '', ...urls] = process.argv.slice(2);
let openedAt = Infinity;
const delays: number[] = [];

await Promise.all(urls.flatMap((url) => Array.from({ length: Number(perUrl) }, () => open(url))));
openedAt = Date.now();
process.send?.('open');
process.on('disconnect', () => process.exit());
process.on('message', () => {
  process.send?.(delays);
});

function open(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${apiKey}` };
    get(url, { headers }, (response) => {
      if (response.statusCode !== 200) {
        reject(new Error(`${url} responded with ${response.statusCode}.`));
        return;
      }
      let rest = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        const arrivedAt = Date.now();
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) addDelay(line, arrivedAt);
      });
      resolve();
    }).on('error', reject);
  });
}

/** Events from before all streams were open do not count. */
function addDelay(line: string, arrivedAt: number): void {
  const timestamp = /^data:.*"timestamp":"([^"]+)"/.exec(line)?.[1];
  if (timestamp === undefined) return;
  const sentAt = Date.parse(timestamp);
  if (sentAt > openedAt) delays.push(arrivedAt - sentAt);
}
