import { z } from 'zod';

const slackText = (max: number) => z.string().min(1).max(max);
/** Message of an incoming webhook of Slack, with the limits of Block Kit. */
export const slackMessage = z.strictObject({
  text: slackText(4_000),
  blocks: z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('header'),
          text: z.strictObject({ type: z.literal('plain_text'), text: slackText(150), emoji: z.boolean() }),
        }),
        z.strictObject({
          type: z.literal('section'),
          text: z.strictObject({ type: z.literal('mrkdwn'), text: slackText(3_000), verbatim: z.boolean() }),
        }),
        z.strictObject({
          type: z.literal('image'),
          image_url: z.url().max(3_000),
          alt_text: slackText(2_000),
        }),
        z.strictObject({
          type: z.literal('context'),
          elements: z
            .array(
              z.strictObject({ type: z.literal('plain_text'), text: slackText(2_000), emoji: z.boolean() }),
            )
            .max(10),
        }),
      ]),
    )
    .max(50),
});

/** Schema that PagerDuty publishes (api-schema, reference/events-v2), with the lengths of its documentation. */
export const pagerdutyEvent = z.strictObject({
  routing_key: z.string(),
  event_action: z.enum(['trigger', 'acknowledge', 'resolve']),
  dedup_key: z.string().min(1).max(255),
  client: z.string().optional(),
  client_url: z.url().optional(),
  payload: z
    .strictObject({
      summary: z.string().min(1).max(1_024),
      source: z.string().min(1),
      severity: z.enum(['critical', 'warning', 'error', 'info']),
      timestamp: z.iso.datetime(),
      component: z.string(),
      custom_details: z.looseObject({}),
    })
    .optional(),
  images: z.array(z.strictObject({ src: z.url({ protocol: /^https$/ }), alt: z.string() })).optional(),
});
