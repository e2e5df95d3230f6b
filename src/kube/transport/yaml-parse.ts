/** Imported on demand: in a pod there is no YAML to read. */
export { parse } from 'yaml';
