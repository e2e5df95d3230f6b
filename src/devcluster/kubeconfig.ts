import { stringify } from 'yaml';
import type { Credentials } from './pki/authority.ts';

/** A kubeconfig with everything inline and one context, named `boxwright`. */
export function renderKubeconfig(options: {
  server: string;
  ca: string;
  user: string;
  credentials: Credentials;
  namespace?: string;
}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'boxwright',
        cluster: { server: options.server, 'certificate-authority-data': base64(options.ca) },
      },
    ],
    users: [
      {
        name: options.user,
        user: {
          'client-certificate-data': base64(options.credentials.cert),
          'client-key-data': base64(options.credentials.key),
        },
      },
    ],
    contexts: [
      {
        name: 'boxwright',
        context: { cluster: 'boxwright', user: options.user, namespace: options.namespace ?? 'default' },
      },
    ],
    'current-context': 'boxwright',
  });
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
