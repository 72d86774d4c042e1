// Providers of vision models on AWS, one line per folder. `cli/service/vision-model.ts` lists those of one machine.
export { bedrockProvider as bedrock } from './bedrock/provider.ts';
