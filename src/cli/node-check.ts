import { EXIT } from './exit-codes.ts';
import { nodeComplaint } from './required-node.ts';

// Imported for this alone, and before anything that an older Node.js cannot load.
const complaint = nodeComplaint(process.versions.node, process.execPath);
if (complaint !== undefined) {
  process.stderr.write(`${complaint}\n`);
  process.exit(EXIT.usage);
}
