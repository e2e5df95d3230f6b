/** The page's style and script, served as they are. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --done: #1a7f37; --processing: #9a6700; --unavailable: #cf222e; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 75rem; padding: 1rem; }
header { display: flex; align-items: baseline; gap: 1rem; flex-wrap: wrap; }
h1 { font-size: 1.25rem; margin: 0; }
h2 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; }
code, .mono { font-family: ui-monospace, monospace; font-size: .92em; }
.state::before { content: "●"; margin-right: .35em; }
.done { color: var(--done); } .processing { color: var(--processing); } .unavailable { color: var(--unavailable); }
.muted { opacity: .7; }
form.login { display: grid; gap: .5rem; max-width: 20rem; }
form.inline { display: inline; }
.error { color: var(--unavailable); }
`;

/** Replaces the tables every two seconds; without it the page reloads itself every five. */
export const SCRIPT = `
const main = document.querySelector('main');
async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (!answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
    if (next) main.replaceChildren(...next.childNodes);
  } catch { /* the next round tries again */ }
}
setInterval(refresh, 2000);
`;
