import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import type { Log, LogFields } from '../../../core/ports/log.ts';
import { redactedLog } from '../../../core/redact.ts';

export type PowertoolsLogOptions = { level: 'debug' | 'info' | 'warning' | 'error'; service: string };

export type FunctionLog = Log & {
  /** From now on each entry names the request and its trace. */
  during(context: Context): void;
};

/**
 * JSON entries on standard output, which Lambda sends to the log group. What an entry says besides its message lies under `fields`, so that no
 * field takes the place of the logger's own.
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
