import { test } from "tap";
import { commentHtml, firstSentence } from "../../../../server/web/docs/contract-text.ts";

test("the first sentence ends at its full stop, not in an abbreviation or a name", async (t) => {
  t.equal(firstSentence("Lists pods. Changes nothing."), "Lists pods.");
  t.equal(firstSentence("The name, e.g. Data, of a volume. More."), "The name, e.g. Data, of a volume.");
  t.equal(firstSentence("See hostplane.v1.PodService for it. More."), "See hostplane.v1.PodService for it.");
  t.equal(firstSentence("No full stop\n\nSecond paragraph."), "No full stop");
  t.equal(firstSentence(""), "");
});

test("text of a comment is escaped, and text in backticks is code", async (t) => {
  const html = commentHtml("Is `a<b`?\n\n<b>No</b>").map(({ text }) => text);
  t.same(html, ["<p>Is <code>a&lt;b</code>?</p>", "<p>&lt;b&gt;No&lt;/b&gt;</p>"]);
});
