import { DescribeEventBusCommand, type EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { newEventBus } from '../../stages/stage-settings.ts';
import { about, type PreflightResult } from './result.ts';

/**
 * Checks that the event bus of a stage exists, since EventBridge drops events for one that does not. Returns no result
 * for a stage without a bus of the operator.
 */
export async function checkEventBus(
  setting: string | undefined,
  client: Pick<EventBridgeClient, 'send'>,
): Promise<PreflightResult[]> {
  if (setting === undefined || setting === newEventBus) return [];
  const { green, yellow, red } = about('event bus');
  try {
    const { Arn: arn = setting } = await client.send(new DescribeEventBusCommand({ Name: setting }));
    return [green(`${arn} exists.`)];
  } catch (error) {
    const name = error instanceof Error ? error.name : String(error);
    if (name === 'ResourceNotFoundException')
      return [
        red(
          `There is no event bus ${setting}; EventBridge would drop all events.`,
          `Create it (aws events create-event-bus --name …), correct eventBus, or set it to ${newEventBus}.`,
        ),
      ];
    return [
      yellow(
        `The event bus ${setting} cannot be read (${name}).`,
        'Permit events:DescribeEventBus, or ask the account of the bus.',
      ),
    ];
  }
}
