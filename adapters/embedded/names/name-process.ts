import { lookup } from 'node:dns/promises';

/**
 * Process that resolves names by the operating system, with hosts file, `.local` names and search domains. Its parent
 * may end it at any time.
 */
process.on('disconnect', () => process.exit());
process.on('message', (message: unknown) => void answer(message));

async function answer(message: unknown): Promise<void> {
  if (typeof message !== 'object' || message === null || !('id' in message) || !('host' in message)) return;
  const { id, host } = message;
  if (typeof host !== 'string') return;
  try {
    process.send?.({ id, addresses: await lookup(host, { all: true }) });
  } catch (error) {
    process.send?.({ id, error: String(error) });
  }
}
