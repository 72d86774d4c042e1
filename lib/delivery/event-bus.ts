import { Stack, Token } from 'aws-cdk-lib';
import { EventBus, type IEventBus } from 'aws-cdk-lib/aws-events';
import type { Construct } from 'constructs';
import { serviceName } from '../function/service-name.ts';
import { newEventBus } from '../stages/stage-settings.ts';

/** Bus of the events of all callers, with the value of `EVENT_BUS`. */
export type DeploymentBus = {
  bus: Pick<IEventBus, 'eventBusArn'>;
  /** Name of a bus of this account, or the ARN that the stage names. */
  nameOrArn: string;
  /** True if the stack creates it. */
  isNew: boolean;
};

/**
 * Creates the bus, or refers to the one that the stage names. Throws if it is in another region, which `PutEvents` does
 * not reach.
 */
export function createEventBus(scope: Construct, id: string, setting: string): DeploymentBus {
  const { region } = Stack.of(scope);
  if (setting === newEventBus) {
    const name = serviceName(scope);
    const bus = new EventBus(scope, id, {
      eventBusName: name,
      description: `Events of ${name}`,
    });
    return { bus, nameOrArn: bus.eventBusName, isNew: true };
  }
  const isArn = Token.isUnresolved(setting) || setting.startsWith('arn:');
  if (!isArn) return { bus: EventBus.fromEventBusName(scope, id, setting), nameOrArn: setting, isNew: false };
  const [, , , ofBus] = setting.split(':');
  if (ofBus !== region && !Token.isUnresolved(setting))
    throw new Error(
      `eventBus is a bus in ${ofBus}, and the stack is in ${region}. Use a bus in ${region}, with a rule that sends its events to the other region.`,
    );
  return { bus: EventBus.fromEventBusArn(scope, id, setting), nameOrArn: setting, isNew: false };
}
