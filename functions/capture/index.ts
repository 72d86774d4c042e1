import { captureConfigSchema } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler(createDependencies(captureConfigSchema.parse(process.env)));
