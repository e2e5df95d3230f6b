import type { Court, Judge } from './judge.ts';
import { absence } from './absence.ts';
import { generations } from './generations.ts';
import { hammering } from './hammering.ts';
import { legalPaths } from './legal-paths.ts';
import { notedFirst } from './noted-first.ts';
import { oldBase } from './old-base.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { ownRecords } from './own-records.ts';
import { ownSchema } from './own-schema.ts';
import { readyTruth } from './ready-truth.ts';
import { secrecy } from './secrecy.ts';
import { statusContract } from './status-contract.ts';
import { usersOwn } from './users-own.ts';

/** Every judge that sits in every world, by name. */
export const JUDGES: Readonly<Record<string, (court: Court) => Judge>> = {
  absence,
  generations,
  hammering,
  'legal paths': legalPaths,
  'noted first': notedFirst,
  'old base': oldBase,
  'one at a time': oneAtATime,
  'own records': ownRecords,
  'own schema': ownSchema,
  'ready truth': readyTruth,
  secrecy,
  'status contract': statusContract,
  "user's own": usersOwn,
};
