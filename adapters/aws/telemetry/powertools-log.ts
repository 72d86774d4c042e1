import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import type { Log, LogFields } from '../../../core/ports/log.ts';
import { redactedLog } from '../../../core/observability/redact.ts';

/** Options of `createPowertoolsLog`. */
export type PowertoolsLogOptions = { level: 'debug' | 'info' | 'warning' | 'error'; service: string };

/** Log of one function. */
export type FunctionLog = Log & {
  /** Adds the request id and the trace id to each following entry. */
  during(context: Context): void;
};

/**
 * Creates a log that writes JSON to standard output, which Lambda sends to the log group. Additional data is in
 * `fields`, so that it cannot replace fields of the logger.
 */
export function createPowertoolsLog({ level, service }: PowertoolsLogOptions): FunctionLog {
  const logger = new Logger({ serviceName: service, logLevel: level === 'warning' ? 'WARN' : level });
  const write = (method: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
    if (fields === undefined) logger[method](message);
    else logger[method](message, { fields });
  };
  return {
    ...redactedLog({
      debug: write('debug'),
      info: write('info'),
      warning: write('warn'),
      error: write('error'),
    }),
    during: (context) => logger.addContext(context),
  };
}
