import { test } from "tap";
import { html } from "../../../server/web/html.ts";

test("values in a page are escaped, Html is not", async (t) => {
  const item = html`<b>${`<&"'`}</b>`;
  t.equal(html`<p title="${'"'}">${[item, item]}</p>`.text, `<p title="&quot;">${item.text}${item.text}</p>`);
  t.equal(item.text, "<b>&lt;&amp;&quot;&#39;</b>");
});
