import { badRequest } from '../http.ts';
import type { InstanceDoc, OrganizationDoc } from '../model.ts';
import type { Service } from '../service.ts';
import { fieldsOf, type Allocated, type Quantity, type Quota } from './fields.ts';

/** What a machine of a flavor takes; prices in currency units per month. */
interface Size {
  cpu: number;
  /** Mb. */
  ram: number;
  /** Mb. */
  disk: number;
  cost: number;
}

const GB = 1024;
const SMALL: Size = { cpu: 1, ram: GB, disk: 8 * GB, cost: 10 };

/** Flavors of the Test Provider; others count like test.micro unless the organization prices them. */
const SIZES: Readonly<Record<string, Size>> = {
  'test.micro': SMALL,
  'test.small': { cpu: 2, ram: 2 * GB, disk: 20 * GB, cost: 20 },
};

const UNITS: Readonly<Record<string, number>> = { Mb: 1, Gb: GB, Tb: GB * GB };

/** What a deployment will take from a quota. */
export interface Demand {
  workspace: string;
  provider: string;
  machines: number;
  flavor: string;
  region: string;
  serviceType: string;
}

/** @throws Refusal 400 when an enforced cost center has no room for it (interface document section 2.10) */
export function checkQuota(service: Service, organization: string, demand: Demand): void {
  const doc = service.store.organizations.get(organization);
  if (doc === undefined || !fieldsOf(doc).features.cost_center) return;
  for (const center of fieldsOf(doc).cost_centers) {
    if (!center.enforce || !center.workspaces.includes(demand.workspace)) continue;
    for (const quota of center.quotas) {
      if (quota.provider !== demand.provider) continue;
      const over = overrun(doc, quota, demand);
      if (over !== undefined) throw badRequest(`cost center "${center.name}" is over its quota: ${over}`);
    }
  }
}

function overrun(doc: OrganizationDoc, quota: Quota, demand: Demand): string | undefined {
  const used = quota.allocated
    .filter((entry) => entry.terminated === null)
    .map((entry) => times(sizeOf(doc, entry.flavor, entry.region), entry.instances));
  const wanted = times(sizeOf(doc, demand.flavor, demand.region), demand.machines);
  const total = [...used, wanted].reduce(plus);
  const limits: readonly [keyof Size, number | undefined][] = [
    ['cost', quota.cost],
    ['cpu', quota.resources?.cpu],
    ['ram', inMb(quota.resources?.ram)],
    ['disk', inMb(quota.resources?.disk)],
  ];
  for (const [what, limit] of limits) {
    if (limit !== undefined && total[what] > limit) {
      return `${what} would be ${total[what]}, ${limit} is allowed`;
    }
  }
  return undefined;
}

const times = (size: Size, n: number): Size => ({
  cpu: size.cpu * n,
  ram: size.ram * n,
  disk: size.disk * n,
  cost: size.cost * n,
});

const plus = (a: Size, b: Size): Size => ({
  cpu: a.cpu + b.cpu,
  ram: a.ram + b.ram,
  disk: a.disk + b.disk,
  cost: a.cost + b.cost,
});

const inMb = (value: Quantity | undefined): number | undefined =>
  value === undefined ? undefined : value.quantity * (UNITS[value.unit] ?? 1);

function sizeOf(doc: OrganizationDoc, flavor: string, region: string): Size {
  const size = SIZES[flavor] ?? SMALL;
  const prices = fieldsOf(doc).providers.flatMap((entry) => entry.pricing);
  const own = prices.find((price) => price.flavor === flavor && (price.region ?? region) === region);
  return own?.price === undefined ? size : { ...size, cost: Number(own.price) };
}

/** Writes a deployment into the quotas that it takes from. */
export function allocate(
  service: Service,
  organization: string,
  instance: InstanceDoc,
  demand: Demand,
): void {
  const entry: Allocated = {
    instance_id: instance.id,
    instances: demand.machines,
    started: instance.created,
    flavor: demand.flavor,
    region: demand.region,
    service_type: demand.serviceType,
    terminated: null,
  };
  change(service, organization, (quota, workspaces) =>
    quota.provider === demand.provider && workspaces.includes(demand.workspace)
      ? { ...quota, allocated: [...quota.allocated, entry] }
      : quota,
  );
}

/** The machines of an instance are gone. */
export function release(service: Service, organization: string, instance: string, stamp: string): void {
  change(service, organization, (quota) =>
    quota.allocated.some((entry) => entry.instance_id === instance && entry.terminated === null)
      ? {
          ...quota,
          allocated: quota.allocated.map((entry) =>
            entry.instance_id === instance ? { ...entry, terminated: stamp } : entry,
          ),
        }
      : quota,
  );
}

function change(
  service: Service,
  organization: string,
  edit: (quota: Quota, workspaces: readonly string[]) => Quota,
): void {
  const doc = service.store.organizations.get(organization);
  if (doc === undefined || fieldsOf(doc).cost_centers.length === 0) return;
  const centers = fieldsOf(doc).cost_centers.map((center) => ({
    ...center,
    quotas: center.quotas.map((quota) => edit(quota, center.workspaces)),
  }));
  service.store.organizations.put({ ...doc, fields: { ...doc.fields, cost_centers: centers } });
}
