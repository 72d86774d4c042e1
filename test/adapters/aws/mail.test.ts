import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createMail } from '../../../adapters/aws/mail.ts';
import { createCollectedLog } from '../embedded/log/collected-log.ts';

const settings = {
  SMTP_SECRET_ARN: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:smtp-AbC123',
  EMAIL_FROM: 'watchpost@example.com',
  EMAIL_RECIPIENTS: ['@example.com'],
};
const mail = {
  to: 'a@example.com',
  subject: 'Gate',
  text: 'A truck',
  messageId: '<1@x>',
  headers: {},
  attachments: [],
};

function create(read: () => Promise<string>, fields: Partial<typeof settings> = {}) {
  const log = createCollectedLog();
  return { log, mail: createMail({ ...settings, ...fields }, { secret: () => ({ current: read }), log }) };
}

/** Server that answers each SMTP command with success, and keeps what it received. */
async function startSmtp() {
  const received: string[] = [];
  const server = createServer((socket) => {
    let inData = false;
    socket.write('220 test\r\n');
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\r\n').slice(0, -1)) {
        received.push(line);
        if (inData && line !== '.') continue;
        const isData = line === 'DATA';
        if (line === 'QUIT') socket.end('221 bye\r\n');
        else socket.write(isData ? '354 go\r\n' : '250 ok\r\n');
        inData = isData;
      }
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { received, port: (server.address() as AddressInfo).port, close: () => server.close() };
}

test('e-mail requires a server and a sender', () => {
  expect(
    createMail(
      { EMAIL_RECIPIENTS: [] },
      { secret: () => ({ current: async () => '' }), log: createCollectedLog() },
    ),
  ).toBeUndefined();
});

test('an e-mail goes over the server of the secret, which is read again after a change', async () => {
  const [first, second] = [await startSmtp(), await startSmtp()];
  let url = `smtp://127.0.0.1:${first.port}?ignoreTLS=true`;
  const { mail: created } = create(async () => `${url}\n`);
  expect(await created?.send(mail)).toMatchObject({ outcome: 'delivered', status: 250 });
  url = `smtp://127.0.0.1:${second.port}?ignoreTLS=true`;
  expect(await created?.send(mail)).toMatchObject({ outcome: 'delivered' });
  for (const { received } of [first, second])
    expect(received).toEqual(expect.arrayContaining(['RCPT TO:<a@example.com>', 'Subject: Gate']));
  first.close();
  second.close();
});

test.each([
  ['cannot be read', async () => Promise.reject(new Error('AccessDenied')), 'AccessDenied'],
  ['is no URL', async () => 'hunter2', 'no URL of smtp'],
  ['is the URL of a web page', async () => 'https://example.com', 'no URL of smtp'],
])('a secret that %s is logged without its content, and the e-mail is sent later', async (_, read, cause) => {
  const { mail: created, log } = create(read);
  expect(await created?.send(mail)).toMatchObject({ outcome: 'retry', status: null });
  expect(JSON.stringify(log.entries)).toContain(cause);
  expect(JSON.stringify(log.entries)).not.toContain('hunter2');
});
