import { blobRoutes } from './blobs/routes.ts';
import { boxRoutes } from './boxes/routes.ts';
import type { Route } from './edge/route.ts';
import { instanceRoutes } from './instances/routes.ts';
import { openApiRoutes } from './openapi/routes.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { providerRoutes } from './providers/routes.ts';
import { securityRoutes } from './security/routes.ts';
import { workspaceRoutes } from './workspaces/routes.ts';

const SERVICE_ROUTES: readonly Route[] = [
  ...securityRoutes,
  ...boxRoutes,
  ...instanceRoutes,
  ...blobRoutes,
  ...providerRoutes,
  ...workspaceRoutes,
  ...organizationRoutes,
];

/** Every endpoint of the service, and its description. */
export const ROUTES: readonly Route[] = [...SERVICE_ROUTES, ...openApiRoutes(SERVICE_ROUTES)];
