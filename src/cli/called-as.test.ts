import { describe, expect, it } from 'vitest';
import { calledAs } from './called-as.ts';

describe('the name that the program is called by', () => {
  it.each([
    ['/usr/bin/boxwright', 'boxwright', false],
    ['/usr/bin/kubectl-boxwright', 'kubectl boxwright', false],
    ['/usr/bin/kubectl-boxwright.js', 'kubectl boxwright', false],
    ['/usr/bin/kubectl_complete-boxwright', 'kubectl boxwright', true],
    [undefined, 'boxwright', false],
  ])('%s', (file, program, completes) => {
    expect(calledAs(file)).toEqual({ program, completes });
  });
});
