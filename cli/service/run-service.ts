import type { LocatedFfmpeg } from '../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { watchExceptions } from '../../adapters/embedded/load/contain-exceptions.ts';
import { createLineLog } from '../../adapters/embedded/log/log.ts';
import { prepareKeys, writeCredentials, defaultCaller, type Credentials } from '../credentials.ts';
import { listen } from './http-server.ts';
import { openService, type Service } from './service.ts';
import type { Settings } from '../settings.ts';

export type RunningService = { service: Service; credentials: Credentials; close(): Promise<void> };

export type RunOptions = {
  write: (line: string) => void;
  humanReadable: boolean;
  /** False: events wait for a start that delivers them. Default: true. */
  delivers?: boolean;
};

/** Listens, opens the service, resumes earlier jobs, and writes the credentials file when the service is ready. */
export async function runService(
  settings: Settings,
  ffmpeg: LocatedFfmpeg,
  { delivers = true, ...logging }: RunOptions,
): Promise<RunningService> {
  const log = createLineLog({ level: settings.logLevel, now: () => new Date(), ...logging });
  const stopWatching = watchExceptions(process, (error) =>
    log.error('Something that a capture or delivery left open failed', {
      error: error.stack ?? error.message,
    }),
  );
  const server = await listen(settings.host, settings.port);
  const baseUrl = `${settings.publicUrl || toOrigin(settings.host, server.port)}/api`;
  let service: Service | undefined;
  try {
    if (!delivers) log.warning('Deliveries wait for a start without --no-deliveries');
    service = await openService(settings, ffmpeg, { baseUrl, port: server.port, delivers }, log);
    const { app, deps } = service;
    const keys = await prepareKeys(settings.dataDir, deps);
    await service.start();
    server.serve((request) => app.fetch(request));
    const secret = await deps.signer.secret(defaultCaller);
    const credentials = { base_url: baseUrl, pid: process.pid, ...keys, webhook_secret: secret };
    await writeCredentials(settings.dataDir, credentials);
    return { service, credentials, close: () => closeInOrder(server, service).finally(stopWatching) };
  } catch (error) {
    await closeInOrder(server, service).finally(stopWatching);
    throw error;
  }
}

async function closeInOrder(server: { close(): Promise<void> }, service: Service | undefined): Promise<void> {
  await service?.endStreams();
  await server.close();
  await service?.close();
}

/** Returns the address to call; "all addresses" becomes loopback. */
function toOrigin(host: string, port: number): string {
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${port}`;
}
