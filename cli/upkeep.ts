import type { EmbeddedJobStore } from '../adapters/embedded/job-store.ts';
import type { EmbeddedKeyStore } from '../adapters/embedded/key-store.ts';
import type { EmbeddedMediaStore } from '../adapters/embedded/media-store.ts';
import type { WorkflowEngine } from '../adapters/embedded/workflow/engine.ts';
import type { ExecutionStore } from '../adapters/embedded/workflow/execution-store.ts';
import type { Collaborators } from '../core/collaborators.ts';
import { rules } from '../core/decision/rules.ts';
import { addSeconds } from '../core/decision/schedule.ts';
import { reconcile } from '../core/operations/reconcile.ts';
import { revokedKeySeconds } from '../core/ports/key-store.ts';
import type { Log } from '../core/ports/log.ts';

export type UpkeepNeeds = {
  collaborators: Collaborators;
  jobs: EmbeddedJobStore;
  keys: EmbeddedKeyStore;
  media: EmbeddedMediaStore;
  executions: WorkflowEngine;
  executionStore: ExecutionStore;
  log: Log;
};

const upkeepSeconds = 60;
const mediaKeptSeconds = 86_400;
const jobsARun = 200;
/** Longer than any lease: at a start every active job is looked at. */
const everyLeaseSeconds = 86_400;

/**
 * What EventBridge and TTLs do in AWS. At start: leases are renewed before anything is judged lost, executions go on, and
 * every active job is looked at; then every minute. Returns what stops it.
 */
export async function startUpkeep(needs: UpkeepNeeds): Promise<() => Promise<void>> {
  const { collaborators, jobs, executions } = needs;
  const renewedUntil = addSeconds(collaborators.now(), rules.leaseAllowanceSeconds);
  jobs.renewLeases(renewedUntil);
  executions.resume();
  await reconcile(collaborators, {
    dueBy: addSeconds(renewedUntil, everyLeaseSeconds),
    limit: Number.MAX_SAFE_INTEGER,
  });
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(() => tidy(needs));
  }, upkeepSeconds * 1000);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

async function tidy({ collaborators, jobs, keys, media, executionStore, log }: UpkeepNeeds): Promise<void> {
  const now = collaborators.now();
  const aDayAgo = addSeconds(now, -mediaKeptSeconds);
  const steps = {
    reconcile: () => reconcile(collaborators, { dueBy: now, limit: jobsARun }),
    'sweep of jobs': () => jobs.sweep(now),
    'sweep of pictures': () => media.sweep(aDayAgo),
    'sweep of keys': () => keys.sweep(addSeconds(now, -revokedKeySeconds)),
    'sweep of executions': async () => executionStore.prune(aDayAgo),
  };
  for (const [name, step] of Object.entries(steps)) {
    await step().catch((error: unknown) =>
      log.warning(`The ${name} failed; it is tried again in a minute`, { error: String(error) }),
    );
  }
}
