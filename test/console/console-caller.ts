import { randomUUID } from 'node:crypto';
import type { ServiceProcess } from '../support/service-process.ts';

/** Caller of the service with a key for the console. */
export type Caller = { key: string; webhookSecret: string; call: ReturnType<typeof callWith> };

type Service = Pick<ServiceProcess, 'baseUrl' | 'internalKey'>;

function callWith({ baseUrl }: Service, key: string) {
  return async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
}

/** Creates a caller of its own for a test. */
export async function createCaller(service: Service): Promise<Caller> {
  const asAdmin = callWith(service, service.internalKey);
  const name = randomUUID();
  await asAdmin('POST', '/callers', { caller: name });
  const { key } = await asAdmin('POST', '/keys', {
    caller: name,
    label: 'signed in',
    scopes: ['jobs', 'keys'],
  });
  const call = callWith(service, key);
  const { secret } = await call('GET', '/webhook-secret');
  return { key, webhookSecret: secret, call };
}

/** Cancels the jobs and deletes the watches of a caller. */
export async function eraseWork({ call }: Caller): Promise<void> {
  const [{ jobs }, { watches }] = await Promise.all([call('GET', '/jobs'), call('GET', '/watches')]);
  for (const { job_id: jobId, status } of jobs)
    if (status === 'pending' || status === 'running') await call('DELETE', `/jobs/${jobId}`);
  for (const { watch_id: watchId } of watches) await call('DELETE', `/watches/${watchId}`);
}
