import type { Log, LogFields } from '../../../../core/ports/observability.ts';

export function createCollectedLog(): Log & {
  entries: { level: string; message: string; fields?: LogFields }[];
} {
  const entries: { level: string; message: string; fields?: LogFields }[] = [];
  const at = (level: string) => (message: string, fields?: LogFields) =>
    void entries.push({ level, message, ...(fields && { fields }) });
  return { entries, debug: at('debug'), info: at('info'), warning: at('warning'), error: at('error') };
}
