import type { InstanceDoc } from '../../model.ts';
import { fieldsOf } from '../../organizations/fields.ts';
import type { Service } from '../../service.ts';
import { effectiveVariables } from '../run/environment.ts';
import { line, type Run } from '../run/operations.ts';
import { note, userOf } from '../run/outcome.ts';
import { instanceTree, revision } from '../stack.ts';

/** One call of one webhook for one machine. */
export interface WebhookCall {
  url: string;
  machine: string;
  body: unknown;
}

/** What came of it. */
export interface WebhookAnswer {
  url: string;
  machine: string;
  /** The answered machine object, undefined when there was none after all tries. */
  answer: Record<string, unknown> | undefined;
  /** Said in the activity. */
  text: string;
}

export type WebhookResult = readonly WebhookAnswer[];

/** The webhooks of the instance's organization. */
export function webhooksOf(service: Service, instance: InstanceDoc): readonly string[] {
  const organization = service.store.organizations.get(instance.organization);
  return organization === undefined ? [] : fieldsOf(organization).webhooks;
}

/** The calls that an operation makes: every URL for every machine (interface document section 6). */
export function webhookCalls(service: Service, instance: InstanceDoc, operation: string): WebhookCall[] {
  const policy = revision(service, instance.policy);
  const provider = service.store.providers.get(String(policy?.fields['provider_id']));
  const profile = (policy?.fields['profile'] ?? {}) as Record<string, unknown>;
  const variables = effectiveVariables(instanceTree(service, instance), instance, '').map(
    ({ name, value }) => ({ name, value }),
  );
  return webhooksOf(service, instance).flatMap((url) =>
    instance.service.machines.map((machine) => ({
      url,
      machine: machine.name,
      body: {
        machine: {
          name: machine.name,
          schema: `${service.schemaBase}/${provider?.kind ?? 'test'}/compute/machine`,
        },
        service: {
          id: instance.service.id,
          type: instance.service.type,
          profile: { ...profile, network: profile['network'] ?? '' },
        },
        instance: { id: instance.id, name: instance.name, operation, variables },
      },
    })),
  );
}

/**
 * Applies the answered addresses and writes down what happened. False when a deploy did not get an answer: its
 * machines would have no address.
 */
export function applyWebhooks(
  service: Service,
  instance: InstanceDoc,
  run: Run,
  operation: string,
  result: WebhookResult,
  at: number,
): boolean {
  const username = userOf(service, run);
  const lines = result.map((entry) => ({
    ...line(username, entry.text, entry.answer === undefined ? 'error' : 'info', service.time.stamp(at)),
    machine: entry.machine,
  }));
  note(service, run, ...lines);
  if (operation === 'terminate') return true;
  const machines = instance.service.machines.map((machine) => {
    const customizations = result
      .filter((entry) => entry.machine === machine.name)
      .map((entry) => addressIn(entry.answer))
      .filter((address) => address !== undefined);
    return customizations.length === 0
      ? machine
      : {
          ...machine,
          address: Object.assign({}, machine.address, ...customizations) as typeof machine.address,
        };
  });
  service.store.instances.put({ ...instance, service: { ...instance.service, machines } });
  return result.every((entry) => entry.answer !== undefined);
}

/** The address of an answer's `customization`, in either of its two forms. */
function addressIn(answer: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const customization = answer?.['customization'] as Record<string, unknown> | undefined;
  if (typeof customization !== 'object' || customization === null) return undefined;
  const networks = customization['instance_networks'];
  const networkList = Array.isArray(networks) ? (networks as Record<string, unknown>[]) : [customization];
  const first = networkList[0]?.['ipv4_address'];
  if (typeof first !== 'string') return undefined;
  return { public: first, private: first, networks: networkList };
}
