import type { Route } from '../edge/route.ts';
import { openApi } from './document.ts';

/** The description of the service, outside /services. */
export function openApiRoutes(routes: readonly Route[]): readonly Route[] {
  let text: string | undefined;
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This description',
      success: 200,
      errors: [],
      open: true,
      text: 'application/json',
      handler: ({ service }) => {
        text ??= JSON.stringify(openApi(routes));
        return { kind: 'text', text: text.replaceAll('{schema_base}', service.schemaBase) };
      },
    },
  ];
}
