import { Type, type TSchema } from 'typebox';
import { choice, Member } from '../schemas.ts';
import { PROVIDER_TYPES } from './types.ts';

const icon = Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()]));
const description = Type.Optional(Type.String({ maxLength: 2048 }));

/** POST /services/providers; type-specific fields are checked by type. */
export const NewProvider = Type.Object({
  schema: Type.String(),
  type: choice(...Object.keys(PROVIDER_TYPES)),
  name: Type.String({ minLength: 1, maxLength: 256 }),
  description,
  icon,
  owner: Type.Optional(Type.String({ maxLength: 64 })),
});

/** A create request of each type, and of each name that a type has for a field. */
export const NEW_PROVIDER_VARIANTS: readonly TSchema[] = Object.entries(PROVIDER_TYPES).flatMap(
  ([type, { kind, fields, limits, aliases = {} }]) => {
    const variant = (own: Readonly<Record<string, TSchema>>): TSchema =>
      Type.Object({
        ...NewProvider.properties,
        type: Type.Literal(type),
        schema: Type.Literal(`{schema_base}/${kind}/provider`),
        ...own,
        ...limits,
      });
    const renamed = Object.entries(aliases).map(([alias, name]) => {
      const { [name]: field, ...others } = fields;
      return field === undefined ? fields : { ...others, [alias]: field };
    });
    return [fields, ...renamed].map(variant);
  },
);

export const ProviderUpdate = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  description,
  icon,
  members: Type.Optional(Type.Array(Member, { maxItems: 1000 })),
});

export const NewImage = Type.Object({
  location: Type.String({ minLength: 1, maxLength: 256 }),
  name: Type.String({ minLength: 1, maxLength: 256 }),
  description,
});

export const ImageAnswer = Type.Object({
  id: Type.String(),
  location: Type.String(),
  name: Type.String(),
  description: Type.String(),
});

export const ProviderAnswer = Type.Object({
  id: Type.String(),
  uri: Type.String(),
  name: Type.String(),
  description: Type.String(),
  icon: Type.String(),
  schema: Type.String(),
  type: Type.String(),
  owner: Type.String(),
  organization: Type.String(),
  created: Type.String(),
  updated: Type.String(),
  deleted: Type.Union([Type.String(), Type.Null()]),
  services: Type.Array(Type.Object({ name: Type.String() })),
  members: Type.Array(Member),
  state: choice('initializing', 'processing', 'ready', 'deleting', 'unavailable'),
  admin_boxes: Type.Array(Type.Unknown()),
});

export const ProviderLog = Type.Object({
  id: Type.String(),
  provider_id: Type.String(),
  workspace: Type.String(),
  created: Type.String(),
  updated: Type.String(),
  text: Type.String(),
  level: Type.String(),
});
