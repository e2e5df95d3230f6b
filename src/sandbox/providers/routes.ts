import { Type } from 'typebox';
import { canSeeProvider } from '../access.ts';
import { idsOf, param, type Call, type Route } from '../edge/route.ts';
import { forbidden, notFound } from '../http.ts';
import type { ProviderDoc } from '../model.ts';
import { providerEntry, providerView } from './view.ts';

const ProviderAnswer = Type.Object({
  id: Type.String(),
  uri: Type.String(),
  name: Type.String(),
  schema: Type.String(),
  type: Type.String(),
  state: Type.String(),
});

function visible(call: Call): ProviderDoc {
  const id = param(call, 'provider_id');
  const provider = call.service.store.providers.get(id);
  if (provider === undefined) throw notFound(`there is no provider ${id}`);
  if (!canSeeProvider(call.service, call.caller, provider)) {
    throw forbidden(`provider ${id} is not shared with you`);
  }
  return provider;
}

/** Interface document section 4.5. */
export const providerRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/services/providers',
    summary: 'Providers that the caller can use',
    success: 200,
    errors: [400],
    query: ['ids'],
    answer: Type.Array(ProviderAnswer),
    handler: (call) => {
      const ids = idsOf(call);
      return {
        kind: 'json',
        value: call.listing.providers
          .all()
          .filter((provider) => canSeeProvider(call.service, call.caller, provider))
          .filter((provider) => ids?.has(provider.id) ?? true)
          .map((provider) => providerEntry(call.service, provider)),
      };
    },
  },
  {
    method: 'GET',
    path: '/services/providers/{provider_id}',
    summary: 'Read a provider',
    success: 200,
    errors: [403, 404],
    answer: ProviderAnswer,
    handler: (call) => ({ kind: 'json', value: providerView(call.service, visible(call)) }),
  },
];
