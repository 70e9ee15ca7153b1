/** Style sheet of `/docs`: light and dark, one column on a phone, the contents beside the text on wide screens. */
export const apiDocsStyle = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: color-mix(in srgb, currentColor 25%, transparent); --soft: color-mix(in srgb, currentColor 7%, transparent); }
body { margin: 0; overflow-wrap: anywhere; }
header, nav, main { padding: 0 1rem; }
main { max-width: 54rem; }
a { color: light-dark(#0550ae, #79b8ff); }
a:focus-visible, summary:focus-visible { outline: 3px solid light-dark(#0550ae, #79b8ff); outline-offset: 2px; }
h2 { border-bottom: 2px solid var(--line); margin-top: 3rem; }
h3 { margin: 2.5rem 0 .5rem; }
h4 { margin: 1rem 0 .25rem; }
h2:target, h3:target, dt:target, tr:target { background: light-dark(#fff3bf, #4a3f00); }
code, pre { font: .9em/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border-radius: .3rem; margin: .5rem 0; padding: .6rem; white-space: pre-wrap; }
dl { margin: .25rem 0; }
dt { border-top: 1px solid var(--line); padding-top: .25rem; }
dd { margin: 0 0 .25rem 1rem; }
dd p, .facts { margin: .25rem 0; }
summary { cursor: pointer; padding: .3rem 0; }
nav ul { list-style: none; margin: 0; padding-left: 1rem; }
nav details ul a, nav > ul a { display: inline-block; padding: .15rem 0; }
.facts { display: flex; flex-wrap: wrap; gap: .3rem; list-style: none; padding: 0; }
.facts li { border: 1px solid var(--line); border-radius: 1rem; font-size: .85rem; padding: 0 .6rem; }
.sandbox { background: light-dark(#fff3bf, #4a3f00); border: 1px solid var(--line); border-radius: .3rem; padding: .4rem .6rem; }
.skip { left: -100vw; position: absolute; }
.skip:focus { left: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .5rem .25rem 0; text-align: left; vertical-align: top; }
caption { padding: .5rem 0; text-align: left; }
@media (width >= 64rem) {
  .columns { display: grid; grid-template-columns: 24rem minmax(0, 1fr); }
  nav { border-right: 1px solid var(--line); box-sizing: border-box; height: 100vh; overflow-y: auto; position: sticky; top: 0; }
}
@media print { nav { display: none; } }
`;
