import type { DocumentOptions, ParseOptions, SchemaOptions, Tags } from 'yaml';

/**
 * How kubectl reads a manifest: as YAML 1.1, in which `on` and `y` are booleans and `<<` merges, but with times and
 * numbers of base 60 left as text. Source: sigs.k8s.io/yaml, which reads with go-yaml 2.
 */
export const MANIFEST_YAML: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  customTags: (tags: Tags): Tags =>
    tags.filter((tag) => typeof tag === 'string' || (tag.format !== 'TIME' && tag.tag !== TIMESTAMP)),
};

const TIMESTAMP = 'tag:yaml.org,2002:timestamp';
