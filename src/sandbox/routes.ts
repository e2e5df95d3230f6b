import { blobRoutes } from './blobs/routes.ts';
import { boxRoutes } from './boxes/routes.ts';
import type { Route } from './edge/route.ts';
import { instanceRoutes } from './instances/routes.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { providerRoutes } from './providers/routes.ts';
import { securityRoutes } from './security/routes.ts';
import { workspaceRoutes } from './workspaces/routes.ts';

/** Every endpoint of the service. */
export const ROUTES: readonly Route[] = [
  ...securityRoutes,
  ...boxRoutes,
  ...instanceRoutes,
  ...blobRoutes,
  ...providerRoutes,
  ...workspaceRoutes,
  ...organizationRoutes,
];
