import { test } from "tap";
import { html } from "../../../server/web/html.ts";
import { startGatewayUnderTest } from "../gateway-under-test.ts";

test("the front page shows the systems, and the role that each RPC needs", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const answer = await fetch(url);
  const page = await answer.text();
  t.match(answer.headers.get("content-type"), "text/html");
  t.match(page, "<strong>Sandbox.</strong>");
  t.match(page, /<td>volumes<\/td><td>lvm<\/td><td>sandbox<\/td><td>ok<\/td>/);
  t.notMatch(page, /<script|https?:\/\//);
  t.match(page, "<td>proto.VGService/GetLVList</td><td>viewer</td><td>unary</td>");
  t.match(page, "<td>services.auth.AuthService/Login</td><td>anyone</td><td>unary</td>");
  t.match(await (await fetch(`${url}/style.css`)).text(), "color-scheme");
});

test("values in a page are escaped, HTML of its own is not", async (t) => {
  const item = html`<b>${`<&"'`}</b>`;
  t.equal(html`<p title="${'"'}">${[item, item]}</p>`.text, `<p title="&quot;">${item.text}${item.text}</p>`);
  t.equal(item.text, "<b>&lt;&amp;&quot;&#39;</b>");
});
