import type { Plugin } from 'esbuild';

/** Modules of packages that are left out of the bundle. */
interface LeftOut {
  /** For the one who reads that it is not met any more. */
  what: string;
  /** Who loads it: a path. */
  by: RegExp;
  /** As it is named there. */
  name: RegExp;
  /** What stands in its place. */
  instead: string;
}

const inPackage = (name: string, file = ''): RegExp =>
  new RegExp(`node_modules/${name}/${file.replaceAll('.', String.raw`\.`)}`);

/** What packages load at once and nothing here uses. All of it costs time at each start, and memory. */
const LEFT_OUT: readonly LeftOut[] = [
  {
    what: 'the API classes of client-node: its KubeConfig hands them to clients that are not used here',
    by: inPackage('@kubernetes/client-node', 'dist/config.js'),
    name: /^\.\/gen\/index\.js$/,
    instead: 'export const createConfiguration = undefined, ServerConfiguration = undefined;',
  },
  {
    what: 'the SOCKS proxies of client-node: such a proxy-url is refused',
    by: inPackage('@kubernetes/client-node', 'dist/config.js'),
    name: /^socks(-proxy-agent)?$/,
    instead: 'export const SocksProxyAgent = undefined, SocksClient = undefined;',
  },
  {
    what: 'the interfaces of the web, doubles for tests, interceptors and stores of answers of undici',
    by: inPackage('undici'),
    name: /\/(web|mock|interceptor|cache)\//,
    // The one thing that the index makes at once.
    instead: 'module.exports = { CacheStorage: class {} };',
  },
  {
    what: 'HTTP/2 of undici, as where Node has none: every agent here is told not to speak it',
    by: inPackage('undici'),
    name: /^node:http2$/,
    instead: 'module.exports = { constants: {} };',
  },
  {
    what: 'processes of commander: no subcommand is a program of its own',
    by: inPackage('commander'),
    name: /^node:child_process$/,
    instead: 'export default undefined;',
  },
  {
    what: 'kinds of metrics of prom-client, and its ways to a gateway and between processes',
    by: inPackage('prom-client', 'index.js'),
    name: /^\.\/lib\/(cluster|pushgateway|summary)$/,
    instead: 'module.exports = undefined;',
  },
];

/** Leaves that out; fails when a package has it elsewhere now. */
export function leftOut(): Plugin {
  const met = new Set<LeftOut>();
  return {
    name: 'left-out',
    setup(to) {
      for (const [index, each] of LEFT_OUT.entries()) {
        to.onResolve({ filter: each.name }, ({ path, importer }) => {
          if (!each.by.test(importer.replaceAll('\\', '/'))) return undefined;
          met.add(each);
          return { path: `${path} of ${index}`, namespace: 'left-out', pluginData: each };
        });
      }
      to.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ pluginData }) => ({
        contents: (pluginData as LeftOut).instead,
      }));
      to.onEnd(() => ({
        errors: LEFT_OUT.filter((each) => !met.has(each)).map(({ what }) => ({
          text: `nothing loads this any more: ${what}`,
        })),
      }));
    },
  };
}

/**
 * Refuses a package that is imported on demand: of one in CommonJS only `default` would be there, and its names undefined.
 * A module of ours that exports the names is imported on demand instead.
 */
export function packagesByName(): Plugin {
  return {
    name: 'packages-by-name',
    setup(to) {
      to.onResolve({ filter: /^[^.]/ }, ({ path, kind, importer }) => {
        // An ES module, which keeps its names.
        if (kind !== 'dynamic-import' || path === '@kubernetes/client-node/dist/config.js') return undefined;
        if (/node_modules/.test(importer) || path.startsWith('node:')) return undefined;
        return {
          errors: [{ text: `import ${path} on demand by a module of ours that exports what is used` }],
        };
      });
    },
  };
}
