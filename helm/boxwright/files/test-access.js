// Run by `helm test` in a pod with the operator's ServiceAccount: may it list what it follows?
// No template literals: Flux would take them for variables of its own.
import { readFileSync } from 'node:fs';

const mount = '/var/run/secrets/kubernetes.io/serviceaccount';
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const server = 'https://' + (host.includes(':') ? '[' + host + ']' : host) + ':' + port;
const headers = { authorization: 'Bearer ' + readFileSync(mount + '/token', 'utf8') };
const namespaces = process.env.BOXWRIGHT_NAMESPACES.split(',').filter((name) => name !== '');

async function get(path) {
  const answer = await fetch(server + path, { headers });
  if (!answer.ok) throw new Error('GET ' + path + ': ' + answer.status + ' ' + (await answer.text()));
  return answer.json();
}

const group = '/apis/boxwright.dev';
const { preferredVersion } = await get(group);
const base = group + '/' + preferredVersion.version;
const { resources } = await get(base);
const kinds = resources.filter(({ name }) => !name.includes('/'));
const scopes = namespaces.length === 0 ? [''] : namespaces.map((name) => '/namespaces/' + name);
for (const scope of scopes) {
  for (const { name } of kinds) await get(base + scope + '/' + name + '?limit=1');
  await get('/api/v1' + scope + '/configmaps?limit=1');
}
console.log('ok: ' + kinds.length + ' kinds in ' + (namespaces.length || 'all') + ' namespaces');
