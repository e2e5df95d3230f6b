import { API_VERSION } from '../api/names.ts';
import { defineCommand } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { OUTPUT_FLAG } from './output-flag.ts';
import { version } from './version.ts';

/** `boxwright version`. */
export const versionCommand = defineCommand({
  flags: { output: OUTPUT_FLAG },
  run({ output }, { stdout }) {
    const facts = {
      version,
      apiVersion: API_VERSION,
      node: process.version,
      platform: `${process.platform}/${process.arch}`,
    };
    stdout.write(
      output === 'json'
        ? `${JSON.stringify(facts)}\n`
        : `boxwright ${facts.version} (${facts.apiVersion}, Node ${facts.node}, ${facts.platform})\n`,
    );
    return Promise.resolve(EXIT.ok);
  },
});
