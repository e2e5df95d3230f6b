import type { Court, Judge } from './judge.ts';

/** No write of the operator is refused by the schema and the rules of its own definitions. */
export function ownSchema(court: Court): Judge {
  return {
    wrote({ resource, key, part, status, request }) {
      if (status !== 422 && status !== 400) return;
      court.object(
        `${resource} ${key}: the API server answers ${status} to a write of ${part}: ` +
          JSON.stringify(request.body).slice(0, 600),
      );
    },
  };
}
