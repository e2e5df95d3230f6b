import { badRequest } from '../http.ts';
import type { Service } from '../service.ts';
import { fieldsOf } from './fields.ts';

/**
 * An organization that lists provider types allows the enabled ones only; one that lists none allows all.
 * @throws Refusal 400
 */
export function checkProviderEnabled(service: Service, organization: string, type: string): void {
  const doc = service.store.organizations.get(organization);
  if (doc === undefined) return;
  const { providers } = fieldsOf(doc);
  if (providers.length === 0) return;
  if (!providers.some((entry) => entry.type === type && entry.enabled)) {
    throw badRequest(`type: organization ${organization} has not enabled providers of type ${type}`);
  }
}
