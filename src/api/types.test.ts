import { describe, expectTypeOf, test } from 'vitest';
import type { Box, BoxManifest } from './box.ts';
import type { ConnectionSpec } from './connection.ts';
import type { Instance, InstanceManifest } from './instance.ts';
import type { Condition } from './resource.ts';

// What counts here is that it compiles: `tsc` is the judge.
describe('the static types', () => {
  test('let a user leave out what has a default', () => {
    const box: BoxManifest = {
      apiVersion: 'boxwright.dev/v1alpha1',
      kind: 'Box',
      metadata: { name: 'web' },
      spec: { connectionRef: { name: 'main' }, variables: [{ name: 'PORT', type: 'Port', value: '80' }] },
    };
    expectTypeOf(box.spec.paused).toEqualTypeOf<boolean | undefined>();
    expectTypeOf<InstanceManifest['spec']['lease']>().toExtend<object | undefined>();
  });

  test('never leave the operator without what has a default', () => {
    expectTypeOf<Box['spec']['variables'][number]['required']>().toEqualTypeOf<boolean>();
    expectTypeOf<Box['spec']['overrides'][number]['scope']>().toEqualTypeOf<string>();
    expectTypeOf<Box['spec']['managementPolicy']>().toEqualTypeOf<'Full' | 'Observe'>();
    expectTypeOf<ConnectionSpec['poll']['settled']>().toEqualTypeOf<string>();
    expectTypeOf<Instance['spec']['failurePolicy']['onDeployFailed']>().toEqualTypeOf<'Hold'>();
    expectTypeOf<Instance['status']['observedGeneration']>().toEqualTypeOf<number>();
  });

  test('say where absence has a meaning', () => {
    expectTypeOf<Instance['spec']['powerState']>().toEqualTypeOf<'Running' | 'Stopped' | undefined>();
    expectTypeOf<Instance['status']['conditions']>().toEqualTypeOf<Condition[] | undefined>();
  });

  test('refuse words that no field has', () => {
    // @ts-expect-error no such policy
    expectTypeOf<Box['spec']['managementPolicy']>().toEqualTypeOf<'Full' | 'Observe' | 'Never'>();
    // @ts-expect-error a Box takes no Terminate
    expectTypeOf<Box['spec']['deletionPolicy']>().toEqualTypeOf<'Terminate' | undefined>();
  });
});
