/** Example bodies by route; `{schema_base}` stands for the start of the schema URIs. */
export const EXAMPLES: Readonly<Record<string, unknown>> = {
  'POST /services/security/token': { email: 'admin@sandbox.example', password: 'secret' },
  'POST /services/boxes': {
    schema: '{schema_base}/boxes/script',
    name: 'web',
    description: 'Front end',
    requirements: ['Linux'],
  },
  'PUT /services/boxes/{box_id}': {
    name: 'web',
    variables: [{ name: 'PORT', type: 'Port', value: '8080', required: true, visibility: 'public' }],
    events: {
      install: {
        url: '/services/blobs/download/0123456789abcdef01234567/install.sh',
        destination_path: 'scripts',
      },
    },
  },
  'POST /services/instances': {
    schema: '{schema_base}/deploy-instance-request',
    owner: 'shop',
    name: 'web-1',
    box: { id: '2f1c0f0e-6b7e-4f43-9a50-0a4d1f3b7a11', variables: [{ name: 'PORT', value: '80' }] },
    policy_box: { id: '9f0d4c8e-1d4e-4b57-8a5f-4a8f5c1b2d33' },
    instance_tags: ['web'],
    lease: { operation: 'shutdown', expire: '2030-01-01 18:00:00.000000' },
  },
  'PUT /services/instances/{instance_id}': { tags: ['web', 'blue'] },
  'PUT /services/instances/{instance_id}/reconfigure': { id: 'i-4fk2p9', method: 'reconfigure' },
  'PUT /services/instances/{instance_id}/pull': { box_id: '2f1c0f0e-6b7e-4f43-9a50-0a4d1f3b7a11' },
  'POST /services/providers': {
    schema: '{schema_base}/softlayer/provider',
    type: 'SoftLayer',
    name: 'Dallas',
    username: 'ops',
    api_key: 'secret',
  },
  'POST /services/workspaces': {
    schema: '{schema_base}/workspaces/team',
    name: 'Shop Team',
    members: [{ role: 'collaborator', workspace: 'admin' }],
  },
};
