import { defaulted, list, object, oneOf, optional, text, type Seen } from '../schema/build.ts';
import { exactlyOne } from '../schema/rules.ts';
import { AUTOMATIC_UPDATES, BOX_VISIBILITY, MEMBER_ROLES } from '../words.ts';
import { keyReference } from './references.ts';
import { INLINE_LIMIT } from './variables.ts';

/** Workspaces that a record is shared with, at most. */
export const MEMBERS_LIMIT = 64;

const ASKED = 'Can be changed if the service allows it; otherwise the condition NotApplied says so.';

/** A file that a record names: written in the manifest, or taken from a ConfigMap. */
export function fileOf(purpose: string, change: string) {
  return object(
    `${purpose} The operator applies a change of the ConfigMap. ${change}`,
    {
      inline: optional(
        text(`The content itself, at most 64 KiB. ${change}`, { minLength: 0, maxLength: INLINE_LIMIT }),
      ),
      configMapKeyRef: optional(keyReference('ConfigMap', `Takes the content from a ConfigMap. ${change}`)),
    },
    { rules: [exactlyOne(['inline', 'configMapKeyRef'], 'set exactly one of inline and configMapKeyRef')] },
  );
}

/** Spec fields of a box about who sees it, and what people see of it. */
export function sharingFields() {
  return {
    visibility: defaulted(
      oneOf(
        `Who sees the box on the service. Workspace: the members of its workspace. Organization: all of its organization. Public: all. Default Workspace. ${ASKED}`,
        BOX_VISIBILITY.ours,
      ),
      'Workspace',
    ),
    automaticUpdates: defaulted(
      oneOf(
        `Which new versions of the box its deployments follow by themselves. Default None. ${ASKED}`,
        AUTOMATIC_UPDATES.ours,
      ),
      'None',
    ),
    members: defaulted(
      list(
        'Workspaces that the box is shared with. Unique by workspace. Members that others added stay. Default []. Can be changed.',
        object('One member.', {
          workspace: text(
            'Id of the workspace. Required. Another workspace is another member. Can be changed.',
            {
              maxLength: 64,
            },
          ),
          role: defaulted(
            oneOf(
              'Collaborator: may change and deploy the box. Read: may only use it. Default Collaborator. Can be changed.',
              MEMBER_ROLES.ours,
            ),
            'Collaborator',
          ),
        }),
        { maxItems: MEMBERS_LIMIT, mapKeys: ['workspace'] },
      ),
      [],
    ),
    icon: optional(
      object(
        'Picture of the box. Absent: the operator leaves the icon of the record alone, and takes away the one that it put there. The operator applies a change of the ConfigMap. Can be changed.',
        {
          configMapKeyRef: keyReference(
            'ConfigMap',
            'Takes the picture from a ConfigMap (binaryData); the end of the key says what it is: .png, .svg, .jpg, .gif, .webp or .ico. Can be changed.',
          ),
        },
      ),
    ),
    readme: optional(
      fileOf(
        'Text about the box, in Markdown. Absent: the operator leaves the readme of the record alone, and takes away the one that it put there.',
        ASKED,
      ),
    ),
  };
}

const SHARING = object('', sharingFields());
/** The same, defaults filled in. */
export type Sharing = Seen<typeof SHARING>;
