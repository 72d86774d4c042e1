import type { StreamingRuntime } from '../../adapters/aws/http/response-stream.ts';
import { streamConfigSchema } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { createHandler } from './handler.ts';

declare const awslambda: StreamingRuntime;

export const handler = createHandler(createDependencies(streamConfigSchema.parse(process.env)), awslambda);
