import type { Random } from '../base/clock.ts';
import type { Calls } from './edge/calls.ts';
import type { Rules } from './edge/readings.ts';
import type { Engine } from './engine.ts';
import type { Ids } from './ids.ts';
import type { ScriptHost } from './instances/scripts/script-host.ts';
import type { WebhookCaller } from './instances/webhooks/webhook-caller.ts';
import type { OperationFaults } from './instances/run/operation-faults.ts';
import type { Settings } from './settings.ts';
import type { Store } from './store/store.ts';
import type { ServiceTime } from './time.ts';
import type { ViewCache } from './view-cache.ts';

/** What every handler works with. */
export interface Service {
  readonly store: Store;
  readonly time: ServiceTime;
  readonly ids: Ids;
  readonly random: Random;
  readonly engine: Engine;
  /** Absolute URI without a trailing slash, the start of all schema identifiers. */
  readonly schemaBase: string;
  readonly views: ViewCache;
  readonly calls: Calls;
  readonly operationFaults: OperationFaults;
  /** Runs event scripts; absent where they are simulated. */
  readonly scripts: ScriptHost | undefined;
  readonly webhooks: WebhookCaller;
  /** Replaced as a whole when a reading is switched. */
  rules: Rules;
  settings: Settings;
}

/** Who calls. */
export interface Caller {
  account: string;
  email: string;
  /** Id of the personal workspace, the user's name. */
  personal: string;
  organization: string;
  /** The personal workspace and every team workspace that the user owns or is a member of. */
  workspaces: ReadonlySet<string>;
  /** Those of them where the user may do more than read. */
  writes: ReadonlySet<string>;
}
