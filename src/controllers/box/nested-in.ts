import type { Box } from '../../api/box.ts';
import type { KindCache } from '../cache.ts';
import type { FindNested } from './cycle.ts';

/** Finds what the variables of a box, and of those that it contains, name: always in its own namespace. */
export function nestedIn({ metadata }: Pick<Box, 'metadata'>, boxes: KindCache<Box>): FindNested {
  const { namespace } = metadata;
  return ({ boxRef, boxId }) => {
    if (boxRef !== undefined) return boxes.get(`${namespace}/${boxRef.name}`);
    if (boxId === undefined) return undefined;
    return boxes.holding(namespace, boxId)[0];
  };
}
