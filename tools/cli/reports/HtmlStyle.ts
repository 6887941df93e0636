/** The style sheet of the page: light and dark, wide and narrow, on screen and on paper. */
export const style = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #14181d);
  --raised: light-dark(#f3f5f7, #1e242b);
  --text: light-dark(#1b2733, #e6eaee);
  --quiet: light-dark(#506070, #a3b0bc);
  --line: light-dark(#d5dbe1, #38424c);
  --bar: light-dark(#1f5fa8, #6aa9ee);
  --good: light-dark(#176b3a, #6fce94);
  --bad: light-dark(#a8261f, #f2938c);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 64rem;
  background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0; }
.quiet { color: var(--quiet); }
.good { color: var(--good); }
.bad { color: var(--bad); }
dl.counts { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.5rem 0; padding: 0; }
dl.counts div {
  flex: 1 1 9rem; padding: .75rem 1rem;
  background: var(--raised); border-radius: .5rem;
}
dl.counts dt { color: var(--quiet); }
dl.counts dd { margin: 0; font-size: 1.8rem; font-weight: 600; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--text); font-size: 15px; }
svg rect.bar { fill: var(--bar); }
svg rect.room { fill: var(--raised); }
article { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 0 0 1rem; }
article p { margin: .35rem 0; }
code {
  font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  overflow-wrap: anywhere;
}
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--quiet); padding: .25rem 0; }
th, td {
  padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line);
  text-align: left; vertical-align: top;
}
td { overflow-wrap: anywhere; }
summary { cursor: pointer; }
@media print { body { max-width: none; padding: 0; } article { break-inside: avoid; } }
`
