/**
 * Style sheet of `/docs`, light and dark. On wide screens the services are beside the page, and the examples beside the fields;
 * on a phone everything is one column, and the header leads to the index instead of the list of services.
 */
export const docsStyle = `
:root {
  color-scheme: light dark;
  --canvas: light-dark(#f6f7f8, #0d0f12);
  --surface: light-dark(#ffffff, #14171b);
  --raised: light-dark(#ffffff, #1c2026);
  --sunken: light-dark(#f1f3f5, #0a0c0e);
  --hover: light-dark(#f4f6f8, #1a1e23);
  --selected: light-dark(#e9effd, #19233f);
  --line: light-dark(#e5e8ec, #23282f);
  --line-2: light-dark(#d0d6dd, #353c46);
  --control: light-dark(#7a8491, #6b7583);
  --text: light-dark(#14181d, #e8ebee);
  --text-2: light-dark(#454e5a, #adb6c1);
  --text-3: light-dark(#5f6975, #8b95a2);
  --accent: light-dark(#2c52c0, #93abff);
  --accent-fill: light-dark(#3358d4, #3d63dd);
  --danger-fill: light-dark(#b8232a, #c5343b);
  --ok: light-dark(#17703f, #54c98f);
  --ok-shape: light-dark(#24904f, #3fb57b);
  --warn: light-dark(#865300, #eeb04a);
  --warn-shape: light-dark(#bd7800, #e5a02c);
  --warn-tint: light-dark(#fdf4e1, #271f10);
  --err: light-dark(#b8232a, #ff8a8a);
  --err-shape: light-dark(#d4353c, #f0626a);
  --err-tint: light-dark(#fcefef, #2b1719);
  --mono: ui-monospace, "SFMono-Regular", Menlo, Consolas, "Liberation Mono", monospace;
  font: 13px/20px ui-sans-serif, system-ui, sans-serif;
  font-variant-numeric: tabular-nums;
  scroll-padding-top: 60px;
}
*, *::before, *::after { box-sizing: border-box; }
body { background: var(--surface); color: var(--text); margin: 0; overflow-wrap: anywhere; }
[hidden] { display: none !important; }
h1, h2, h3, p, ul, ol, dl, dd, pre { margin: 0; }
h1 { font-size: 20px; font-weight: 600; line-height: 28px; }
h2 { font-size: 15px; font-weight: 600; line-height: 20px; }
h3 { font-size: 13px; font-weight: 600; }
h1 code, h3 code { color: var(--text-3); font-weight: 400; }
code, pre, textarea { font: 12px/20px var(--mono); }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
p a, .errors a { text-decoration: underline; text-decoration-color: var(--line-2); text-underline-offset: 2px; }
ul, .messages { list-style: none; padding: 0; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
main:focus { outline: none; }
:target { background: var(--selected); box-shadow: 0 0 0 4px var(--selected); border-radius: 2px; }
.quiet { color: var(--text-3); }
.skip { left: -100vw; position: absolute; }
.skip:focus { background: var(--surface); left: 24px; padding: 4px; top: 12px; z-index: 3; }

body > header { align-items: center; background: var(--canvas); border-bottom: 1px solid var(--line); display: flex; gap: 12px; height: 48px; padding: 0 24px; position: sticky; top: 0; z-index: 2; }
body > header a { color: var(--text-2); white-space: nowrap; }
.home { font-size: 15px; font-weight: 600; }
body > header .home { color: var(--text); }
body > header nav { display: flex; gap: 16px; margin-left: auto; }
.sandbox { background: var(--warn-tint); border-radius: 6px; color: var(--warn); font-size: 12px; line-height: 16px; padding: 2px 6px; }
.sidebar { display: none; }
main { max-width: 1240px; min-width: 0; padding: 24px; }
main > * + * { margin-top: 12px; }
main > section { padding-top: 20px; }

.api > ul { border: 1px solid var(--line); border-radius: 8px; margin-top: 8px; }
.api > ul > li { display: grid; gap: 0 16px; padding: 6px 12px; }
.api > ul > li + li { border-top: 1px solid var(--line); }
.api > ul > li > .name { color: var(--text); font-weight: 500; }
.api > ul > li > p { color: var(--text-2); }
.rpcs { display: flex; flex-wrap: wrap; font-size: 12px; gap: 0 12px; line-height: 20px; }
.rpcs li { scroll-margin-top: 60px; }

.summary { border: 1px solid var(--line); border-radius: 8px; }
.summary li { display: grid; gap: 0 16px; padding: 6px 12px; }
.summary li + li { border-top: 1px solid var(--line); }
.summary span { color: var(--text-2); }
.summary a { font-weight: 500; }
.summary li > .quiet { color: var(--text-3); font-size: 12px; }

.rpc { border-top: 1px solid var(--line); margin-top: 24px; }
.rpc-head { align-items: baseline; display: flex; flex-wrap: wrap; gap: 0 12px; }
.rpc-head code { color: var(--text-3); }
.halves { display: grid; gap: 16px 32px; margin-top: 8px; }
.about, .examples { min-width: 0; }
.halves h3 { margin-top: 12px; }
.halves p + p, .types p + p { margin-top: 4px; }
.facts { color: var(--text-3); display: flex; flex-wrap: wrap; font-size: 12px; line-height: 16px; margin-top: 4px; }
.facts li:not(:last-child)::after { content: "·"; margin: 0 6px; }
dl { margin-top: 4px; }
dl > div { border-top: 1px solid var(--line); display: grid; gap: 0 16px; padding: 4px 0; }
dl > div:last-child { border-bottom: 1px solid var(--line); }
dt code { font-weight: 500; }
dt span { color: var(--text-3); display: block; font-size: 12px; line-height: 16px; }
dd { color: var(--text-2); font-size: 12px; line-height: 18px; padding-top: 1px; }
.errors { color: var(--text-3); font-size: 12px; line-height: 18px; margin-top: 4px; }
.errors li { padding-left: 16px; text-indent: -16px; }
.types section { margin-top: 16px; }

pre { background: var(--sunken); border-radius: 6px; padding: 8px 12px; white-space: pre-wrap; }
.example { position: relative; }
summary { color: var(--text-2); cursor: pointer; line-height: 28px; }
details[open] > summary { color: var(--text); font-weight: 500; }
.examples details + details { border-top: 1px solid var(--line); }
.examples details[open] { padding-bottom: 8px; }

table { border-collapse: collapse; width: 100%; }
caption { font-weight: 600; padding: 8px 0; text-align: left; }
th, td { border-top: 1px solid var(--line); font-weight: 400; padding: 4px 16px 4px 0; text-align: left; vertical-align: top; }
thead th { color: var(--text-3); font-size: 12px; }
td { color: var(--text-2); font-size: 12px; }

button, input, textarea { background: var(--raised); border: 1px solid var(--line-2); border-radius: 6px; color: var(--text); }
button { cursor: pointer; font: inherit; font-weight: 500; height: 28px; padding: 0 10px; }
button:hover { background: var(--hover); }
button[aria-disabled=true] { cursor: progress; }
button.primary { background: var(--accent-fill); border-color: transparent; color: #ffffff; }
button.primary:hover { background: var(--accent-fill); filter: brightness(1.08); }
button.danger, button.danger:hover { background: var(--danger-fill); border-color: transparent; color: #ffffff; }
button.copy { font-size: 12px; font-weight: 400; height: 24px; padding: 0 8px; position: absolute; right: 4px; top: 4px; opacity: 0; }
.example:hover .copy, .copy:focus { opacity: 1; }
.rpc-head button { margin-left: auto; }

#search { flex: 1; max-width: 420px; min-width: 0; position: relative; }
#search input { border-color: var(--control); font: inherit; height: 28px; padding: 0 32px 0 10px; width: 100%; }
#search kbd { border: 1px solid var(--line-2); border-radius: 4px; color: var(--text-3); font: 11px/16px var(--mono); padding: 0 5px; pointer-events: none; position: absolute; right: 6px; top: 5px; }
.results { background: var(--raised); border: 1px solid var(--line-2); border-radius: 8px; box-shadow: 0 8px 24px rgb(0 0 0 / 18%); left: 0; position: absolute; top: 34px; width: max(100%, 560px); max-width: calc(100vw - 48px); }
.results [role=listbox] { max-height: min(560px, calc(100vh - 140px)); overflow-y: auto; }
.results [role=option] { color: var(--text); display: grid; grid-template-columns: 56px minmax(0, 1fr); line-height: 20px; padding: 5px 12px; text-decoration: none; white-space: normal; }
.results [role=option]:hover { background: var(--hover); }
.results [aria-selected=true] { background: var(--selected); }
.results .kind { color: var(--text-3); font-size: 12px; }
.results .where, .results .text { color: var(--text-3); display: block; font-size: 12px; line-height: 16px; }
.results .text { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.results p { color: var(--text-2); padding: 10px 12px; }
mark { background: none; color: var(--accent); font-weight: 600; }

.try { align-self: start; border: 1px solid var(--line-2); border-radius: 8px; display: grid; gap: 8px; min-width: 0; padding: 12px; }
.try > div { display: grid; gap: 8px; min-width: 0; }
.try > div > div { display: grid; gap: 8px; min-width: 0; }
.try label { font-weight: 500; }
.try textarea { border-color: var(--control); display: block; padding: 6px 10px; resize: vertical; width: 100%; }
.try .row.row { align-items: center; display: flex; flex-wrap: wrap; gap: 8px; }
.try .row .quiet { font-size: 12px; }
.try pre { max-height: 420px; overflow: auto; }
.note { border-radius: 6px; background: var(--sunken); padding: 8px 12px; }
.note.warn { background: var(--warn-tint); }
.note.err { background: var(--err-tint); }
.note ul, .note ol { margin: 4px 0 0; padding-left: 20px; }
.note ul { list-style: disc; }
.status::before { border-radius: 50%; content: ""; display: inline-block; height: 8px; margin-right: 8px; width: 8px; background: var(--control); }
.status.ok::before { background: var(--ok-shape); }
.status.err::before { background: var(--err-shape); border-radius: 0; transform: rotate(45deg); }
.messages > li + li { border-top: 1px solid var(--line); }
.messages time { color: var(--text-3); font-size: 12px; }
.messages pre { margin-bottom: 4px; max-height: 200px; }

@media (width >= 640px) {
  th { white-space: nowrap; }
  .api > ul > li { grid-template-columns: 216px minmax(0, 1fr); }
  .api > ul > li > .rpcs { grid-column: 2; }
  .summary li { grid-template-columns: 216px minmax(0, 1fr) auto; }
  dl > div { grid-template-columns: 216px minmax(0, 1fr); }
}
@media (width >= 1000px) {
  .columns { display: grid; grid-template-columns: 208px minmax(0, 1fr); }
  .sidebar { background: var(--canvas); border-right: 1px solid var(--line); display: block; height: calc(100vh - 48px); overflow-y: auto; padding: 12px 8px; position: sticky; top: 48px; }
  .sidebar a { border-radius: 6px; color: var(--text-2); display: block; line-height: 24px; padding: 0 8px; }
  .sidebar a:hover { background: var(--hover); text-decoration: none; }
  .sidebar [aria-current] { background: var(--selected); color: var(--text); font-weight: 500; }
  .sidebar ul ul ul a { padding-left: 20px; }
  .label { color: var(--text-3); display: block; font-size: 11px; line-height: 16px; padding: 12px 8px 4px; }
}
@media (width >= 1160px) {
  .halves { grid-template: auto 1fr / minmax(0, 1fr) minmax(0, 420px); }
  .about { grid-area: 1 / 1 / span 2; }
  .try { grid-area: 1 / 2; }
  .examples { grid-area: 1 / 2 / span 2; }
  .try:not([hidden]) ~ .examples { grid-area: 2 / 2; }
  .halves dl > div { grid-template-columns: 176px minmax(0, 1fr); }
  .examples { align-self: start; }
}
@media (width < 1000px) {
  body > header { flex-wrap: wrap; height: auto; gap: 0 12px; padding: 0 16px; }
  body > header a, summary { line-height: 44px; }
  #search { flex-basis: 100%; max-width: none; order: 1; padding-bottom: 6px; }
  #search:empty { display: none; }
  #search input { height: 44px; }
  #search kbd { display: none; }
  .results { max-width: none; top: 46px; width: 100%; }
  .results [role=option] { min-height: 44px; }
  :root { scroll-padding-top: 112px; }
  main { padding: 16px; }
  .rpcs a, .summary a, .api .name { display: inline-block; line-height: 44px; min-width: 44px; }
  .rpcs { gap: 0 16px; }
  button { height: 44px; }
  button.copy { height: 32px; opacity: 1; }
}
@media (width < 640px) {
  body > header nav :is([href="/docs"], [href="/openapi.json"]), body > header > .quiet { display: none; }
  table, caption, tbody, tr, th, td { display: block; }
  thead { display: none; }
  tr { border-top: 1px solid var(--line); padding: 6px 0; }
  th, td { border: 0; padding: 0; }
}
@media (prefers-reduced-motion: no-preference) { .copy { transition: opacity 100ms; } }
@media print { .sidebar, body > header { display: none; } }
`;
