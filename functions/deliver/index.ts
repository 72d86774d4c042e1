import { deliverConfigSchema } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler(createDependencies(deliverConfigSchema.parse(process.env)));
