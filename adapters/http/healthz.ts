import type { Context } from 'hono';
import { worstStatus } from '../../core/ports/health.ts';
import type { HealthReader } from '../../core/ports/health.ts';

/**
 * Handles `GET /healthz`: 200 while the process runs, regardless of the checks, so that no supervisor restarts a service whose model is
 * down. `?deep` adds the checks without their details, because this path requires no key.
 */
export function healthz({ health }: { health?: HealthReader }) {
  return async (context: Context): Promise<Response> => {
    context.header('Cache-Control', 'no-store');
    if (context.req.query('deep') === undefined) return context.json({ status: 'ok' });
    const findings = (await health?.read()) ?? [];
    const checks = findings.map(({ check, status, message, next }) => ({ check, status, message, next }));
    return context.json({ status: worstStatus(findings), checks });
  };
}
