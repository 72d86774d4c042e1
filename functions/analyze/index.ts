import { analyzeConfigSchema } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler(createDependencies(analyzeConfigSchema.parse(process.env)));
