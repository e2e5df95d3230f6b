import { runSchemathesis } from './run.ts';

/** `npm run test:openapi`: prints what schemathesis prints, and how many cases failed in all. */
const result = await runSchemathesis(20, (text) => void process.stdout.write(text));
if (result.kind === 'skipped') {
  process.stdout.write(`skipped: ${result.why}\n`);
} else {
  process.stdout.write(`${result.cases} cases, ${result.failures} failures\n`);
  process.exitCode = result.failures === 0 ? 0 : 1;
}
