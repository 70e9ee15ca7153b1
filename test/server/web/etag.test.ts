import { test } from "tap";
import { matchesEtag } from "../../../server/web/etag.ts";

const etag = '"abc-br"';

test("a client has the answer whose tag it names, alone or in a list, weak or not, or any by *", (t) => {
  for (const header of [etag, `W/${etag}`, ` "x" , W/${etag},"y"`, `"a,b", ${etag}`, "*", " * "]) {
    t.ok(matchesEtag(header, etag), header);
  }
  for (const header of [undefined, "", "abc-br", '"abc"', '"ABC-BR"', '"*"', '"x abc-br"', '"abc-br']) {
    t.notOk(matchesEtag(header, etag), String(header));
  }
  t.end();
});
