import { z } from 'zod';
import { visionProviders } from '../../adapters/vision/aws-provider-registry.ts';
import type { VisionProvider } from '../../adapters/vision/aws-provider.ts';

/** Values of SECOND_HOST for which a model was created. */
export const created: string[] = [];

/** Description that the folder of a second provider exports. */
export const second = {
  settings: { SECOND_HOST: z.string() },
  stageSettings: { secondHost: z.string().optional() },
  describeModel: (model = 'second-large') => ({
    provider: 'second',
    model,
    supportsVideo: false,
    judgesMoments: false,
    maxPictures: 8,
  }),
  findPrice: () => ({ input: 1, output: 2, pictureTokens: 3, videoTokensPerSecond: null }),
  readStage: ({ secondHost }: { secondHost: string }) => ({
    modelId: 'second-large',
    region: 'eu-north-1',
    environment: { SECOND_HOST: secondHost },
  }),
  listPermissions: () => [{ actions: ['second:Judge'], resources: ['arn:aws:second:::model'] }],
  createModel: (settings: { SECOND_HOST: string }, deps) => {
    created.push(settings.SECOND_HOST);
    return { ...visionProviders.bedrock.createModel({}, deps), provider: 'second', model: 'second-large' };
  },
} satisfies VisionProvider;
