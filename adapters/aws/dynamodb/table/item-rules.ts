import type { ItemTtls } from './item-ttls.ts';

/** Settings of the deployment that decide columns of items. */
export type ItemRules = {
  ttls: ItemTtls;
  /** True if an event bus receives the events of all jobs and watches. */
  hasBus: boolean;
};
