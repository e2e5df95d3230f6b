import { ROWS, type Panel } from './dashboard-panels.ts';

/** Grafana's grid is so wide. */
const WIDTH = 24;
const SIZES = { stat: { w: 4, h: 4 }, timeseries: { w: 12, h: 8 } } as const;
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

/** A dashboard of Grafana: a row of numbers, then graphs, two side by side. */
export function dashboardJson(): string {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: ofRow } of ROWS) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
      panels: [],
    });
    y += 1;
    let x = 0;
    for (const panel of ofRow) {
      const { w, h } = SIZES[panel.type];
      if (x + w > WIDTH) {
        x = 0;
        y += h;
      }
      panels.push({ id: panels.length + 1, gridPos: { x, y, w, h }, ...panelJson(panel) });
      x += w;
    }
    y += SIZES[ofRow.at(-1)?.type ?? 'timeseries'].h;
  }
  const dashboard = {
    uid: 'boxwright',
    title: 'Boxwright',
    tags: ['boxwright'],
    timezone: 'browser',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        {
          name: 'namespace',
          label: 'namespace of the operator',
          type: 'query',
          datasource: DATASOURCE,
          query: 'label_values(up{job="boxwright"}, namespace)',
          refresh: 2,
          includeAll: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels,
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

function panelJson({ title, type, unit, queries }: Panel): object {
  return {
    type,
    title,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    ...(type === 'stat' ? { options: { reduceOptions: { calcs: ['lastNotNull'] } } } : {}),
    targets: queries.map(([expr, legendFormat], at) => ({
      refId: String.fromCodePoint(65 + at),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}

/** Every query of the dashboard as Grafana sends it with all namespaces chosen. */
export function dashboardQueries(): string[] {
  return ROWS.flatMap(({ panels }) => panels)
    .flatMap(({ queries }) => queries.map(([expr]) => expr))
    .map((expr) => expr.replaceAll('$namespace', '.*'));
}
