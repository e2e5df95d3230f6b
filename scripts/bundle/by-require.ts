import { isBuiltin } from 'node:module';

const IMPORT =
  /^import (?:(?<alone>\w[\w$]*)|\* as (?<all>\w[\w$]*)|(?:(?<first>\w[\w$]*), )?\{(?<names>[^}]*)\}) from "(?<path>[^"]+)";$/gm;

/**
 * Has the modules of Node required in a file that esbuild made, instead of imported. An import of one has everything made at
 * once that it offers: node:http loads the whole of fetch for its WebSocket, a fifth of the time that the operator takes
 * to start.
 */
export function byRequire(text: string): string {
  return text.replaceAll(IMPORT, (whole, ...rest) => {
    const {
      alone,
      all,
      first,
      names = '',
      path = '',
    } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    // What makes `require` comes from there.
    if (!isBuiltin(path) || path === 'node:module') return whole;
    const required = `require(${JSON.stringify(path)})`;
    const single = alone ?? all;
    if (single !== undefined) return `const ${single} = ${required};`;
    const taken = `{${names.replaceAll(/([\w$]+) as ([\w$]+)/g, '$1: $2')}}`;
    return first === undefined
      ? `const ${taken} = ${required};`
      : `const ${first} = ${required}, ${taken} = ${first};`;
  });
}
