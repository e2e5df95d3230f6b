import type { Ask, PageRoute, Shown } from './ask.ts';
import { blobDetail, blobFile } from './details/blob.ts';
import { boxDetail, boxOf } from './details/box.ts';
import { missing } from './details/detail.ts';
import { instanceDetail, instanceOf } from './details/instance.ts';
import { wholeLog } from './details/log.ts';
import { organizationDetail } from './details/organization.ts';
import { providerDetail } from './details/provider.ts';
import { workspaceDetail } from './details/workspace.ts';
import { deployForm, deployFromForm } from './forms/deploy.ts';
import { carryOut } from './forms/instance-actions.ts';
import { boxFromForm, newBoxForm } from './forms/new-box.ts';
import { blobList } from './lists/blobs.ts';
import { boxList, isPolicy, policyBoxList } from './lists/boxes.ts';
import { callList } from './lists/calls.ts';
import { instanceList } from './lists/instances.ts';
import { providerList } from './lists/providers.ts';
import { workspaceList } from './lists/workspaces.ts';
import { pathOf } from './pieces.ts';

const idOf = ({ params }: Ask): string => params['id'] ?? '';

const get = (path: string, show: PageRoute['show']): PageRoute => ({ method: 'GET', path, show });
const post = (path: string, show: PageRoute['show']): PageRoute => ({ method: 'POST', path, show });

/** What an address of the page shows that no route has. */
export function nowhere({ path }: Ask): Shown {
  return missing('instances', 'Instances', 'page', path);
}

async function act(ask: Ask): Promise<Shown> {
  const name = ask.params['action'] ?? '';
  const id = idOf(ask);
  const answer = await carryOut(ask, name, id);
  if (answer === undefined) return missing('instances', 'Instances', 'action', name);
  if (!answer.ok) return instanceDetail(ask, answer.message, answer.status);
  return { kind: 'goto', to: name === 'delete' ? '/page/instances' : pathOf('instances', id) };
}

/** Carries out a call, and shows the record again with what the service said against it. */
function carry(
  method: string,
  path: (id: string) => string,
  then: (id: string) => string,
  again: (ask: Ask, notice: string, status: number) => Shown,
): PageRoute['show'] {
  return async (ask) => {
    const id = encodeURIComponent(idOf(ask));
    const answer = await ask.call(method, path(id));
    return answer.ok ? { kind: 'goto', to: then(id) } : again(ask, answer.message, answer.status);
  };
}

function log(ask: Ask): Shown {
  const instance = instanceOf(ask);
  if (instance === undefined) return missing('instances', 'Instances', 'instance', idOf(ask));
  return { kind: 'text', text: wholeLog(ask.service, instance) };
}

/** Everything that the page shows to somebody who is logged in. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  get('/page/instances', instanceList),
  get('/page/instances/{id}', (ask) => instanceDetail(ask)),
  get('/page/instances/{id}/log', log),
  post('/page/instances/{id}/do/{action}', act),
  get('/page/boxes', boxList),
  get('/page/policy-boxes', policyBoxList),
  get('/page/boxes/new', (ask) => newBoxForm(ask)),
  post('/page/boxes/new', boxFromForm),
  get('/page/boxes/{id}', (ask) => boxDetail(ask)),
  get('/page/policy-boxes/{id}', (ask) => boxDetail(ask)),
  get('/page/boxes/{id}/deploy', (ask) => deployForm(ask)),
  post('/page/boxes/{id}/deploy', deployFromForm),
  post('/page/boxes/{id}/delete', (ask) => {
    const box = boxOf(ask);
    const list = box !== undefined && isPolicy(box) ? '/page/policy-boxes' : '/page/boxes';
    return carry(
      'DELETE',
      (id) => `/services/boxes/${id}`,
      () => list,
      boxDetail,
    )(ask);
  }),
  get('/page/providers', providerList),
  get('/page/providers/{id}', (ask) => providerDetail(ask)),
  post(
    '/page/providers/{id}/sync',
    carry(
      'PUT',
      (id) => `/services/providers/${id}/sync`,
      (id) => `/page/providers/${id}`,
      providerDetail,
    ),
  ),
  post(
    '/page/providers/{id}/delete',
    carry(
      'DELETE',
      (id) => `/services/providers/${id}`,
      () => '/page/providers',
      providerDetail,
    ),
  ),
  get('/page/workspaces', workspaceList),
  get('/page/workspaces/{id}', workspaceDetail),
  get('/page/organization', organizationDetail),
  get('/page/blobs', blobList),
  get('/page/blobs/{id}', blobDetail),
  get('/page/blobs/{id}/file', blobFile),
  get('/page/calls', callList),
];
