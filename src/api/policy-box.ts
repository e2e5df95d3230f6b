import {
  defaulted,
  list,
  object,
  oneOf,
  openObject,
  optional,
  shown,
  text,
  type Seen,
  type Written,
} from './schema/build.ts';
import { ownWords, type Rule } from './schema/rules.ts';
import { DELETION_TEXT, managedFields, managedRules } from './fields/common.ts';
import { draftStatus } from './fields/status.ts';
import { policyBoxVariables } from './fields/variables.ts';
import type { ManifestOf, Parsed, Resource } from './resource.ts';
import {
  AGE_COLUMN,
  CONNECTION_COLUMN,
  defineKind,
  ID_COLUMN,
  READY_COLUMN,
  reasonColumn,
  type KindDefinition,
} from './schema/kind.ts';

const LIFESPAN_RULE: Rule = {
  rule: `(self.operation == 'None') != has(self.after)`,
  message: 'operation Terminate needs after, and operation None must not have it',
  holds: ({ operation, after }: { operation: string; after?: string }) =>
    (operation === 'None') !== (after !== undefined),
};

/** The spec of a PolicyBox. */
export const PolicyBoxSpecSchema = object(
  'Where and how boxes are deployed: a provider and a profile of machines.',
  {
    ...managedFields('PolicyBox', ['Delete', 'Orphan'], DELETION_TEXT, 'Recreate'),
    name: optional(
      text(
        'Name on the service, unique per owner over all types of box. Absent: metadata.name. Can be changed.',
        { maxLength: 253, ...ownWords() },
      ),
    ),
    providerId: text(
      'Id of the provider on the service. Can be changed if the service allows it; otherwise the condition NotApplied says so.',
      { maxLength: 64 },
    ),
    profile: object(
      'Settings of the machines. Can be changed if the service allows it; otherwise the condition NotApplied says so.',
      {
        schema: text(
          'Schema of the profile: relative to the connection’s schema base, such as `test/compute/profile`, or absolute. Can be changed as profile can.',
          { maxLength: 512, pattern: '^[^\\s]+$' },
        ),
        properties: defaulted(
          openObject(
            'Properties of the profile as the service spells them, such as image, flavor, location, keypair and instances (a number). Default {}. Can be changed as profile can.',
            64,
          ),
          {},
        ),
      },
    ),
    claims: defaulted(
      list(
        'Requirements of boxes that this policy box meets, such as Linux. Default []. Can be changed if the service allows it.',
        text('One claim, as the service spells it.', { maxLength: 128 }),
        { maxItems: 32 },
      ),
      [],
    ),
    lifespan: optional(
      object(
        'Default lease of instances that are deployed through this policy box. Absent: the operator does not change the lifespan of the record, even if it was declared here before; operation None removes it. Can be changed if the service allows it.',
        {
          operation: defaulted(
            oneOf(
              'What happens at the end. None: there is no end, and `after` is left out. Default Terminate. Can be changed as lifespan can.',
              ['Terminate', 'None'],
            ),
            'Terminate',
          ),
          after: optional(
            text(
              'Time from the deploy to the end, in whole hours, such as 72h. Needed with Terminate. Can be changed as lifespan can.',
              {
                maxLength: 8,
                pattern: '^[1-9][0-9]*h$',
                hint: 'must be a number of whole hours, such as 72h',
              },
            ),
          ),
        },
        { rules: [LIFESPAN_RULE] },
      ),
    ),
    description: defaulted(
      text('For people. Default "". Can be changed.', { minLength: 0, maxLength: 2048 }),
      '',
    ),
    variables: policyBoxVariables(),
  },
  { rules: managedRules('PolicyBox') },
);

/** The status of a PolicyBox. */
export const PolicyBoxStatusSchema = object('What was found and what was done.', {
  ...draftStatus(),

  files: optional(
    list(
      'Files that were uploaded.',
      object('One file.', {
        path: text('Where it belongs: `variables.` with the name.', { maxLength: 400 }),
        hmac: text('Keyed hash of the content.', { maxLength: 128 }),
        url: text('Where the service keeps it.', { maxLength: 512 }),
      }),
      { maxItems: 100, mapKeys: ['path'] },
    ),
  ),
  providerId: optional(text('Id of the provider in use.', { maxLength: 64 })),
  provider: optional(
    shown(
      object('The provider as the service shows it.', {
        name: optional(text('Name of the provider.')),
        state: optional(text('State of the provider, in the service’s words.', { maxLength: 64 })),
      }),
    ),
  ),
});

/** `spec` of a PolicyBox, defaults filled in. */
export type PolicyBoxSpec = Seen<typeof PolicyBoxSpecSchema>;
/** `status` of a PolicyBox. */
export type PolicyBoxStatus = Seen<typeof PolicyBoxStatusSchema>;
/** A PolicyBox as the operator sees it. */
export type PolicyBox = Resource<PolicyBoxSpec, PolicyBoxStatus, 'PolicyBox'>;
/** A PolicyBox as a user writes it. */
export type PolicyBoxManifest = ManifestOf<Written<typeof PolicyBoxSpecSchema>, 'PolicyBox'>;

/** The kind PolicyBox. */
export const PolicyBoxKind: KindDefinition<PolicyBox> = defineKind<PolicyBox>({
  kind: 'PolicyBox',
  plural: 'policyboxes',
  shortNames: ['bwpolicy'],
  description: 'A deployment policy on the service: a provider and the settings of its machines.',
  spec: PolicyBoxSpecSchema,
  status: PolicyBoxStatusSchema,
  columns: [
    READY_COLUMN,
    reasonColumn(),
    {
      name: 'PROVIDER',
      type: 'string',
      jsonPath: '.status.provider.name',
      description: 'Name of the provider.',
    },
    AGE_COLUMN,
    ID_COLUMN,
    CONNECTION_COLUMN,
  ],
  selectableFields: ['.spec.connectionRef.name'],
});

/** Validates a PolicyBox and fills its defaults. Never throws. */
export function parsePolicyBox(raw: unknown): Parsed<PolicyBox> {
  return PolicyBoxKind.parse(raw);
}
